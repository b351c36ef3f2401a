// The few functions of the merge, in single precision: own exp and log, so that host and device give the same bits.
// Shared with the device reduce: constexpr functions, C headers only, no contraction, denormals kept.
#pragma once

#include <stdint.h>

namespace planner {

inline constexpr float kInfinity = __builtin_inff();

constexpr uint32_t bits_of(float x) {
    return __builtin_bit_cast(uint32_t, x);
}

constexpr float float_of(uint32_t x) {
    return __builtin_bit_cast(float, x);
}

/// 2^exponent for exponents of normal numbers.
constexpr float power_of_two(int32_t exponent) {
    return float_of(static_cast<uint32_t>(exponent + 127) << 23);
}

// ln 2 in two pieces; a whole number up to 2^15 times the first is exact.
inline constexpr float kLn2High = 0x1.62ep-1F;
inline constexpr float kLn2Low = 0x1.0bfbe8p-15F;

/// e^x for x <= 0, within 2 units in the last place down to the denormals; NaN stays NaN.
constexpr float exp_of(float x) {
    if (x < -104.0F) { // below half of the least denormal
        return 0.0F;
    }
    if (x != x) {
        return x;
    }
    // Adding and taking away 1.5 * 2^23 rounds to a whole number.
    const float shift = 0x1.8p23F;
    const float count = (x * 0x1.715476p0F + shift) - shift;
    const float r = (x - count * kLn2High) - count * kLn2Low;
    float sum = 1.0F / 5040.0F;
    sum = sum * r + 1.0F / 720.0F;
    sum = sum * r + 1.0F / 120.0F;
    sum = sum * r + 1.0F / 24.0F;
    sum = sum * r + 1.0F / 6.0F;
    sum = sum * r + 0.5F;
    const float value = ((sum * r) * r + r) + 1.0F;
    const int32_t exponent = static_cast<int32_t>(count);
    // In two steps, the first exact, so that a denormal is rounded once.
    return exponent < -100 ? (value * power_of_two(exponent + 100)) * power_of_two(-100) : value * power_of_two(exponent);
}

/// ln x for finite x >= 1; NaN stays NaN.
constexpr float log_of(float x) {
    if (x != x) {
        return x;
    }
    const uint32_t bits = bits_of(x);
    // The significand is taken from 1/sqrt(2) to sqrt(2), so that the series converges fast and ln 1 is 0.
    const bool upper = (bits & 0x7fffffU) > 0x3504f3U;
    const int32_t exponent = static_cast<int32_t>(bits >> 23) - 127 + (upper ? 1 : 0);
    const float significand = float_of((bits & 0x7fffffU) | (upper ? 0x3f000000U : 0x3f800000U));
    const float f = (significand - 1.0F) / (significand + 1.0F);
    const float square = f * f;
    float sum = 2.0F / 9.0F;
    sum = sum * square + 2.0F / 7.0F;
    sum = sum * square + 2.0F / 5.0F;
    sum = sum * square + 2.0F / 3.0F;
    const float e = static_cast<float>(exponent);
    return e * kLn2High + (2.0F * f + ((sum * square) * f + e * kLn2Low));
}

/// Round to nearest even; a NaN is quieted.
constexpr uint16_t bfloat_of(float x) {
    const uint32_t bits = bits_of(x);
    return static_cast<uint16_t>(x != x ? (bits >> 16) | 0x40U : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// Round to nearest even; overflow gives an infinity; a NaN is quieted.
constexpr uint16_t half_of(float x) {
    const uint32_t bits = bits_of(x);
    const uint32_t sign = (bits >> 16) & 0x8000U;
    const uint32_t magnitude = bits & 0x7fffffffU;
    uint32_t half = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    if (magnitude > 0x7f800000U) {
        half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
    } else if (magnitude >= 0x477ff000U) { // 65520: halfway to the first number that is none
        half = 0x7c00U;
    } else if (magnitude < 0x38800000U) {
        // 0.5 has 2^-24, the least half denormal, as its last place.
        half = bits_of(float_of(magnitude) + 0.5F) - 0x3f000000U;
    }
    return static_cast<uint16_t>(sign | half);
}

} // namespace planner
