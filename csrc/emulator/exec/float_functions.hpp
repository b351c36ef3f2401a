// Minimum, maximum and median as the hardware orders floats: signed zeros are ordered, a NaN loses to a number.
#pragma once

#include "lanewise.hpp"

namespace emulator {

/// Order of floats as integers: -0 below +0.
inline std::int32_t order32(std::uint32_t bits) {
    return static_cast<std::int32_t>(bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) & 0x7fffffffu));
}

inline std::int64_t order64(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63) & 0x7fffffffffffffffull));
}

template <bool Greater> inline std::uint32_t pick32(bool ieee, std::uint32_t a, std::uint32_t b) {
    const bool first = Greater ? order32(a) >= order32(b) : order32(a) < order32(b);
    std::uint32_t result = first ? a : b;
    result = is_nan32(b) ? a : result;
    result = is_nan32(a) ? b : result;
    result = ieee && is_signalling32(b) ? b | 0x00400000u : result;
    return ieee && is_signalling32(a) ? a | 0x00400000u : result;
}

template <bool Greater> inline std::uint64_t pick64(bool ieee, std::uint64_t a, std::uint64_t b) {
    const bool first = Greater ? order64(a) >= order64(b) : order64(a) < order64(b);
    std::uint64_t result = first ? a : b;
    result = is_nan64(b) ? a : result;
    result = is_nan64(a) ? b : result;
    result = ieee && is_signalling64(b) ? b | 0x0008000000000000ull : result;
    return ieee && is_signalling64(a) ? a | 0x0008000000000000ull : result;
}

template <bool Greater> inline Chosen select32(const Mode& mode, float a, float b) {
    return {pick32<Greater>(mode.ieee, bits_of(a), bits_of(b))};
}

template <bool Greater> inline Chosen select3_32(const Mode& mode, float a, float b, float c) {
    return {pick32<Greater>(mode.ieee, pick32<Greater>(mode.ieee, bits_of(a), bits_of(b)), bits_of(c))};
}

/// With a NaN among the three, their minimum.
inline Chosen median32(const Mode& mode, float a, float b, float c) {
    const std::uint32_t x = bits_of(a), y = bits_of(b), z = bits_of(c);
    const bool ieee = mode.ieee;
    const std::uint32_t greatest = pick32<true>(ieee, pick32<true>(ieee, x, y), z);
    const float top = float_of(greatest);
    const std::uint32_t middle = top == a ? pick32<true>(ieee, y, z) : top == b ? pick32<true>(ieee, x, z) : pick32<true>(ieee, x, y);
    const std::uint32_t least = pick32<false>(ieee, pick32<false>(ieee, x, y), z);
    return {is_nan32(x) || is_nan32(y) || is_nan32(z) ? least : middle};
}

/// The IEEE 2019 minimum and maximum: a NaN wins.
template <bool Greater> inline float extreme32(float a, float b) {
    const float number = float_of(pick32<Greater>(false, bits_of(a), bits_of(b)));
    return is_nan32(bits_of(a)) || is_nan32(bits_of(b)) ? float_of(kQuietNan32) : number;
}

} // namespace emulator
