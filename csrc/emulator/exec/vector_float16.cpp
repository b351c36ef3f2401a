// Half precision arithmetic: in float where that leaves one rounding, in double where it takes that.
#include "../numerics/rounding.hpp"
#include "../numerics/transcendental.hpp"
#include "float_functions.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

constexpr Placement kKeep = Placement::low_keeping;

/// The exact product of halves fits a float; the exact sum needs double.
WideHalf fused(Half a, Half b, Half c) {
    return {static_cast<double>(a.value * b.value) + static_cast<double>(c.value)};
}

Half unfused(Half a, Half b, Half c) {
    return {half_to_float(float_to_half(a.value * b.value)) + c.value};
}

template <bool Greater> ChosenHalf select(const Mode& mode, Half a, Half b) {
    return {float_of(pick32<Greater>(mode.ieee, bits_of(a.value), bits_of(b.value)))};
}

template <bool Greater> ChosenHalf select3(const Mode& mode, Half a, Half b, Half c) {
    return {float_of(select3_32<Greater>(mode, a.value, b.value, c.value).bits)};
}

ChosenHalf median(const Mode& mode, Half a, Half b, Half c) {
    return {float_of(median32(mode, a.value, b.value, c.value).bits)};
}

WideHalf load_exponent(Half a, std::int16_t exponent) {
    const int bounded = exponent < -100 ? -100 : exponent > 100 ? 100 : exponent;
    return {static_cast<double>(a.value) * power_of_two(bounded)};
}

std::int16_t exponent_of(Half a) {
    const std::uint32_t magnitude = bits_of(a.value) & 0x7fffffffu;
    return magnitude == 0 || magnitude >= 0x7f800000u ? std::int16_t{0}
                                                      : static_cast<std::int16_t>(static_cast<int>(magnitude >> 23) - 126);
}

WideHalf mantissa_of(Half a) {
    return {static_cast<double>(a.value) * power_of_two(-exponent_of(a))};
}

WideHalf exponential(Half a) {
    return {a.value == a.value ? exp2_of(static_cast<double>(a.value)) : static_cast<double>(a.value)};
}

Half fract(Half a) {
    const float rest = fraction(a.value);
    return {rest > float_of(0x3f7fe000u) ? float_of(0x3f7fe000u) : rest}; // the greatest half below one
}

/// The quotient's special cases, with signs: 0/0, infinities, NaN.
Half fix_division(Half quotient, Half denominator, Half numerator) {
    const float infinity = float_of(0x7f800000u);
    const float d = denominator.value, n = numerator.value;
    const std::uint32_t sign = (bits_of(d) ^ bits_of(n)) & 0x80000000u;
    if (n != n || d != d) {
        return {float_of(bits_of(n != n ? n : d) | 0x00400000u)};
    }
    if ((d == 0.0f && n == 0.0f) || (absolute(d) == infinity && absolute(n) == infinity)) {
        return {float_of(0xffc00000u)};
    }
    if (d == 0.0f || absolute(n) == infinity) {
        return {float_of(sign | 0x7f800000u)};
    }
    if (absolute(d) == infinity || n == 0.0f) {
        return {float_of(sign)};
    }
    return {float_of(sign | (bits_of(quotient.value) & 0x7fffffffu))};
}

Executor unary(Opcode op) {
    switch (op) {
    case Opcode::v_rcp_f16:
        return lanewise<+[](Half a) { return Half{1.0f / a.value}; }>;
    case Opcode::v_sqrt_f16:
        return lanewise<+[](Half a) { return Half{square_root(a.value)}; }>;
    case Opcode::v_rsq_f16:
        return lanewise<+[](Half a) { return Half{reciprocal_root(a.value)}; }>;
    case Opcode::v_log_f16:
        return lanewise<+[](Half a) { return Half{log2_of(a.value)}; }>;
    case Opcode::v_exp_f16:
        return lanewise<&exponential>;
    case Opcode::v_sin_f16:
        return lanewise<+[](Half a) { return Half{sine(a.value)}; }>;
    case Opcode::v_cos_f16:
        return lanewise<+[](Half a) { return Half{cosine(a.value)}; }>;
    case Opcode::v_floor_f16:
        return lanewise<+[](Half a) { return Half{round_down(a.value)}; }>;
    case Opcode::v_ceil_f16:
        return lanewise<+[](Half a) { return Half{round_up(a.value)}; }>;
    case Opcode::v_trunc_f16:
        return lanewise<+[](Half a) { return Half{round_zero(a.value)}; }>;
    case Opcode::v_rndne_f16:
        return lanewise<+[](Half a) { return Half{round_even(a.value)}; }>;
    case Opcode::v_fract_f16:
        return lanewise<&fract>;
    case Opcode::v_frexp_mant_f16:
        return lanewise<&mantissa_of>;
    case Opcode::v_frexp_exp_i16_f16:
        return lanewise<&exponent_of>;
    default:
        return nullptr;
    }
}

} // namespace

Executor float16_executor(Opcode op) {
    switch (op) {
    case Opcode::v_add_f16:
        return lanewise<+[](Half a, Half b) { return Half{a.value + b.value}; }>;
    case Opcode::v_sub_f16:
        return lanewise<+[](Half a, Half b) { return Half{a.value - b.value}; }>;
    case Opcode::v_subrev_f16:
        return lanewise<+[](Half a, Half b) { return Half{b.value - a.value}; }>;
    case Opcode::v_mul_f16:
        return lanewise<+[](Half a, Half b) { return Half{a.value * b.value}; }>;
    case Opcode::v_mac_f16:
    case Opcode::v_madmk_f16:
    case Opcode::v_madak_f16:
    case Opcode::v_mad_legacy_f16:
        return lanewise<&unfused>;
    case Opcode::v_mad_f16:
        return lanewise<&unfused, kKeep>;
    case Opcode::v_fma_legacy_f16:
        return lanewise<&fused>;
    case Opcode::v_fma_f16:
        return lanewise<&fused, kKeep>;
    case Opcode::v_min_f16:
        return lanewise<&select<false>>;
    case Opcode::v_max_f16:
        return lanewise<&select<true>>;
    case Opcode::v_min3_f16:
        return lanewise<&select3<false>, kKeep>;
    case Opcode::v_max3_f16:
        return lanewise<&select3<true>, kKeep>;
    case Opcode::v_med3_f16:
        return lanewise<&median, kKeep>;
    case Opcode::v_ldexp_f16:
        return lanewise<&load_exponent>;
    case Opcode::v_div_fixup_legacy_f16:
        return lanewise<&fix_division>;
    case Opcode::v_div_fixup_f16:
        return lanewise<&fix_division, kKeep>;
    default:
        return unary(op);
    }
}

} // namespace emulator
