// SOP2: scalar instructions of two sources.
#include "scalar_tables.hpp"

#include "scalar.hpp"

namespace emulator::scalar {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

constexpr I32 sign(U32 value) {
    return static_cast<I32>(value);
}

/// A function of both sources that leaves SCC alone.
template <auto function> void plain32(Wave& w, const Instruction& in) {
    write32(w, in.dst, function(read32(w, in.src[0]), read32(w, in.src[1])));
}

/// A function of both sources; SCC says whether the result differs from 0.
template <auto function> void flagged32(Wave& w, const Instruction& in) {
    const U32 result = function(read32(w, in.src[0]), read32(w, in.src[1]));
    write32(w, in.dst, result);
    w.scc = result != 0;
}

template <auto function> void flagged64(Wave& w, const Instruction& in) {
    const U64 result = function(read64(w, in.src[0]), read64(w, in.src[1]));
    write64(w, in.dst, result);
    w.scc = result != 0;
}

/// 64-bit value, 32-bit count or field.
template <auto function> void shifted64(Wave& w, const Instruction& in) {
    const U64 result = function(read64(w, in.src[0]), read32(w, in.src[1]));
    write64(w, in.dst, result);
    w.scc = result != 0;
}

/// The sum as a 64-bit number, of which SCC gets the carry.
template <auto function> void carrying(Wave& w, const Instruction& in) {
    const U64 result = function(U64{read32(w, in.src[0])}, U64{read32(w, in.src[1])}, U64{w.scc});
    write32(w, in.dst, static_cast<U32>(result));
    w.scc = (result >> 32) != 0;
}

template <bool subtract> void signed_sum(Wave& w, const Instruction& in) {
    const U32 a = read32(w, in.src[0]);
    const U32 b = read32(w, in.src[1]);
    const U32 result = subtract ? a - b : a + b;
    const U32 overflow = subtract ? (a ^ b) & (a ^ result) : ~(a ^ b) & (a ^ result);
    write32(w, in.dst, result);
    w.scc = (overflow >> 31) != 0;
}

/// SCC says whether the first source was taken.
template <auto takes_first> void choose(Wave& w, const Instruction& in) {
    const U32 a = read32(w, in.src[0]);
    const U32 b = read32(w, in.src[1]);
    w.scc = takes_first(a, b);
    write32(w, in.dst, w.scc ? a : b);
}

void select32(Wave& w, const Instruction& in) {
    write32(w, in.dst, read32(w, w.scc ? in.src[0] : in.src[1]));
}

void select64(Wave& w, const Instruction& in) {
    write64(w, in.dst, read64(w, w.scc ? in.src[0] : in.src[1]));
}

void mask64(Wave& w, const Instruction& in) {
    const U64 ones = (U64{1} << (read32(w, in.src[0]) & 63)) - 1;
    write64(w, in.dst, ones << (read32(w, in.src[1]) & 63));
}

/// Bits [offset, offset + width) where offset is the low bits of the field and width its bits 22:16.
template <typename T> T field(T value, U32 spec, bool extend) {
    constexpr unsigned kBits = sizeof(T) * 8;
    const unsigned offset = spec & (kBits - 1);
    const unsigned width = spec >> 16 & 0x7f;
    if (width == 0) {
        return 0;
    }
    const T shifted = extend
                          ? static_cast<T>(static_cast<I64>(kBits == 32 ? I64{static_cast<I32>(value)} : static_cast<I64>(value)) >> offset)
                          : static_cast<T>(value >> offset);
    if (width >= kBits) {
        return shifted;
    }
    const T kept = shifted & ((T{1} << width) - 1);
    const bool negative = extend && (kept >> (width - 1) & 1) != 0;
    return negative ? kept | static_cast<T>(~T{0} << width) : kept;
}

void absolute_difference(Wave& w, const Instruction& in) {
    const U32 difference = read32(w, in.src[0]) - read32(w, in.src[1]);
    const U32 result = sign(difference) < 0 ? 0 - difference : difference;
    write32(w, in.dst, result);
    w.scc = result != 0;
}

} // namespace

