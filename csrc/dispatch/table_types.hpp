// Types of the generated header dispatch_table.hpp; build_tools.dispatch_table writes values of these and nothing else.
#pragma once

#include <cstdint>

namespace amla::table {

/// The float8 format of an arch's matrix instructions.
enum class Fp8 : std::uint8_t { e4m3fnuz = 0, e4m3fn = 1 };

/// One arch of the wheel; its number is its place in kArchs.
struct ArchRow {
    const char* name;
    std::uint8_t mach; // EF_AMDGPU_MACH of its objects
    Fp8 fp8;
    std::int32_t root;             // of its decision diagram in kNodes
    std::uint8_t table_sha256[32]; // of the JSON table that says the same
};

enum class Mode : std::uint8_t { persistent = 0, split = 1 };

/// Which block of kernel arguments a kernel reads, see kernarg.hpp.
enum class Recipe : std::uint8_t { persistent = 0, persistent_rows = 1, split_direct = 2, split_null = 3 };

/// One shipped kernel.
struct KernelRow {
    const char* file;
    const char* symbol;
    std::uint8_t sha256[32];
    std::uint8_t arch; // row of kArchs
    Recipe recipe;
    std::uint16_t kernarg_size;
    std::uint16_t last_arg_end;
    std::uint32_t lds_bytes;
    std::uint16_t workgroup;
    std::uint8_t code_object_version;
    std::uint16_t heads;
    std::uint8_t tokens;
    std::uint16_t sub_q;
    std::uint32_t bytes;
};

/// One answer that serves: a kernel and how a problem is reshaped for it.
struct PlanRow {
    std::uint16_t kernel;
    std::uint8_t single; // 1: every item holds one query token
};

/// Entry of the decision diagram: offset of the next node, or on the last axis a leaf.
using Node = std::uint16_t;

/// A leaf with this bit is a refusal, the rest its index in kRefusals; without it the index of a plan.
inline constexpr std::uint16_t kRefusalBit = 0x8000;

} // namespace amla::table
