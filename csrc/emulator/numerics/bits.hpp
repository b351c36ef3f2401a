// Bit patterns of floating point values, and the few selections on them that every operation shares.
#pragma once

#include <cstdint>

namespace emulator {

inline constexpr std::uint32_t kQuietNan32 = 0x7fc00000u;
inline constexpr std::uint64_t kQuietNan64 = 0x7ff8000000000000ull;

inline std::uint32_t bits_of(float x) {
    return __builtin_bit_cast(std::uint32_t, x);
}

inline std::uint64_t bits_of(double x) {
    return __builtin_bit_cast(std::uint64_t, x);
}

inline float float_of(std::uint32_t x) {
    return __builtin_bit_cast(float, x);
}

inline double double_of(std::uint64_t x) {
    return __builtin_bit_cast(double, x);
}

inline bool is_nan32(std::uint32_t x) {
    return (x & 0x7fffffffu) > 0x7f800000u;
}

inline bool is_nan64(std::uint64_t x) {
    return (x & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

inline bool is_signalling32(std::uint32_t x) {
    return is_nan32(x) && (x & 0x00400000u) == 0;
}

inline bool is_signalling64(std::uint64_t x) {
    return is_nan64(x) && (x & 0x0008000000000000ull) == 0;
}

/// A value whose magnitude is below the threshold becomes a zero of its sign: the threshold is the least normal number, or 0 to keep
/// denormals.
inline std::uint32_t flush32(std::uint32_t x, std::uint32_t threshold) {
    return (x & 0x7fffffffu) < threshold ? x & 0x80000000u : x;
}

inline std::uint64_t flush64(std::uint64_t x, std::uint64_t threshold) {
    return (x & 0x7fffffffffffffffull) < threshold ? x & 0x8000000000000000ull : x;
}

inline constexpr std::uint32_t kLeastNormal32 = 0x00800000u;
inline constexpr std::uint64_t kLeastNormal64 = 0x0010000000000000ull;
inline constexpr std::uint32_t kLeastNormal16 = 0x0400u;

/// 2^exponent for exponents of normal doubles.
inline double power_of_two(int exponent) {
    return double_of(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

} // namespace emulator
