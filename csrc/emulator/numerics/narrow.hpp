// The 8, 6 and 4 bit floating point formats: exact widening to float, and narrowing with one rounding.
#pragma once

#include "bits.hpp"

namespace emulator {

/// What the top codes of a format stand for.
enum class Special : std::uint8_t {
    none,       // every code is a number (fp6, bf6, fp4)
    single_nan, // the code of a negative zero is the only NaN, there is no infinity (fnuz)
    top_is_nan, // the all-ones magnitude is NaN, there is no infinity (e4m3fn)
    ieee,       // infinities and NaNs at the top exponent (e5m2)
};

template <int ExponentBits, int MantissaBits, int Bias, Special Kind> struct NarrowFormat {
    static constexpr int bits = 1 + ExponentBits + MantissaBits;
    static constexpr int mantissa_bits = MantissaBits;
    static constexpr int bias = Bias;
    static constexpr Special special = Kind;
    static constexpr std::uint32_t sign_bit = 1u << (bits - 1);
    static constexpr std::uint32_t magnitude_mask = sign_bit - 1u;
    static constexpr std::uint32_t infinity = ((1u << ExponentBits) - 1u) << MantissaBits;
    static constexpr std::uint32_t greatest = Kind == Special::ieee         ? infinity - 1u
                                              : Kind == Special::top_is_nan ? magnitude_mask - 1u
                                                                            : magnitude_mask;
    /// NaN that a conversion gives: without its sign, except that the fnuz NaN is the sign bit.
    static constexpr std::uint32_t nan = Kind == Special::single_nan ? sign_bit : magnitude_mask;
};

using Fp8Fnuz = NarrowFormat<4, 3, 8, Special::single_nan>;
using Bf8Fnuz = NarrowFormat<5, 2, 16, Special::single_nan>;
using Fp8Ocp = NarrowFormat<4, 3, 7, Special::top_is_nan>;
using Bf8Ocp = NarrowFormat<5, 2, 15, Special::ieee>;
using Fp6 = NarrowFormat<2, 3, 1, Special::none>;
using Bf6 = NarrowFormat<3, 2, 3, Special::none>;
using Fp4 = NarrowFormat<2, 1, 1, Special::none>;

/// Bits of the float that a code stands for which is no infinity and no NaN; anything may be above the code.
template <class F> inline std::uint32_t narrow_number_to_float_bits(std::uint32_t code) {
    constexpr int shift = 23 - F::mantissa_bits;
    constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - F::bias) << 23;
    constexpr float step =
        __builtin_bit_cast(float, static_cast<std::uint32_t>(128 - F::bias) << 23); // 2^(1 - bias), the scale of denormals
    const std::uint32_t top = code << (32 - F::bits);
    // Read as a normal number a denormal is (step + value) / 2, so its value is twice that less a step. For a true normal this is no
    // smaller than itself.
    const float normal = float_of(((top & 0x7fffffffu) >> (32 - F::bits - shift)) + rebias);
    const float denormal = normal + normal - step;
    return bits_of(denormal < normal ? denormal : normal) | (top & 0x80000000u);
}

/// Of the four codes in a word: not zero where one is an infinity or a NaN.
template <class F> inline std::uint32_t special_bytes(std::uint32_t word) {
    if constexpr (F::special == Special::single_nan) {
        const std::uint32_t x = word ^ 0x80808080u;
        return (x - 0x01010101u) & ~x & 0x80808080u; // a zero byte, or a byte above one that is only near it: never missed
    } else {
        // A magnitude from the first special one up carries into bit 7 when the rest of the way is added.
        constexpr std::uint32_t first = F::special == Special::ieee ? F::infinity : F::magnitude_mask;
        return ((word & 0x7f7f7f7fu) + (0x80u - first) * 0x01010101u) & 0x80808080u;
    }
}

