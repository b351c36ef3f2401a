// The check of one code object's bytes against the table and a device, before HIP sees them.
#pragma once

#include "device_info.hpp"
#include "table_types.hpp"

#include <cstddef>

namespace amla {

/// Compares the SHA-256 of the bytes with the one compiled in. AMLA_HASH_MISMATCH names both.
Code verify_hash(const table::KernelRow& row, const void* bytes, std::size_t size, Status& status);

/// Checks that verified bytes run on a device: AMLA_OTHER_ARCH, AMLA_TARGET_ID_MISMATCH, AMLA_NEEDS_NEWER_ROCM.
Code check_target(const table::KernelRow& row, const void* bytes, std::size_t size, const DeviceInfo& device, Status& status);

} // namespace amla