Executor binary(Opcode op) {
    switch (op) {
    case Opcode::s_add_u32:
        return carrying<[](U64 a, U64 b, U64) { return a + b; }>;
    case Opcode::s_sub_u32:
        return carrying<[](U64 a, U64 b, U64) { return a - b; }>;
    case Opcode::s_addc_u32:
        return carrying<[](U64 a, U64 b, U64 c) { return a + b + c; }>;
    case Opcode::s_subb_u32:
        return carrying<[](U64 a, U64 b, U64 c) { return a - b - c; }>;
    case Opcode::s_lshl1_add_u32:
        return carrying<[](U64 a, U64 b, U64) { return (a << 1) + b; }>;
    case Opcode::s_lshl2_add_u32:
        return carrying<[](U64 a, U64 b, U64) { return (a << 2) + b; }>;
    case Opcode::s_lshl3_add_u32:
        return carrying<[](U64 a, U64 b, U64) { return (a << 3) + b; }>;
    case Opcode::s_lshl4_add_u32:
        return carrying<[](U64 a, U64 b, U64) { return (a << 4) + b; }>;
    case Opcode::s_add_i32:
        return signed_sum<false>;
    case Opcode::s_sub_i32:
        return signed_sum<true>;
    case Opcode::s_min_i32:
        return choose<[](U32 a, U32 b) { return sign(a) < sign(b); }>;
    case Opcode::s_min_u32:
        return choose<[](U32 a, U32 b) { return a < b; }>;
    case Opcode::s_max_i32:
        return choose<[](U32 a, U32 b) { return sign(a) >= sign(b); }>;
    case Opcode::s_max_u32:
        return choose<[](U32 a, U32 b) { return a >= b; }>;
    case Opcode::s_cselect_b32:
        return select32;
    case Opcode::s_cselect_b64:
        return select64;
    case Opcode::s_and_b32:
        return flagged32<[](U32 a, U32 b) { return a & b; }>;
    case Opcode::s_and_b64:
        return flagged64<[](U64 a, U64 b) { return a & b; }>;
    case Opcode::s_or_b32:
        return flagged32<[](U32 a, U32 b) { return a | b; }>;
    case Opcode::s_or_b64:
        return flagged64<[](U64 a, U64 b) { return a | b; }>;
    case Opcode::s_xor_b32:
        return flagged32<[](U32 a, U32 b) { return a ^ b; }>;
    case Opcode::s_xor_b64:
        return flagged64<[](U64 a, U64 b) { return a ^ b; }>;
    case Opcode::s_andn2_b32:
        return flagged32<[](U32 a, U32 b) { return a & ~b; }>;
    case Opcode::s_andn2_b64:
        return flagged64<[](U64 a, U64 b) { return a & ~b; }>;
    case Opcode::s_orn2_b32:
        return flagged32<[](U32 a, U32 b) { return a | ~b; }>;
    case Opcode::s_orn2_b64:
        return flagged64<[](U64 a, U64 b) { return a | ~b; }>;
    case Opcode::s_nand_b32:
        return flagged32<[](U32 a, U32 b) { return ~(a & b); }>;
    case Opcode::s_nand_b64:
        return flagged64<[](U64 a, U64 b) { return ~(a & b); }>;
    case Opcode::s_nor_b32:
        return flagged32<[](U32 a, U32 b) { return ~(a | b); }>;
    case Opcode::s_nor_b64:
        return flagged64<[](U64 a, U64 b) { return ~(a | b); }>;
    case Opcode::s_xnor_b32:
        return flagged32<[](U32 a, U32 b) { return ~(a ^ b); }>;
    case Opcode::s_xnor_b64:
        return flagged64<[](U64 a, U64 b) { return ~(a ^ b); }>;
    case Opcode::s_lshl_b32:
        return flagged32<[](U32 a, U32 b) { return a << (b & 31); }>;
    case Opcode::s_lshl_b64:
        return shifted64<[](U64 a, U32 b) { return a << (b & 63); }>;
    case Opcode::s_lshr_b32:
        return flagged32<[](U32 a, U32 b) { return a >> (b & 31); }>;
    case Opcode::s_lshr_b64:
        return shifted64<[](U64 a, U32 b) { return a >> (b & 63); }>;
    case Opcode::s_ashr_i32:
        return flagged32<[](U32 a, U32 b) { return static_cast<U32>(sign(a) >> (b & 31)); }>;
    case Opcode::s_ashr_i64:
        return shifted64<[](U64 a, U32 b) { return static_cast<U64>(static_cast<I64>(a) >> (b & 63)); }>;
    case Opcode::s_bfm_b32:
        return plain32<[](U32 a, U32 b) { return ((U32{1} << (a & 31)) - 1) << (b & 31); }>;
    case Opcode::s_bfm_b64:
        return mask64;
    case Opcode::s_mul_i32:
        return plain32<[](U32 a, U32 b) { return a * b; }>;
    case Opcode::s_mul_hi_u32:
        return plain32<[](U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }>;
    case Opcode::s_mul_hi_i32:
        return plain32<[](U32 a, U32 b) { return static_cast<U32>(static_cast<U64>(I64{sign(a)} * sign(b)) >> 32); }>;
    case Opcode::s_bfe_u32:
        return flagged32<[](U32 a, U32 b) { return field<U32>(a, b, false); }>;
    case Opcode::s_bfe_i32:
        return flagged32<[](U32 a, U32 b) { return field<U32>(a, b, true); }>;
    case Opcode::s_bfe_u64:
        return shifted64<[](U64 a, U32 b) { return field<U64>(a, b, false); }>;
    case Opcode::s_bfe_i64:
        return shifted64<[](U64 a, U32 b) { return field<U64>(a, b, true); }>;
    case Opcode::s_absdiff_i32:
        return absolute_difference;
    case Opcode::s_pack_ll_b32_b16:
        return plain32<[](U32 a, U32 b) { return (a & 0xffff) | b << 16; }>;
    case Opcode::s_pack_lh_b32_b16:
        return plain32<[](U32 a, U32 b) { return (a & 0xffff) | (b & 0xffff0000); }>;
    case Opcode::s_pack_hh_b32_b16:
        return plain32<[](U32 a, U32 b) { return a >> 16 | (b & 0xffff0000); }>;
    default:
        return nullptr;
    }
}

} // namespace emulator::scalar
