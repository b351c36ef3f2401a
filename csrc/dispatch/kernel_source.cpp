#include "kernel_source.hpp"

#include "lookup.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace amla {

namespace {

Code unreadable(Status& status, const char* path) {
    const int reason = errno;
    fail(status, AMLA_FILE_MISSING);
    detail(status, "%s", path);
    return detail(status, "%s", strerror(reason));
}

/// Reads up to `room` bytes; false with errno set on an error.
bool read_all(int file, char* buffer, std::size_t room, std::size_t& size) {
    size = 0;
    while (size < room) {
        const ssize_t got = read(file, buffer + size, room - size);
        if (got <= 0) {
            return got == 0;
        }
        size += static_cast<std::size_t>(got);
    }
    return true;
}

} // namespace

KernelDirectory::~KernelDirectory() {
    free(buffer_);
}

Code KernelDirectory::read(void* self, const table::KernelRow& row, const void*& bytes, std::size_t& size, Status& status) {
    auto& directory = *static_cast<KernelDirectory*>(self);
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s/%s", directory.root_, arch_name(row.arch), row.file);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return unreadable(status, path);
    }
    free(directory.buffer_);
    directory.buffer_ = nullptr;
    struct stat facts = {};
    Code code = AMLA_OK;
    if (fstat(file, &facts) != 0) {
        code = unreadable(status, path);
    } else {
        const auto room = static_cast<std::size_t>(facts.st_size);
        directory.buffer_ = malloc(room + 1);
        if (directory.buffer_ == nullptr) {
            code = out_of_memory(status);
        } else if (!read_all(file, static_cast<char*>(directory.buffer_), room, size)) {
            code = unreadable(status, path);
        }
    }
    close(file);
    bytes = directory.buffer_;
    return code;
}

Code out_of_memory(Status& status) {
    return fail3(status, AMLA_ARGUMENT_INVALID, "kernels", "memory for the code objects", strerror(ENOMEM));
}

} // namespace amla
