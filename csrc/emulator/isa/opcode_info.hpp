// What the table of opcodes says about one opcode.
#pragma once

#include "instruction.hpp"

namespace emulator {

/// Type of an operand: how many registers it takes, how a constant is widened to it, and whether |x| and -x apply.
enum class Type : std::uint8_t {
    none,
    b16,
    i16,
    u16,
    f16,
    bf16,
    b32,
    i32,
    u32,
    f32,
    pk_i16,
    pk_u16,
    pk_f16,
    pk_bf16,
    b64,
    i64,
    u64,
    f64,
    pk_b32,
    pk_f32,
    b96,
    b128,
    b192,
    b256,
    b512,
    b1024,
    f32x4,
    f32x16,
    f32x32,
    i32x4,
    i32x16,
    i32x32,
    f64x4,
};

constexpr std::uint8_t dwords_of(Type type) {
    switch (type) {
    case Type::none:
        return 0;
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64:
    case Type::pk_b32:
    case Type::pk_f32:
        return 2;
    case Type::b96:
        return 3;
    case Type::b128:
    case Type::f32x4:
    case Type::i32x4:
        return 4;
    case Type::b192:
        return 6;
    case Type::b256:
    case Type::f64x4:
        return 8;
    case Type::b512:
    case Type::f32x16:
    case Type::i32x16:
        return 16;
    case Type::b1024:
    case Type::f32x32:
    case Type::i32x32:
        return 32;
    default:
        return 1;
    }
}

/// The types a vector instruction can negate or take the magnitude of.
constexpr bool is_float(Type type) {
    switch (type) {
    case Type::f16:
    case Type::bf16:
    case Type::f32:
    case Type::f64:
    case Type::pk_f16:
    case Type::pk_bf16:
    case Type::pk_f32:
        return true;
    default:
        return false;
    }
}

namespace availability {
enum : std::uint8_t { cdna3 = 1 << static_cast<int>(Arch::gfx942), cdna4 = 1 << static_cast<int>(Arch::gfx950), both = cdna3 | cdna4 };
} // namespace availability

namespace form {
enum : std::uint8_t { e32 = 1, e64 = 2, dpp = 4, sdwa = 8 };
} // namespace form

namespace trait {
enum : std::uint32_t {
    clamp = 1 << 0,             // the 64-bit encoding has a clamp bit
    omod = 1 << 1,              // and an output multiplier
    op_sel = 1 << 2,            // VOP3: has op_sel
    no_op_sel = 1 << 3,         // VOP3P: has none
    op_sel_src2 = 1 << 4,       // VOP3: a bit of op_sel for a third source that it does not have picks the byte that is written
    mix = 1 << 5,               // VOP3P: neg_hi is abs, op_sel_hi picks the width of a source
    modifiers = 1 << 6,         // the first two sources have |x| and -x although their type is not a float
    no_modifiers = 1 << 7,      // the sources have neither although their type is a float
    no_modifiers_src1 = 1 << 8, // the second source has neither although its type is a float
    carry_out = 1 << 9,         // sdst takes a lane mask; VCC in the 32-bit encoding
    carry_in = 1 << 10,         // the last source is a lane mask; VCC in the 32-bit encoding
    scalar_dst = 1 << 11,       // the result is a scalar register, in sdst
    literal_src1 = 1 << 12,     // a literal always follows and is src[1]
    literal_src2 = 1 << 13,     // a literal always follows and is src[2]
    bitop3 = 1 << 14,           // the modifier bits hold a truth table
    reads_dst = 1 << 15,        // the result depends on what the destination held (not: keeps part of it)
    plain = 1 << 16,            // LLVM gives the name no suffix
    acc = 1 << 17,              // VOP1 on AccVGPRs
    accvgpr_move = 1 << 18,     // MAI: v_accvgpr_read, v_accvgpr_write
    f8f6f4 = 1 << 19,           // MAI: cbsz and blgp give the formats, and so the sizes, of A and B
    scaled = 1 << 20,           // MAI: sixteen bytes, led by v_mfma_ld_scale_b32
    two_offsets = 1 << 21,      // DS
    gds_only = 1 << 22,         // DS
    lds_form = 1 << 23,         // can load to LDS (MUBUF), does so (GLOBAL, SCRATCH)
    whole_dst = 1 << 24,        // SDWA writes all of the destination, whatever dst_sel says
};
} // namespace trait

struct OpcodeInfo {
    const char* name;
    Format format;
    std::uint16_t number;
    std::uint8_t archs;
    std::uint8_t forms;
    Type dst;
    Type src[3];
    std::uint32_t traits;

    constexpr bool has(std::uint32_t traits_wanted) const {
        return (traits & traits_wanted) != 0;
    }

    constexpr bool on(Arch arch) const {
        return (archs >> static_cast<int>(arch) & 1) != 0;
    }

    /// Whether source i has |x| and -x in the 64-bit encoding.
    constexpr bool has_modifiers(int i) const {
        if (has(trait::modifiers)) {
            return i < 2;
        }
        return is_float(src[i]) && !has(trait::no_modifiers) && !(i == 1 && has(trait::no_modifiers_src1));
    }
};

const OpcodeInfo& opcode_info(Opcode op);

/// The opcode with this number in this format, on any arch; Opcode::count if there is none.
Opcode find_opcode(Format format, unsigned number);

/// The opcode of this number of the 10-bit field of VOP3, which has the opcodes of VOPC, VOP2 and VOP1 too.
Opcode find_vop3(unsigned number);

} // namespace emulator
