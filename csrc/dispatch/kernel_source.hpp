// Where the bytes of code objects come from.
#pragma once

#include "status.hpp"
#include "table_types.hpp"

#include <cstddef>

namespace amla {

/// Lends the bytes of a kernel's file; they stay valid until the next read or the end of the source.
struct KernelSource {
    Code (*read)(void* context, const table::KernelRow& row, const void*& bytes, std::size_t& size, Status& status);
    void* context;
};

/// The folder `kernels` of an installed package: <root>/<arch>/<file>. AMLA_FILE_MISSING for a file that cannot be read.
class KernelDirectory {
public:
    explicit KernelDirectory(const char* root) : root_(root) {}

    KernelDirectory(const KernelDirectory&) = delete;
    KernelDirectory& operator=(const KernelDirectory&) = delete;
    ~KernelDirectory();

    /// A source that lives as long as this object.
    KernelSource source() {
        return {read, this};
    }

private:
    static Code read(void* self, const table::KernelRow& row, const void*& bytes, std::size_t& size, Status& status);

    const char* root_;
    void* buffer_ = nullptr;
};

/// Error for memory that could not be had for `size` bytes of kernels.
Code out_of_memory(Status& status);

} // namespace amla
