// Calls beyond HIP: what is emulated and how, which memory of the caller kernels may touch, and what a launch did.
#include "allocations.hpp"
#include "level.hpp"
#include "run.hpp"
#include "settings.hpp"

using namespace emulator_host;

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::uint64_t address(const void* memory) {
    return reinterpret_cast<std::uint64_t>(memory);
}

} // namespace

/// Raised when a call changes. Its presence also tells the extension that CPU tensors stand for device memory.
EMULATOR_EXPORT int emulator_abi_version() {
    return 1;
}

/// "gfx950:256,gfx942:80": processor and number of CUs of each device. 1 if the list is malformed.
EMULATOR_EXPORT int emulator_set_devices(const char* list) {
    return list != nullptr && set_devices(list) ? kSuccess : kInvalidValue;
}

/// As hipRuntimeGetVersion gives it: 70000000 for 7.0.
EMULATOR_EXPORT void emulator_set_runtime_version(int version) {
    set_runtime_version(version);
}

/// "timing=random,seed=7,budget=1000000,threads=1,poison=nan,uninitialised=1,hazards=1,lds_latency=130,memory_latency=600".
EMULATOR_EXPORT int emulator_set_options(const char* list) {
    return list != nullptr && set_options(list) ? kSuccess : kInvalidValue;
}

/// Makes memory of the caller device memory until emulator_unregister, for all launches.
EMULATOR_EXPORT int emulator_register(const void* memory, std::size_t bytes, int writable) {
    return add_range(address(memory), address(memory) + bytes, Source::registered, writable != 0) ? kSuccess : kInvalidValue;
}

EMULATOR_EXPORT int emulator_unregister(const void* memory) {
    return remove_range(address(memory), Source::registered) ? kSuccess : kInvalidValue;
}

/// Makes memory of the caller device memory for the next launch of this thread only: how tensors become reachable whose storage
/// may be freed any time later.
EMULATOR_EXPORT int emulator_register_for_launch(const void* memory, std::size_t bytes, int writable) {
    return add_for_launch(address(memory), address(memory) + bytes, writable != 0) ? kSuccess : kInvalidValue;
}

/// JSON of the last launch of this thread, empty if it was refused before it ran; valid until its next launch.
EMULATOR_EXPORT const char* emulator_report() {
    return last_report();
}

/// JSON list of the instructions of a kernel that cannot run, padding left out; valid until the thread's next report. Null if the
/// handle is none of a kernel.
EMULATOR_EXPORT const char* emulator_audit(const void* function) {
    const Function* known = known_function(function);
    return known != nullptr ? audit(*known) : nullptr;
}

/// Name of the compiled level in use.
EMULATOR_EXPORT const char* emulator_level() {
    return engine().level;
}

/// hipModuleLoadData for an image of known size: no byte behind it is read.
EMULATOR_EXPORT int emulator_module_load(void** module, const void* image, std::size_t size, int device_index) {
    Device found;
    if (module == nullptr) {
        return note(kInvalidValue);
    }
    if (!device(device_index, found)) {
        return note(kInvalidDevice);
    }
    Module* loaded = nullptr;
    const HipError error = load_module(image, size, found.arch, loaded);
    *module = loaded;
    return note(error);
}
