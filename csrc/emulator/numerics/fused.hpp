// Fused multiply-add with one rounding, the same bits with and without the instruction for it.
#pragma once

#include "bits.hpp"

namespace emulator {

#ifdef __FMA__

inline float fused32(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

inline double fused64(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

#else

/// The product of two floats is exact in double. The sum is rounded to odd there, so that the rounding to float decides alone.
inline float fused32(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const double addend = static_cast<double>(c);
    const double sum = product + addend;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (addend - part);
    const std::uint64_t bits = bits_of(sum);
    const bool even = (bits & 1u) == 0;
    const bool finite = (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
    // The exact sum lies between `sum` and its neighbour in the direction of `error`; of the two the odd one is kept.
    const bool away = (error > 0.0) == (sum > 0.0);
    const std::uint64_t odd = away ? bits + 1u : bits - 1u;
    return static_cast<float>(double_of(even && finite && error != 0.0 ? odd : bits));
}

double fused64(double a, double b, double c);

#endif

} // namespace emulator
