// The calls of HIP that the dispatch extension and the tests use, with HIP's names and numbers.
#include "allocations.hpp"
#include "caller_memory.hpp"
#include "run.hpp"
#include "settings.hpp"

#include <cstring>

using namespace emulator_host;

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kPropertiesBytes = 1472; // hipDeviceProp_tR0600
constexpr std::size_t kNameBytes = 256;
constexpr std::size_t kComputeUnitsOffset = 388;
constexpr std::size_t kArchNameOffset = 1160;

enum Direction : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kByAddress };

enum Attribute : int { kMajor = 23, kMinor = 61, kComputeUnits = 63, kLdsPerBlock = 74, kWarpSize = 87 };

thread_local int t_device = 0;

int arch_of_current() {
    Device current;
    return device(t_device, current) ? current.arch : -1;
}

/// The caller's block of arguments, given as a buffer.
bool buffer_of(void** extra, const void*& bytes, std::size_t& size) {
    const auto key = [&extra] { return reinterpret_cast<std::uintptr_t>(*extra); };
    constexpr std::uintptr_t kPointer = 1;
    constexpr std::uintptr_t kSize = 2;
    constexpr std::uintptr_t kEnd = 3;
    constexpr int kMaxEntries = 8;
    for (int entry = 0; entry < kMaxEntries && key() != kEnd; ++entry) {
        if (key() == kPointer) {
            bytes = extra[1];
        } else if (key() != kSize || !copy_readable(extra[1], &size, sizeof(size))) {
            return false;
        }
        extra += 2;
    }
    return key() == kEnd;
}

/// The same from pointers to each argument; how many there are only the kernel knows.
HipError run_with_parameters(const Function& function, const Geometry& geometry, void** parameters) {
    const Kernel& kernel = function.kernel;
    const std::size_t size = explicit_bytes(kernel);
    auto* bytes = static_cast<std::uint8_t*>(calloc(1, size + 1));
    if (bytes == nullptr) {
        return kOutOfMemory;
    }
    int next = 0;
    bool given = true;
    for (int index = 0; index < kernel.arguments && given; ++index) {
        const Argument& argument = kernel.argument[index];
        if (argument.hidden == Hidden::none && argument.offset + argument.size <= size) {
            given = copy_readable(parameters[next++], bytes + argument.offset, argument.size);
        }
    }
    const HipError error = given ? run_kernel(function, geometry, bytes, size) : kInvalidValue;
    free(bytes);
    return error;
}

} // namespace

EMULATOR_EXPORT int hipGetDeviceCount(int* count) {
    if (count == nullptr) {
        return note(kInvalidValue);
    }
    *count = device_count();
    return kSuccess;
}

EMULATOR_EXPORT int hipGetDevice(int* index) {
    if (index == nullptr) {
        return note(kInvalidValue);
    }
    *index = t_device;
    return kSuccess;
}

EMULATOR_EXPORT int hipSetDevice(int index) {
    Device ignored;
    if (!device(index, ignored)) {
        return note(kInvalidDevice);
    }
    t_device = index;
    return kSuccess;
}

EMULATOR_EXPORT int hipDeviceGetAttribute(int* value, int attribute, int index) {
    Device found;
    if (value == nullptr) {
        return note(kInvalidValue);
    }
    if (!device(index, found)) {
        return note(kInvalidDevice);
    }
    switch (attribute) {
    case kMajor:
        *value = 9;
        return kSuccess;
    case kMinor:
        *value = found.arch == 0 ? 4 : 5;
        return kSuccess;
    case kComputeUnits:
        *value = found.compute_units;
        return kSuccess;
    case kLdsPerBlock:
        *value = static_cast<int>(lds_limit(found.arch));
        return kSuccess;
    case kWarpSize:
        *value = 64;
        return kSuccess;
    default:
        return note(kInvalidValue);
    }
}

EMULATOR_EXPORT int hipGetDevicePropertiesR0600(void* properties, int index) {
    Device found;
    if (properties == nullptr) {
        return note(kInvalidValue);
    }
    if (!device(index, found)) {
        return note(kInvalidDevice);
    }
    auto* bytes = static_cast<char*>(properties);
    std::memset(bytes, 0, kPropertiesBytes);
    std::strncpy(bytes, "EMULATED device of aiter-mla-aot", kNameBytes - 1);
    std::memcpy(bytes + kComputeUnitsOffset, &found.compute_units, sizeof(int));
    std::strncpy(bytes + kArchNameOffset, found.target, kNameBytes - 1);
    return kSuccess;
}

