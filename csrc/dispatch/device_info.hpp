// What a device is, asked of the device and the run time only: environment lists such as GPU_ARCHS never take part.
#pragma once

#include "hip_binding.hpp"

namespace amla {

struct DeviceInfo {
    int device;
    char target_id[256]; // such as gfx942:sramecc+:xnack-
    char arch[32];       // its processor, gfx942
    int compute_units;
    int warp_size;
    int lds_bytes;
    int major;
    int minor;
    int runtime_version; // major * 10'000'000 + minor * 100'000 + patch
};

/// Number of devices of the opened run time.
Code device_count(const Hip& hip, int& count, Status& status);

/// Reads everything about one device. AMLA_DEVICE_UNSUPPORTED if its name is not that of an AMD GPU.
Code device_info(const Hip& hip, int device, DeviceInfo& info, Status& status);

} // namespace amla
