// The HIP entry points that the dispatch extension binds, with HIP's observable behaviour and no device behind them.
#include "recorder.hpp"
#include "sha256.hpp"

#include <cstdio>
#include <cstring>

#define HIP_CALL extern "C" __attribute__((visibility("default")))

using namespace recorder;

namespace {

template <typename Value> Value read_at(const std::uint8_t* image, std::size_t offset) {
    Value value;
    std::memcpy(&value, image + offset, sizeof(value));
    return value;
}

/// Bytes of an ELF file whose section headers end it, as those of LLVM do.
std::size_t elf_size(const std::uint8_t* image) {
    return read_at<std::uint64_t>(image, 40) +
           static_cast<std::size_t>(read_at<std::uint16_t>(image, 58)) * read_at<std::uint16_t>(image, 60);
}

unsigned mach_of(const char* target_id) {
    return std::strncmp(target_id, "gfx942", 6) == 0 ? 0x4c : (std::strncmp(target_id, "gfx950", 6) == 0 ? 0x4f : 0);
}

/// What the loader says to an image: 0, 200 for junk and for versions it does not know, 209 for another processor.
int judge(const std::uint8_t* image, const Device& device, int runtime_version) {
    if (std::memcmp(image,
                    "\x7f"
                    "ELF",
                    4) != 0 ||
        image[4] != 2) {
        return kInvalidImage;
    }
    if (image[8] >= 4 && runtime_version < 60'300'000) {
        return kInvalidImage;
    }
    return (read_at<std::uint32_t>(image, 48) & 0xff) == mach_of(device.target_id) ? 0 : kNoBinaryForGpu;
}

bool has_kernel(const Module& module, const char* name) {
    char wanted[300];
    const int wrote = snprintf(wanted, sizeof(wanted), "%s.kd", name);
    return wrote > 0 && memmem(module.image, module.size, wanted, static_cast<std::size_t>(wrote) + 1) != nullptr;
}

int begin(const char* call) {
    return result(injected(call));
}

} // namespace

HIP_CALL int hipGetDeviceCount(int* count) {
    if (const int error = begin("hipGetDeviceCount")) {
        return error;
    }
    const Locked state;
    *count = state->device_count;
    return *count > 0 ? 0 : result(kNoDevice);
}

HIP_CALL int hipGetDevice(int* device) {
    if (const int error = begin("hipGetDevice")) {
        return error;
    }
    *device = current_device();
    return 0;
}

HIP_CALL int hipSetDevice(int device) {
    if (const int error = begin("hipSetDevice")) {
        return error;
    }
    const Locked state;
    if (device < 0 || device >= state->device_count) {
        return result(kInvalidDevice);
    }
    state->set_device_calls += 1;
    current_device() = device;
    return 0;
}

HIP_CALL int hipDeviceGetAttribute(int* value, int attribute, int device) {
    if (const int error = begin("hipDeviceGetAttribute")) {
        return error;
    }
    const Locked state;
    if (device < 0 || device >= state->device_count) {
        return result(kInvalidDevice);
    }
    const Device& facts = state->devices[device];
    switch (attribute) {
    case 23:
        *value = 9;
        return 0;
    case 61:
        *value = mach_of(facts.target_id) == 0x4c ? 4 : 5;
        return 0;
    case 63:
        *value = facts.compute_units;
        return 0;
    case 74:
        *value = facts.lds_bytes;
        return 0;
    case 87:
        *value = facts.warp_size;
        return 0;
    default:
        return result(kInvalidValue);
    }
}

HIP_CALL int hipGetDevicePropertiesR0600(void* properties, int device) {
    if (const int error = begin("hipGetDevicePropertiesR0600")) {
        return error;
    }
    const Locked state;
    auto* bytes = static_cast<char*>(properties);
    std::memset(bytes, 0, 1472);
    std::memcpy(bytes + 388, &state->devices[device].compute_units, sizeof(int));
    std::memcpy(bytes + 1160, state->devices[device].target_id, 256);
    return 0;
}

/// The layout of ROCm 5, which the plain name keeps: code that reads it at the new offsets finds no name.
HIP_CALL int hipGetDeviceProperties(void* properties, int device) {
    const Locked state;
    auto* bytes = static_cast<char*>(properties);
    std::memset(bytes, 0, 792);
    std::memcpy(bytes + 336, &state->devices[device].compute_units, sizeof(int));
    std::memcpy(bytes + 396, state->devices[device].target_id, 256);
    return 0;
}

