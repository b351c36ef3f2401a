// Conversions between float and the 8 bit formats: fnuz on gfx942, OCP on gfx950.
#include "../numerics/narrow.hpp"
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using u32 = std::uint32_t;

template <auto Fnuz, auto Ocp, Placement Where> void run_by_arch(Wave& wave, const Instruction& in) {
    wave.arch == Arch::gfx950 ? lanewise<Ocp, Where>(wave, in) : lanewise<Fnuz, Where>(wave, in);
}

template <auto Fnuz, auto Ocp, Placement Where = Placement::low_zeroing> inline constexpr Executor by_arch = &run_by_arch<Fnuz, Ocp, Where>;

/// The value of a code does not pass through float arithmetic: its NaN is settled already.
template <class F> Chosen widen(u32 code) {
    return {narrow_to_float_bits<F>(code)};
}

template <class F> Pair widen_pair(u32 codes) {
    return {narrow_to_float_bits<F>(codes), narrow_to_float_bits<F>(codes >> 8)};
}

template <class F> HalfBits narrow_pair(const Mode& mode, float a, float b) {
    return {float_to_narrow<F>(a, mode.half_overflow_clamps) | (float_to_narrow<F>(b, mode.half_overflow_clamps) << 8)};
}

/// Stochastic rounding into the byte of the destination that op_sel[3:2] names; the other bytes stay.
template <class Fnuz, class Ocp> void narrow_stochastic(Wave& wave, const Instruction& in) {
    const Input<float> value(wave, in, 0);
    const Input<u32> random(wave, in, 1);
    const Denormals denormals(wave.mode);
    const bool clamp = wave.mode.half_overflow_clamps;
    Row result;
    const unsigned shift = 8 * ((in.op_sel >> 2) & 3u);
    const u32* old = wave.v[in.dst.index];
    for (int lane = 0; lane < kLanes; ++lane) {
        const float x = value.load(lane, denormals);
        const u32 r = random.load(lane, denormals);
        const u32 code =
            wave.arch == Arch::gfx950 ? float_to_narrow_stochastic<Ocp>(x, r, clamp) : float_to_narrow_stochastic<Fnuz>(x, r, clamp);
        result.lane[lane] = (old[lane] & ~(0xffu << shift)) | (code << shift);
    }
    store(wave, in, 0, result);
}

/// Adds the random word below the last place kept and cuts off.
HalfBits stochastic_bfloat(float x, u32 random) {
    const u32 bits = bits_of(x);
    return {is_nan32(bits) ? (bits >> 16) | 0x40u : (bits & 0x7fffffffu) == 0x7f800000u ? bits >> 16 : (bits + (random >> 16)) >> 16};
}

HalfBits stochastic_half(const Mode& mode, float x, u32 random) {
    const u32 bits = bits_of(x);
    if ((bits & 0x7fffffffu) >= 0x7f800000u) {
        return {float_to_half(x)};
    }
    const u32 magnitude = bits & 0x7fffffffu;
    if (magnitude < 0x38800000u) { // steps of 2^-24
        const double places = static_cast<double>(float_of(magnitude)) * power_of_two(24) + static_cast<double>(random) * power_of_two(-32);
        return {((bits >> 16) & 0x8000u) | static_cast<u32>(places)};
    }
    const u32 lifted = (magnitude + (random >> 19)) & ~0x1fffu;
    const float kept = mode.half_overflow_clamps ? largest_half(float_of(lifted)) : float_of(lifted);
    return {((bits >> 16) & 0x8000u) | (float_to_half(kept) & 0x7fffu)};
}

} // namespace

Executor narrow_conversion_executor(Opcode op) {
    constexpr Placement keep = Placement::low_keeping;
    switch (op) {
    case Opcode::v_cvt_f32_fp8:
        return by_arch<&widen<Fp8Fnuz>, &widen<Fp8Ocp>>;
    case Opcode::v_cvt_f32_bf8:
        return by_arch<&widen<Bf8Fnuz>, &widen<Bf8Ocp>>;
    case Opcode::v_cvt_pk_f32_fp8:
        return by_arch<&widen_pair<Fp8Fnuz>, &widen_pair<Fp8Ocp>>;
    case Opcode::v_cvt_pk_f32_bf8:
        return by_arch<&widen_pair<Bf8Fnuz>, &widen_pair<Bf8Ocp>>;
    case Opcode::v_cvt_pk_fp8_f32:
        return by_arch<&narrow_pair<Fp8Fnuz>, &narrow_pair<Fp8Ocp>, keep>;
    case Opcode::v_cvt_pk_bf8_f32:
        return by_arch<&narrow_pair<Bf8Fnuz>, &narrow_pair<Bf8Ocp>, keep>;
    case Opcode::v_cvt_sr_fp8_f32:
        return &narrow_stochastic<Fp8Fnuz, Fp8Ocp>;
    case Opcode::v_cvt_sr_bf8_f32:
        return &narrow_stochastic<Bf8Fnuz, Bf8Ocp>;
    case Opcode::v_cvt_sr_bf16_f32:
        return lanewise<&stochastic_bfloat, keep>;
    case Opcode::v_cvt_sr_f16_f32:
        return lanewise<&stochastic_half, keep>;
    default:
        return nullptr;
    }
}

} // namespace emulator
