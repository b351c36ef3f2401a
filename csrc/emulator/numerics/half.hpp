// IEEE half and bfloat16: exact widening, and narrowing with one rounding.
#pragma once

#include "bits.hpp"

namespace emulator {

/// Exact, denormals included. A NaN keeps its payload and its quiet bit.
inline float half_to_float(std::uint32_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16;
    const std::uint32_t magnitude = (h & 0x7fffu) << 13;
    // The bits of a half, read as a float's, are its value times 2^-112; a float product by 2^112 is exact for denormals too.
    const std::uint32_t scaled = bits_of(float_of(magnitude) * float_of(0x77800000u));
    const std::uint32_t special = magnitude | 0x7f800000u;
    return float_of(sign | ((h & 0x7c00u) == 0x7c00u ? special : scaled));
}

/// Round to nearest even; overflow becomes infinity. A NaN is quieted and keeps the top of its payload.
inline std::uint32_t float_to_half(float value) {
    const std::uint32_t x = bits_of(value);
    const std::uint32_t sign = (x >> 16) & 0x8000u;
    const std::uint32_t magnitude = x & 0x7fffffffu;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    // Adding one half lets the float adder round the value to a multiple of the least half denormal, 2^-24.
    const std::uint32_t denormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    std::uint32_t result = magnitude < 0x38800000u ? denormal : normal;
    result = magnitude >= 0x47800000u ? 0x7c00u : result;
    result = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : result;
    return sign | result;
}

/// Round toward zero: a finite value beyond the largest half becomes the largest half.
inline std::uint32_t float_to_half_toward_zero(float value) {
    const std::uint32_t x = bits_of(value);
    const std::uint32_t sign = (x >> 16) & 0x8000u;
    const std::uint32_t magnitude = x & 0x7fffffffu;
    const std::uint32_t normal = (magnitude - 0x38000000u) >> 13;
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t denormal = shift < 32u ? ((magnitude & 0x007fffffu) | 0x00800000u) >> shift : 0u;
    std::uint32_t result = magnitude < 0x38800000u ? denormal : normal;
    result = magnitude >= 0x47800000u ? 0x7bffu : result;
    result = magnitude == 0x7f800000u ? 0x7c00u : result;
    result = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : result;
    return sign | result;
}

/// One rounding from double to half: to odd into a float first, which leaves the second rounding nothing to decide.
inline float double_to_float_odd(double value) {
    const float nearest = static_cast<float>(value);
    const std::uint32_t bits = bits_of(nearest);
    const double back = static_cast<double>(nearest);
    const bool inexact = back != value && value == value;
    const bool too_far = __builtin_fabs(back) > __builtin_fabs(value);
    // Truncate, then set the last bit: the float just below in magnitude, or the value itself, made odd.
    const std::uint32_t truncated = too_far ? bits - 1u : bits;
    return float_of(inexact ? truncated | 1u : bits);
}

inline std::uint32_t double_to_half(double value) {
    return float_to_half(double_to_float_odd(value));
}

inline float bfloat_to_float(std::uint32_t b) {
    return float_of(b << 16);
}

/// Round to nearest even; a NaN is quieted and keeps the top of its payload.
inline std::uint32_t float_to_bfloat(float value) {
    const std::uint32_t x = bits_of(value);
    const std::uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
    return is_nan32(x) ? (x >> 16) | 0x40u : rounded;
}

} // namespace emulator
