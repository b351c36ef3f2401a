// Loaded kernels per device. Modules are made from bytes whose hash was checked in memory, and stay until the process ends.
#pragma once

#include "device_info.hpp"
#include "kernel_source.hpp"

namespace amla {

inline constexpr int kMaxDevices = 64;

/// A device whose kernels are loaded.
struct PreparedDevice {
    DeviceInfo info;
    int arch;
    HipFunction* functions; // by row of the kernel table, null for rows of another arch
};

/// Loads every kernel of the device's arch: read, hash, target check, hipModuleLoadData. All or nothing, and nothing to do
/// for a device that is prepared. `arch` is AMLA_ARCH_OTHER, or the arch the caller expects (AMLA_OTHER_ARCH if it differs).
/// Thread-safe; call it without holding the GIL.
Code prepare(const Hip& hip, int device, int arch, const KernelSource& source, const PreparedDevice*& prepared, Status& status);

/// The device if it is prepared, else null. Lock-free.
const PreparedDevice* prepared_device(int device);

/// Remembers the root that prepare_default() loads from. AMLA_ARGUMENT_INVALID for an empty or too long path.
Code set_kernel_directory(const char* root, Status& status);

/// prepare() from the remembered root; AMLA_MODULE_NOT_PREPARED if there is none.
Code prepare_default(const Hip& hip, int device, const PreparedDevice*& prepared, Status& status);

} // namespace amla