HIP_CALL int hipRuntimeGetVersion(int* version) {
    if (const int error = begin("hipRuntimeGetVersion")) {
        return error;
    }
    const Locked state;
    *version = state->runtime_version;
    return 0;
}

HIP_CALL int hipModuleLoadData(void** module, const void* image) {
    if (const int error = begin("hipModuleLoadData")) {
        return error;
    }
    const Locked state;
    const auto* bytes = static_cast<const std::uint8_t*>(image);
    const int device = current_device();
    if (const int error = judge(bytes, state->devices[device], state->runtime_version); error != 0 || state->modules == kEvents) {
        return result(error != 0 ? error : 2);
    }
    Module& loaded = state->module[state->modules];
    loaded = {device, bytes, elf_size(bytes), {}, false};
    std::memcpy(loaded.sha256, amla::to_text(amla::sha256(bytes, loaded.size).bytes).text, sizeof(loaded.sha256));
    state->modules += 1;
    *module = &loaded;
    return 0;
}

HIP_CALL int hipModuleUnload(void* module) {
    if (const int error = begin("hipModuleUnload")) {
        return error;
    }
    const Locked state;
    auto* loaded = static_cast<Module*>(module);
    if (loaded->unloaded) {
        return result(kInvalidHandle);
    }
    loaded->unloaded = true;
    return 0;
}

HIP_CALL int hipModuleGetFunction(void** function, void* module, const char* name) {
    if (const int error = begin("hipModuleGetFunction")) {
        return error;
    }
    const Locked state;
    const auto* loaded = static_cast<Module*>(module);
    if (!has_kernel(*loaded, name)) {
        return result(kNotFound);
    }
    if (state->functions == kEvents) {
        return result(2);
    }
    Function& made = state->function[state->functions++];
    made.module = static_cast<int>(loaded - state->module);
    strncpy(made.name, name, sizeof(made.name) - 1);
    *function = &made;
    return 0;
}

HIP_CALL int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                   unsigned shared_bytes, void* stream, void** parameters, void** extra) {
    if (const int error = begin("hipModuleLaunchKernel")) {
        return error;
    }
    const auto key = [extra](int index) { return reinterpret_cast<std::uintptr_t>(extra[index]); };
    if (parameters != nullptr || extra == nullptr || key(0) != 1 || key(2) != 2 || key(4) != 3 || gx * gy * gz == 0) {
        return result(kInvalidValue);
    }
    const std::size_t size = *static_cast<std::size_t*>(extra[3]);
    const Locked state;
    const auto* called = static_cast<Function*>(function);
    if (size > kKernargBytes || state->launches == kEvents) {
        return result(kInvalidValue);
    }
    if (state->module[called->module].device != current_device() || state->module[called->module].unloaded) {
        return result(kInvalidHandle);
    }
    Launch& launch = state->launch[state->launches++];
    launch = {static_cast<int>(called - state->function),
              current_device(),
              {gx, gy, gz},
              {bx, by, bz},
              shared_bytes,
              reinterpret_cast<std::uint64_t>(stream),
              size,
              {}};
    std::memcpy(launch.kernarg, extra[1], size);
    return 0;
}

HIP_CALL int hipStreamIsCapturing(void* stream, int* capturing) {
    if (const int error = begin("hipStreamIsCapturing")) {
        return error;
    }
    const Locked state;
    *capturing = 0;
    for (int index = 0; index < state->capturing_count; ++index) {
        *capturing |= state->capturing[index] == reinterpret_cast<std::uint64_t>(stream) ? 1 : 0;
    }
    return 0;
}

HIP_CALL int hipGetLastError() {
    return take_last_error();
}

HIP_CALL const char* hipGetErrorName(int error) {
    switch (error) {
    case 0:
        return "hipSuccess";
    case 2:
        return "hipErrorOutOfMemory";
    case kInvalidValue:
        return "hipErrorInvalidValue";
    case kNoDevice:
        return "hipErrorNoDevice";
    case kInvalidDevice:
        return "hipErrorInvalidDevice";
    case kInvalidImage:
        return "hipErrorInvalidImage";
    case kNoBinaryForGpu:
        return "hipErrorNoBinaryForGpu";
    case kInvalidHandle:
        return "hipErrorInvalidHandle";
    case kNotFound:
        return "hipErrorNotFound";
    default:
        return "hipErrorUnknown";
    }
}

HIP_CALL const char* hipGetErrorString(int error) {
    return error == kNotFound ? "named symbol not found" : (error == kNoBinaryForGpu ? "no kernel image is available" : "recorded failure");
}
