// The state in which the hardware starts the waves of a workgroup.
#pragma once

#include "workgroup.hpp"

namespace emulator {

/// Sets registers, LDS and counters of a workgroup with the given ids.
void start_workgroup(Workgroup& group, const emulator_host::LaunchRequest& request, const std::uint32_t ids[3]);

/// Waves a workgroup of this request has.
inline int wave_count(const emulator_host::LaunchRequest& request) {
    const std::uint64_t lanes = std::uint64_t{request.block[0]} * request.block[1] * request.block[2];
    return static_cast<int>((lanes + kLanes - 1) / kLanes);
}

} // namespace emulator
