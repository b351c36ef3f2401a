// Memory of the caller that may not be there.
#pragma once

#include <cstddef>

namespace emulator_host {

/// Copies as HIP's own calls would read it, but a bad address is false where a plain read would end the process. Where a sandbox
/// forbids the system call that reports it, the pointer is trusted, as HIP itself does.
bool copy_readable(const void* from, void* to, std::size_t size);

} // namespace emulator_host
