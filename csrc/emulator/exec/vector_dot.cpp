// Dot products within a lane. Products of halves are exact in float; sums are rounded one after another, in the order of the elements.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u32 = std::uint32_t;

template <int Bits, bool Signed> i64 element(u32 word, int n) {
    const u32 top = word << (32 - Bits * (n + 1));
    return Signed ? static_cast<i32>(top) >> (32 - Bits) : static_cast<i64>(top >> (32 - Bits));
}

template <int Bits, bool Signed> i64 sum_of_products(u32 a, u32 b, i64 sum) {
    for (int n = 0; n < 32 / Bits; ++n) {
        sum += element<Bits, Signed>(a, n) * element<Bits, Signed>(b, n);
    }
    return sum;
}

template <int Bits> u32 wrapping(u32 a, u32 b, u32 c) {
    return static_cast<u32>(sum_of_products<Bits, true>(a, b, static_cast<i32>(c)));
}

template <int Bits> u32 saturating(u32 a, u32 b, u32 c) {
    const i64 sum = sum_of_products<Bits, true>(a, b, static_cast<i32>(c));
    return static_cast<u32>(sum > 0x7fffffffll ? 0x7fffffffll : sum < -0x80000000ll ? -0x80000000ll : sum);
}

template <int Bits> u32 wrapping_unsigned(u32 a, u32 b, u32 c) {
    return static_cast<u32>(sum_of_products<Bits, false>(a, b, c));
}

template <int Bits> u32 saturating_unsigned(u32 a, u32 b, u32 c) {
    const i64 sum = sum_of_products<Bits, false>(a, b, c);
    return sum > 0xffffffffll ? ~0u : static_cast<u32>(sum);
}

float half_element(u32 word, bool high, const Denormals& denormals) {
    const u32 bits = high ? word >> 16 : word & 0xffffu;
    return half_to_float((bits & 0x7fffu) < denormals.in16 ? bits & 0x8000u : bits);
}

float bfloat_element(u32 word, bool high, const Denormals&) {
    return bfloat_to_float(high ? word >> 16 : word & 0xffffu);
}

/// VOP3P sources pick their halves; the accumulating VOP2 forms take low with low and high with high.
template <auto Element> void dot2(Wave& wave, const Instruction& in) {
    const Denormals denormals(wave.mode);
    Row buffers[3];
    const u32* a = fetch_raw(wave, in, 0, 0, buffers[0]);
    const u32* b = fetch_raw(wave, in, 1, 0, buffers[1]);
    const u32* c = fetch_raw(wave, in, 2, 0, buffers[2]);
    if (in.format != Format::vop3p) {
        a = fetch(wave, in, 0, 0, Reading::bits32, buffers[0]);
        b = fetch(wave, in, 1, 0, Reading::bits32, buffers[1]);
    }
    const unsigned low = in.format == Format::vop3p ? in.op_sel : 0u, high = in.format == Format::vop3p ? in.op_sel_hi : 7u;
    const auto signed_by = [](unsigned mask, int n) { return ((mask >> n) & 1) != 0 ? -1.0f : 1.0f; };
    const unsigned neg = in.format == Format::vop3p ? in.neg : 0u, neg_hi = in.format == Format::vop3p ? in.neg_hi : 0u;
    Result<float> result;
    for (int lane = 0; lane < kLanes; ++lane) {
        const float a0 = Element(a[lane], (low & 1) != 0, denormals) * signed_by(neg, 0),
                    a1 = Element(a[lane], (high & 1) != 0, denormals) * signed_by(neg_hi, 0);
        const float b0 = Element(b[lane], (low & 2) != 0, denormals) * signed_by(neg, 1),
                    b1 = Element(b[lane], (high & 2) != 0, denormals) * signed_by(neg_hi, 1);
        const float sum = float_of(flush32(c[lane], denormals.in32)) * signed_by(neg, 2);
        const float first = sum + a0 * b0;
        result.set(lane, settle<float>(first + a1 * b1, a0, b0, a1, b1, sum));
    }
    result.finish(wave, in, denormals);
}

} // namespace

Executor dot_executor(Opcode op) {
    switch (op) {
    case Opcode::v_dot2_f32_f16:
    case Opcode::v_dot2c_f32_f16:
        return &dot2<&half_element>;
    case Opcode::v_dot2_f32_bf16:
    case Opcode::v_dot2c_f32_bf16:
        return &dot2<&bfloat_element>;
    case Opcode::v_dot2_i32_i16:
    case Opcode::v_dot2c_i32_i16:
        return saturable<&wrapping<16>, &saturating<16>>;
    case Opcode::v_dot2_u32_u16:
        return saturable<&wrapping_unsigned<16>, &saturating_unsigned<16>>;
    case Opcode::v_dot4_i32_i8:
    case Opcode::v_dot4c_i32_i8:
        return saturable<&wrapping<8>, &saturating<8>>;
    case Opcode::v_dot4_u32_u8:
        return saturable<&wrapping_unsigned<8>, &saturating_unsigned<8>>;
    case Opcode::v_dot8_i32_i4:
    case Opcode::v_dot8c_i32_i4:
        return saturable<&wrapping<4>, &saturating<4>>;
    case Opcode::v_dot8_u32_u4:
        return saturable<&wrapping_unsigned<4>, &saturating_unsigned<4>>;
    default:
        return nullptr;
    }
}

} // namespace emulator