EMULATOR_EXPORT int hipRuntimeGetVersion(int* version) {
    if (version == nullptr) {
        return note(kInvalidValue);
    }
    *version = runtime_version();
    return kSuccess;
}

EMULATOR_EXPORT int hipDriverGetVersion(int* version) {
    return hipRuntimeGetVersion(version);
}

EMULATOR_EXPORT int hipModuleLoadData(void** module, const void* image) {
    if (module == nullptr) {
        return note(kInvalidValue);
    }
    Module* loaded = nullptr;
    const HipError error = load_module(image, arch_of_current(), loaded);
    *module = loaded;
    return note(error);
}

EMULATOR_EXPORT int hipModuleUnload(void* module) {
    return note(unload_module(static_cast<Module*>(module)));
}

EMULATOR_EXPORT int hipModuleGetFunction(void** function, void* module, const char* name) {
    if (function == nullptr || name == nullptr) {
        return note(kInvalidValue);
    }
    Function* found = nullptr;
    const HipError error = find_function(static_cast<Module*>(module), name, found);
    *function = found;
    return note(error);
}

EMULATOR_EXPORT int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                          unsigned block_y, unsigned block_z, unsigned dynamic_lds, void*, void** parameters,
                                          void** extra) {
    clear_report();
    const Function* known = known_function(function);
    if (known == nullptr) {
        return note(kInvalidHandle);
    }
    if (known->kernel.start.arch != arch_of_current()) {
        return note(kInvalidDevice);
    }
    const Geometry geometry = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds};
    if (parameters != nullptr) {
        return note(extra != nullptr ? kInvalidValue : run_with_parameters(*known, geometry, parameters));
    }
    const void* bytes = nullptr;
    std::size_t size = 0;
    if (extra != nullptr && !buffer_of(extra, bytes, size)) {
        return note(kInvalidValue);
    }
    return note(run_kernel(*known, geometry, bytes, size));
}

EMULATOR_EXPORT int hipStreamIsCapturing(void*, int* status) {
    if (status == nullptr) {
        return note(kInvalidValue);
    }
    *status = 0;
    return kSuccess;
}

EMULATOR_EXPORT int hipGetLastError() {
    return take_last_error();
}

EMULATOR_EXPORT const char* hipGetErrorName(int error) {
    return error_name(error);
}

EMULATOR_EXPORT const char* hipGetErrorString(int error) {
    return error_text(error);
}

EMULATOR_EXPORT int hipMalloc(void** memory, std::size_t bytes) {
    if (memory == nullptr) {
        return note(kInvalidValue);
    }
    *memory = bytes == 0 ? nullptr : allocate(bytes, Source::slot);
    return note(bytes != 0 && *memory == nullptr ? kOutOfMemory : kSuccess);
}

EMULATOR_EXPORT int hipFree(void* memory) {
    return note(memory == nullptr || deallocate(memory, Source::slot) ? kSuccess : kInvalidValue);
}

/// What is device memory by the direction must be so; the host's side is trusted, as HIP trusts it.
EMULATOR_EXPORT int hipMemcpy(void* to, const void* from, std::size_t bytes, int direction) {
    if (direction < kHostToHost || direction > kByAddress) {
        return note(kInvalidMemcpyDirection);
    }
    const bool to_device = direction == kHostToDevice || direction == kDeviceToDevice;
    const bool from_device = direction == kDeviceToHost || direction == kDeviceToDevice;
    if (bytes == 0) {
        return kSuccess;
    }
    if (to == nullptr || from == nullptr || (to_device && !is_device_memory(to, bytes)) ||
        (from_device && !is_device_memory(from, bytes))) {
        return note(kInvalidValue);
    }
    std::memmove(to, from, bytes);
    return kSuccess;
}

EMULATOR_EXPORT int hipMemset(void* to, int value, std::size_t bytes) {
    if (bytes == 0) {
        return kSuccess;
    }
    if (!is_device_memory(to, bytes)) {
        return note(kInvalidValue);
    }
    std::memset(to, value, bytes);
    return kSuccess;
}

// Launches run to their end before they return, so there is nothing to wait for.
EMULATOR_EXPORT int hipDeviceSynchronize() {
    return kSuccess;
}

EMULATOR_EXPORT int hipStreamSynchronize(void*) {
    return kSuccess;
}
