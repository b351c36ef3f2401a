// Output modifiers of float results.
#include "lanewise.hpp"

namespace emulator {

void check_rounding(Wave& wave, bool single) {
    if ((single ? wave.mode.round32 : wave.mode.round16_64) != 0) {
        fail(wave, FaultKind::unsupported, single ? wave.mode.round32 : wave.mode.round16_64);
    }
}

namespace {

/// omod has an effect only where neither IEEE mode nor denormal results are on.
float multiplier(const Wave& wave, const Instruction& in, unsigned denormal_mode) {
    if (wave.mode.ieee || (denormal_mode & 2) != 0) {
        return 1.0f;
    }
    return in.omod == 1 ? 2.0f : in.omod == 2 ? 4.0f : in.omod == 3 ? 0.5f : 1.0f;
}

template <class T> T limited(const Wave& wave, const Instruction& in, T value) {
    if (!in.clamp) {
        return value;
    }
    if (value != value) {
        return wave.mode.dx10_clamp ? T{0} : value;
    }
    return value > T{1} ? T{1} : value > T{0} ? value : T{0};
}

} // namespace

void modify32(const Wave& wave, const Instruction& in, Row& row) {
    const float factor = multiplier(wave, in, wave.mode.denorm32);
    const Denormals denormals(wave.mode);
    for (std::uint32_t& lane : row.lane) {
        const float scaled =
            is_nan32(lane) || factor == 1.0f ? float_of(lane) : float_of(flush32(bits_of(float_of(lane) * factor), denormals.out32));
        lane = bits_of(limited(wave, in, scaled));
    }
}

void modify16(const Wave& wave, const Instruction& in, Row& row) {
    const float factor = multiplier(wave, in, wave.mode.denorm16_64);
    const Denormals denormals(wave.mode);
    for (std::uint32_t& lane : row.lane) {
        const float value = half_to_float(lane & 0xffffu);
        const float product = wave.mode.half_overflow_clamps ? largest_half(value * factor) : value * factor;
        const std::uint32_t scaled = is_nan32(bits_of(value)) || factor == 1.0f ? lane & 0xffffu : float_to_half(product);
        const std::uint32_t flushed = factor != 1.0f && (scaled & 0x7fffu) < denormals.out16 ? scaled & 0x8000u : scaled;
        lane = in.clamp ? float_to_half(limited(wave, in, half_to_float(flushed))) : flushed;
    }
}

void modify64(const Wave& wave, const Instruction& in, Row& low, Row& high) {
    const double factor = static_cast<double>(multiplier(wave, in, wave.mode.denorm16_64));
    const Denormals denormals(wave.mode);
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t bits = low.lane[lane] | (std::uint64_t{high.lane[lane]} << 32);
        const double scaled =
            is_nan64(bits) || factor == 1.0 ? double_of(bits) : double_of(flush64(bits_of(double_of(bits) * factor), denormals.out64));
        const std::uint64_t result = bits_of(limited(wave, in, scaled));
        low.lane[lane] = static_cast<std::uint32_t>(result);
        high.lane[lane] = static_cast<std::uint32_t>(result >> 32);
    }
}

} // namespace emulator
