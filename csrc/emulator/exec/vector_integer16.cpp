// 16 bit integer operations.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;

u16 low(i32 x) {
    return static_cast<u16>(x);
}

u16 saturate_unsigned(i64 x) {
    return static_cast<u16>(x < 0 ? 0 : x > 0xffff ? 0xffff : x);
}

u16 saturate(i32 x) {
    return static_cast<u16>(x > 0x7fff ? 0x7fff : x < -0x8000 ? -0x8000 : x);
}

template <class T> T median(T a, T b, T c) {
    const T least = a < b ? a : b, greatest = a < b ? b : a;
    return c < least ? least : c > greatest ? greatest : c;
}

template <Placement Where> Executor multiply_add_unsigned() {
    return saturable<+[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); },
                     +[](u16 a, u16 b, u16 c) { return saturate_unsigned(i64{a} * b + c); }, Where>;
}

template <Placement Where> Executor multiply_add_signed() {
    return saturable<+[](i16 a, i16 b, i16 c) { return low(a * b + c); }, +[](i16 a, i16 b, i16 c) { return saturate(a * b + c); }, Where>;
}

Executor legacy(Opcode op) {
    switch (op) {
    case Opcode::v_add_u16:
        return saturable<+[](u16 a, u16 b) { return low(a + b); }, +[](u16 a, u16 b) { return saturate_unsigned(a + b); }>;
    case Opcode::v_sub_u16:
        return saturable<+[](u16 a, u16 b) { return low(a - b); }, +[](u16 a, u16 b) { return saturate_unsigned(a - b); }>;
    case Opcode::v_subrev_u16:
        return saturable<+[](u16 a, u16 b) { return low(b - a); }, +[](u16 a, u16 b) { return saturate_unsigned(b - a); }>;
    case Opcode::v_mul_lo_u16:
        return lanewise<+[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>;
    case Opcode::v_lshlrev_b16:
        return lanewise<+[](u16 a, u16 b) { return low(b << (a & 15)); }>;
    case Opcode::v_lshrrev_b16:
        return lanewise<+[](u16 a, u16 b) { return low(b >> (a & 15)); }>;
    case Opcode::v_ashrrev_i16:
        return lanewise<+[](u16 a, i16 b) { return low(b >> (a & 15)); }>;
    case Opcode::v_max_u16:
        return lanewise<+[](u16 a, u16 b) { return a > b ? a : b; }>;
    case Opcode::v_max_i16:
        return lanewise<+[](i16 a, i16 b) { return a > b ? a : b; }>;
    case Opcode::v_min_u16:
        return lanewise<+[](u16 a, u16 b) { return a < b ? a : b; }>;
    case Opcode::v_min_i16:
        return lanewise<+[](i16 a, i16 b) { return a < b ? a : b; }>;
    case Opcode::v_mad_legacy_u16:
        return multiply_add_unsigned<Placement::low_zeroing>();
    case Opcode::v_mad_legacy_i16:
        return multiply_add_signed<Placement::low_zeroing>();
    case Opcode::v_sat_pk_u8_i16:
        return lanewise<+[](u32 a) {
            const auto limit = [](i32 x) { return static_cast<u32>(x < 0 ? 0 : x > 255 ? 255 : x); };
            return HalfBits{limit(static_cast<i16>(a & 0xffffu)) | (limit(static_cast<i16>(a >> 16)) << 8)};
        }>;
    default:
        return nullptr;
    }
}

/// Operations that came after the half registers could be addressed: the other half of the destination stays.
Executor keeping(Opcode op) {
    constexpr Placement keep = Placement::low_keeping;
    switch (op) {
    case Opcode::v_add_i16:
        return saturable<+[](i16 a, i16 b) { return low(a + b); }, +[](i16 a, i16 b) { return saturate(a + b); }, keep>;
    case Opcode::v_sub_i16:
        return saturable<+[](i16 a, i16 b) { return low(a - b); }, +[](i16 a, i16 b) { return saturate(a - b); }, keep>;
    case Opcode::v_mad_u16:
        return multiply_add_unsigned<keep>();
    case Opcode::v_mad_i16:
        return multiply_add_signed<keep>();
    case Opcode::v_min3_i16:
        return lanewise<+[](i16 a, i16 b, i16 c) { return (a < b ? a : b) < c ? (a < b ? a : b) : c; }, keep>;
    case Opcode::v_max3_i16:
        return lanewise<+[](i16 a, i16 b, i16 c) { return (a > b ? a : b) > c ? (a > b ? a : b) : c; }, keep>;
    case Opcode::v_min3_u16:
        return lanewise<+[](u16 a, u16 b, u16 c) { return (a < b ? a : b) < c ? (a < b ? a : b) : c; }, keep>;
    case Opcode::v_max3_u16:
        return lanewise<+[](u16 a, u16 b, u16 c) { return (a > b ? a : b) > c ? (a > b ? a : b) : c; }, keep>;
    case Opcode::v_med3_i16:
        return lanewise<&median<i16>, keep>;
    case Opcode::v_med3_u16:
        return lanewise<&median<u16>, keep>;
    case Opcode::v_mad_u32_u16:
        return lanewise<+[](HalfBits a, HalfBits b, u32 c) { return a.bits * b.bits + c; }>;
    case Opcode::v_mad_i32_i16:
        return lanewise<+[](i16 a, i16 b, u32 c) { return static_cast<u32>(a * b) + c; }>;
    case Opcode::v_pack_b32_f16:
        return lanewise<+[](HalfBits a, HalfBits b) { return a.bits | (b.bits << 16); }>;
    default:
        return nullptr;
    }
}

} // namespace

Executor integer16_executor(Opcode op) {
    const Executor executor = legacy(op);
    return executor != nullptr ? executor : keeping(op);
}

} // namespace emulator
