// A kernel launch as HIP asks for it.
#pragma once

#include "modules.hpp"

namespace emulator_host {

struct Geometry {
    std::uint32_t grid[3], block[3];
    std::uint32_t dynamic_lds;
};

/// Runs a kernel to its end. `bytes` are the caller's arguments, without those the run time adds.
HipError run_kernel(const Function& function, const Geometry& geometry, const void* bytes, std::size_t size);

/// JSON of the last launch of this thread, empty if it did not get as far as running; valid until the next.
const char* last_report();
void clear_report();

/// JSON of the instructions of a kernel that cannot run; valid until the thread's next report.
const char* audit(const Function& function);

/// Where the caller's arguments end: before the first that the run time adds.
std::size_t explicit_bytes(const Kernel& kernel);

} // namespace emulator_host
