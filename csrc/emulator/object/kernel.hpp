// One kernel of a code object: descriptor and metadata, checked against each other and against the text.
#pragma once

#include "../machine/engine.hpp"
#include "code_object.hpp"

namespace emulator_host {

enum class Hidden : std::uint8_t {
    none, // an argument of the caller
    block_count_x,
    block_count_y,
    block_count_z,
    group_size_x,
    group_size_y,
    group_size_z,
    remainder_x,
    remainder_y,
    remainder_z,
    grid_dims,
    dynamic_lds_size,
    private_base,
    shared_base,
    zero, // offsets of the grid, and what needs a host service
};

struct Argument {
    std::uint32_t offset, size;
    Hidden hidden;
};

inline constexpr int kMaxArguments = 256;
inline constexpr int kMaxName = 1024;

struct Kernel {
    char name[kMaxName];
    KernelStart start; // code_address is set when the object is placed
    std::uint64_t text_address;
    std::uint32_t kernarg_bytes, lds_bytes, max_workgroup;
    int arguments;
    Argument argument[kMaxArguments];
};

enum class KernelError : std::uint8_t { none, not_found, bad_metadata, bad_descriptor };

KernelError read_kernel(const CodeObject& object, const char* name, Kernel& out);

} // namespace emulator_host
