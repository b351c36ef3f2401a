// exp2, log2, sine, cosine, reciprocal and roots. Evaluated in double from additions, products and quotients alone and rounded once to
// float: the hardware promises an error of one unit in the last place, these stay within 0.51, and give the same bits everywhere.
#pragma once

#include "bits.hpp"
#include "rounding.hpp"

namespace emulator {

/// 2^x for a double of moderate size, with a relative error of 2e-10; the caller deals with NaN.
inline double exp2_of(double x) {
    const double bounded = x < -1000.0 ? -1000.0 : x > 1000.0 ? 1000.0 : x;
    const double magic = 6755399441055744.0;
    const double shifted = bounded + magic; // its low bits are the nearest integer
    const double rest = (bounded - (shifted - magic)) * 0.69314718055994530942;
    double sum = 1.0 / 40320.0;
    sum = sum * rest + 1.0 / 5040.0;
    sum = sum * rest + 1.0 / 720.0;
    sum = sum * rest + 1.0 / 120.0;
    sum = sum * rest + 1.0 / 24.0;
    sum = sum * rest + 1.0 / 6.0;
    sum = sum * rest + 0.5;
    sum = sum * rest + 1.0;
    sum = sum * rest + 1.0;
    return double_of(bits_of(sum) + (bits_of(shifted) << 52));
}

/// log2 of a positive normal double.
inline double log2_of(double x) {
    const std::uint64_t bits = bits_of(x);
    // Mantissas from sqrt(1/2) to sqrt(2): close to one the sum keeps its relative precision.
    const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcdull;
    const auto exponent = static_cast<std::int32_t>(shifted >> 32) >> 20;
    const double mantissa = double_of(bits - (shifted & 0xfff0000000000000ull));
    const double z = (mantissa - 1.0) / (mantissa + 1.0);
    const double w = z * z;
    double sum = 1.0 / 17.0;
    sum = sum * w + 1.0 / 15.0;
    sum = sum * w + 1.0 / 13.0;
    sum = sum * w + 1.0 / 11.0;
    sum = sum * w + 1.0 / 9.0;
    sum = sum * w + 1.0 / 7.0;
    sum = sum * w + 1.0 / 5.0;
    sum = sum * w + 1.0 / 3.0;
    sum = sum * w + 1.0;
    return static_cast<double>(exponent) + sum * z * 2.88539008177792681472;
}

/// sin(2 pi x) for a finite x.
inline double sine_of_turns(double x) {
    const double turn = x - round_even(x);
    const double folded = absolute(turn) > 0.25 ? with_sign_of(0.5, turn) - turn : turn;
    const double angle = folded * 6.28318530717958647693;
    const double w = angle * angle;
    double sum = -1.0 / 121645100408832000.0;
    sum = sum * w + 1.0 / 355687428096000.0;
    sum = sum * w - 1.0 / 1307674368000.0;
    sum = sum * w + 1.0 / 6227020800.0;
    sum = sum * w - 1.0 / 39916800.0;
    sum = sum * w + 1.0 / 362880.0;
    sum = sum * w - 1.0 / 5040.0;
    sum = sum * w + 1.0 / 120.0;
    sum = sum * w - 1.0 / 6.0;
    sum = sum * w + 1.0;
    return sum * angle;
}

inline float exp2_of(float x) {
    const double wide = static_cast<double>(x);
    return x == x ? static_cast<float>(exp2_of(wide)) : x;
}

inline float log2_of(float x) {
    const bool usable = x > 0.0f && x < float_of(0x7f800000u);
    const float result = static_cast<float>(log2_of(static_cast<double>(usable ? x : 1.0f)));
    const float special = x == 0.0f ? float_of(0xff800000u) : x > 0.0f ? x : float_of(kQuietNan32);
    return usable ? result : special;
}

/// Arguments beyond 256 turns give what the hardware gives there, sin 0 and cos 1.
inline float sine(float x) {
    const bool usable = absolute(x) <= 256.0f;
    const float result = static_cast<float>(sine_of_turns(static_cast<double>(usable ? x : 0.0f)));
    return absolute(x) < float_of(0x7f800000u) ? result : float_of(kQuietNan32);
}

inline float cosine(float x) {
    const bool usable = absolute(x) <= 256.0f;
    const float result = static_cast<float>(sine_of_turns(static_cast<double>(usable ? absolute(x) : 0.0f) + 0.25));
    return absolute(x) < float_of(0x7f800000u) ? result : float_of(kQuietNan32);
}

inline float square_root(float x) {
    return __builtin_elementwise_sqrt(x);
}

inline double square_root(double x) {
    return __builtin_elementwise_sqrt(x);
}

inline float reciprocal(float x) {
    return 1.0f / x;
}

/// Rounded once, from a double quotient.
inline float reciprocal_root(float x) {
    return static_cast<float>(1.0 / square_root(static_cast<double>(x)));
}

} // namespace emulator
