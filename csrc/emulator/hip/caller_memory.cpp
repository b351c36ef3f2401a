#include "caller_memory.hpp"

#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace emulator_host {

bool copy_readable(const void* from, void* to, std::size_t size) {
    const iovec local = {to, size};
    const iovec remote = {const_cast<void*>(from), size};
    const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (copied < 0 && errno != EFAULT) {
        std::memcpy(to, from, size);
        return true;
    }
    return copied == static_cast<ssize_t>(size);
}

} // namespace emulator_host
