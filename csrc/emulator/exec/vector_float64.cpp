// Double precision arithmetic.
#include "../numerics/fused.hpp"
#include "../numerics/rounding.hpp"
#include "../numerics/transcendental.hpp"
#include "float_functions.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

template <bool Greater> Chosen64 select(const Mode& mode, double a, double b) {
    return {pick64<Greater>(mode.ieee, bits_of(a), bits_of(b))};
}

/// In two steps the product by a power of two rounds once: the first is exact or overflows.
double load_exponent(double x, std::int32_t exponent) {
    const int bounded = exponent < -2200 ? -2200 : exponent > 2200 ? 2200 : exponent;
    if (bounded >= 0) {
        const int first = bounded > 1000 ? 1000 : bounded, second = bounded - first > 1000 ? 1000 : bounded - first;
        return x * power_of_two(first) * power_of_two(second) * power_of_two(bounded - first - second);
    }
    // Down to the least normal exponents exactly, then one rounding step.
    const std::uint64_t magnitude = bits_of(x) & 0x7fffffffffffffffull;
    if (magnitude == 0 || magnitude >= 0x7ff0000000000000ull) {
        return x;
    }
    const double lifted = magnitude < kLeastNormal64 ? x * power_of_two(100) : x;
    const int lift = magnitude < kLeastNormal64 ? 100 : 0;
    const int own = static_cast<int>((bits_of(lifted) >> 52) & 0x7ff);
    const int target = own + bounded - lift;
    if (target >= 1) {
        return double_of((bits_of(lifted) & 0x800fffffffffffffull) | (static_cast<std::uint64_t>(target) << 52));
    }
    const double least = double_of((bits_of(lifted) & 0x800fffffffffffffull) | (1ull << 52));
    return target < -100 ? with_sign_of(0.0, x) : least * power_of_two(target - 1);
}

std::int32_t exponent_of(double x) {
    const std::uint64_t magnitude = bits_of(x) & 0x7fffffffffffffffull;
    if (magnitude == 0 || magnitude >= 0x7ff0000000000000ull) {
        return 0;
    }
    const bool denormal = magnitude < kLeastNormal64;
    const std::uint64_t lifted = denormal ? bits_of(double_of(magnitude) * power_of_two(100)) : magnitude;
    return static_cast<std::int32_t>(lifted >> 52) - 1022 - (denormal ? 100 : 0);
}

double mantissa_of(double x) {
    return load_exponent(x, -exponent_of(x));
}

/// The first 1201 bits of 2/pi, as 32 bit words from the top.
constexpr std::uint32_t kTwoOverPi[] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u,
    0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u,
    0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
    0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du,
};

/// 53 bits of 2/pi from a place that the argument's exponent and the chunk number give.
double trigonometric_part(double x, std::uint32_t chunk) {
    const auto exponent = static_cast<int>((bits_of(x) >> 52) & 0x7ff);
    int shift = static_cast<int>(chunk & 31u) * 53;
    if (exponent > 1077) {
        shift += exponent - 1077;
    }
    std::uint64_t bits = 0;
    for (int n = 0; n < 53; ++n) {
        const int at = shift + n; // the bit's distance from the top
        const std::uint32_t bit = at < 1201 ? (kTwoOverPi[at / 32] >> (31 - at % 32)) & 1u : 0u;
        bits = (bits << 1) | bit;
    }
    return load_exponent(static_cast<double>(bits), -53 - shift + (exponent >= 1968 ? 128 : 0));
}

Executor unary(Opcode op) {
    switch (op) {
    case Opcode::v_floor_f64:
        return lanewise<+[](double a) { return round_down(a); }>;
    case Opcode::v_ceil_f64:
        return lanewise<+[](double a) { return round_up(a); }>;
    case Opcode::v_trunc_f64:
        return lanewise<+[](double a) { return round_zero(a); }>;
    case Opcode::v_rndne_f64:
        return lanewise<+[](double a) { return round_even(a); }>;
    case Opcode::v_fract_f64:
        return lanewise<+[](double a) { return fraction(a); }>;
    case Opcode::v_rcp_f64:
        return lanewise<+[](double a) { return 1.0 / a; }>;
    case Opcode::v_sqrt_f64:
        return lanewise<+[](double a) { return square_root(a); }>;
    case Opcode::v_rsq_f64:
        return lanewise<+[](double a) { return 1.0 / square_root(a); }>;
    case Opcode::v_frexp_exp_i32_f64:
        return lanewise<&exponent_of>;
    case Opcode::v_frexp_mant_f64:
        return lanewise<&mantissa_of>;
    default:
        return nullptr;
    }
}

} // namespace

Executor float64_executor(Opcode op) {
    switch (op) {
    case Opcode::v_add_f64:
        return lanewise<+[](double a, double b) { return a + b; }>;
    case Opcode::v_mul_f64:
        return lanewise<+[](double a, double b) { return a * b; }>;
    case Opcode::v_fma_f64:
    case Opcode::v_fmac_f64:
        return lanewise<&fused64>;
    case Opcode::v_min_f64:
        return lanewise<&select<false>>;
    case Opcode::v_max_f64:
        return lanewise<&select<true>>;
    case Opcode::v_ldexp_f64:
        return lanewise<&load_exponent>;
    case Opcode::v_trig_preop_f64:
        return lanewise<&trigonometric_part>;
    default:
        return unary(op);
    }
}

} // namespace emulator
