// Rounding to integers, without libm and without instructions that only some machines have.
#pragma once

#include "bits.hpp"

namespace emulator {

inline float with_sign_of(float magnitude, float sign) {
    return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

inline double with_sign_of(double magnitude, double sign) {
    return double_of((bits_of(magnitude) & 0x7fffffffffffffffull) | (bits_of(sign) & 0x8000000000000000ull));
}

inline float absolute(float x) {
    return float_of(bits_of(x) & 0x7fffffffu);
}

inline double absolute(double x) {
    return double_of(bits_of(x) & 0x7fffffffffffffffull);
}

/// From here on every value is an integer.
inline constexpr float kIntegers32 = 8388608.0f;
inline constexpr double kIntegers64 = 4503599627370496.0;

inline float round_even(float x) {
    const float near = (absolute(x) + kIntegers32) - kIntegers32;
    return absolute(x) < kIntegers32 ? with_sign_of(near, x) : x;
}

inline double round_even(double x) {
    const double near = (absolute(x) + kIntegers64) - kIntegers64;
    return absolute(x) < kIntegers64 ? with_sign_of(near, x) : x;
}

template <class T> inline T round_zero(T x) {
    const T near = absolute(round_even(x));
    return with_sign_of(near > absolute(x) ? near - T{1} : near, x);
}

template <class T> inline T round_down(T x) {
    const T near = round_even(x);
    return near > x ? with_sign_of(near - T{1}, x) : near;
}

template <class T> inline T round_up(T x) {
    const T near = round_even(x);
    return near < x ? with_sign_of(near + T{1}, x) : near;
}

/// x - floor(x), kept below one.
inline float fraction(float x) {
    const float rest = x - round_down(x);
    return rest < 1.0f ? rest : rest >= 1.0f ? float_of(0x3f7fffffu) : rest;
}

inline double fraction(double x) {
    const double rest = x - round_down(x);
    return rest < 1.0 ? rest : rest >= 1.0 ? double_of(0x3fefffffffffffffull) : rest;
}

} // namespace emulator