/// Bits of the float a code stands for; the code is in the low bits, anything may be above it.
template <class F> inline std::uint32_t narrow_to_float_bits(std::uint32_t code) {
    constexpr int shift = 23 - F::mantissa_bits;
    const std::uint32_t magnitude = (code & F::magnitude_mask) << shift;
    const std::uint32_t number = narrow_number_to_float_bits<F>(code);
    if constexpr (F::special == Special::ieee) {
        const std::uint32_t sign = number & 0x80000000u;
        const std::uint32_t result = magnitude == (F::infinity << shift) ? sign | 0x7f800000u : number;
        return magnitude > (F::infinity << shift) ? sign | kQuietNan32 : result;
    } else if constexpr (F::special == Special::top_is_nan) {
        return magnitude == (F::magnitude_mask << shift) ? (number & 0x80000000u) | kQuietNan32 : number;
    } else if constexpr (F::special == Special::single_nan) {
        return (code & (F::sign_bit | F::magnitude_mask)) == F::sign_bit ? kQuietNan32 : number;
    } else {
        return number;
    }
}

template <class F> inline float narrow_to_float(std::uint32_t code) {
    return float_of(narrow_to_float_bits<F>(code));
}

/// What a magnitude that rounds beyond the greatest number becomes.
template <class F> inline std::uint32_t narrow_overflow(bool saturate) {
    if constexpr (F::special == Special::none) {
        return F::greatest;
    } else {
        return saturate ? F::greatest : F::special == Special::ieee ? F::infinity : F::nan;
    }
}

template <class F> inline std::uint32_t narrow_finish(std::uint32_t x, std::uint32_t magnitude_code, bool saturate) {
    const std::uint32_t magnitude = x & 0x7fffffffu;
    std::uint32_t result = magnitude_code > F::greatest ? narrow_overflow<F>(saturate) : magnitude_code;
    if constexpr (F::special == Special::none) {
        result = magnitude > 0x7f800000u ? F::greatest : result;
    } else {
        // Saturation concerns finite values only.
        result = magnitude == 0x7f800000u ? narrow_overflow<F>(false) : result;
        result = magnitude > 0x7f800000u ? F::nan : result;
    }
    const std::uint32_t sign = (x >> 31) << (F::bits - 1);
    if constexpr (F::special == Special::single_nan) {
        return result == 0 ? 0u : sign | result;
    }
    return sign | result;
}

/// Round to nearest even.
template <class F> inline std::uint32_t float_to_narrow(float value, bool saturate) {
    constexpr int shift = 23 - F::mantissa_bits;
    constexpr std::uint32_t magic = static_cast<std::uint32_t>(127 + 24 - F::bias - F::mantissa_bits) << 23;
    constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - F::bias) << 23;
    const std::uint32_t x = bits_of(value);
    const std::uint32_t magnitude = x & 0x7fffffffu;
    const std::uint32_t rounded = (magnitude + (1u << (shift - 1)) - 1u + ((magnitude >> shift) & 1u)) >> shift;
    const std::uint32_t normal = rounded - (static_cast<std::uint32_t>(127 - F::bias) << F::mantissa_bits);
    const std::uint32_t denormal = bits_of(float_of(magnitude) + float_of(magic)) - magic;
    return narrow_finish<F>(x, magnitude < least_normal ? denormal : normal, saturate);
}

/// Stochastic rounding: the random word, as a fraction of the last place kept, is added and the rest is cut off.
template <class F> inline std::uint32_t float_to_narrow_stochastic(float value, std::uint32_t random, bool saturate) {
    constexpr int shift = 23 - F::mantissa_bits;
    constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - F::bias) << 23;
    const std::uint32_t x = bits_of(value);
    const std::uint32_t magnitude = x & 0x7fffffffu;
    const std::uint32_t normal =
        ((magnitude + (random >> (32 - shift))) >> shift) - (static_cast<std::uint32_t>(127 - F::bias) << F::mantissa_bits);
    const double places =
        static_cast<double>(magnitude < least_normal ? float_of(magnitude) : 0.0f) * power_of_two(F::bias + F::mantissa_bits - 1);
    const auto denormal = static_cast<std::uint32_t>(places + static_cast<double>(random) * power_of_two(-32));
    const std::uint32_t special = F::greatest + 1u;
    return narrow_finish<F>(x, magnitude >= 0x7f800000u ? special : magnitude < least_normal ? denormal : normal, saturate);
}

} // namespace emulator
