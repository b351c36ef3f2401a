// Conversions of gfx950 with a scale: floats of 32 or 16 bits divided by a power of two and rounded into 8, 6 or 4 bits, and back with the
// product. The scale is the exponent field of a float operand: the power of two that it is. The value is scaled before the one rounding.
#include "../numerics/narrow.hpp"
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using u32 = std::uint32_t;

enum class Wide : std::uint8_t { f32, f16, bf16 };

/// An element's bits among the registers of an operand in one lane.
u32 extract(const u32* words, int bit, int width) {
    const int word = bit / 32, shift = bit % 32;
    std::uint64_t both = words[word];
    if (shift + width > 32) {
        both |= std::uint64_t{words[word + 1]} << 32;
    }
    return static_cast<u32>(both >> shift) & (width == 32 ? ~0u : (1u << width) - 1u);
}

void insert(u32* words, int bit, int width, u32 value) {
    const int word = bit / 32, shift = bit % 32;
    words[word] |= value << shift;
    if (shift + width > 32) {
        words[word + 1] |= value >> (32 - shift);
    }
}

template <Wide W> constexpr int wide_bits = W == Wide::f32 ? 32 : 16;

template <Wide W> double to_double(u32 bits) {
    if constexpr (W == Wide::f32) {
        return static_cast<double>(float_of(bits));
    } else if constexpr (W == Wide::f16) {
        return static_cast<double>(half_to_float(bits));
    } else {
        return static_cast<double>(bfloat_to_float(bits));
    }
}

template <Wide W> u32 from_double(double value) {
    if (value != value) {
        return W == Wide::f32 ? kQuietNan32 : W == Wide::f16 ? 0x7e00u : 0x7fc0u;
    }
    if constexpr (W == Wide::f32) {
        return bits_of(static_cast<float>(value));
    } else if constexpr (W == Wide::f16) {
        return double_to_half(value);
    } else {
        return float_to_bfloat(double_to_float_odd(value));
    }
}

double scale_of(u32 operand, bool inverse) {
    const int exponent = static_cast<int>((operand >> 23) & 0xff) - 127;
    return power_of_two(inverse ? -exponent : exponent);
}

u32 next_random(u32 x) {
    return (x << 1) ^ ((x >> 31) != 0 ? 197u : 0u);
}

template <class F> u32 narrow(double value, bool stochastic, u32 random, bool saturate) {
    const float one_rounding_left = double_to_float_odd(value);
    return stochastic ? float_to_narrow_stochastic<F>(one_rounding_left, random, saturate)
                      : float_to_narrow<F>(one_rounding_left, saturate);
}

/// Where the values to narrow come from and the codes go to.
enum class Shape : std::uint8_t {
    pair_of_sources, // one value in each of two sources; scale in the third
    packed,          // `Count` values in the first source; scale in the last
    interleaved,     // 16 values in each of two sources, alternating; scale in the third
};

/// Where a lane's result starts in its destination: op_sel[3] picks a word, op_sel[3:2] a byte.
int result_bit(const Instruction& in, int bits) {
    return bits == 16 ? 16 * ((in.op_sel >> 3) & 1) : bits == 8 ? 8 * ((in.op_sel >> 2) & 3) : 0;
}

void read_lane(Wave& wave, const Instruction& in, int n, int words, u32 (*out)[kLanes]) {
    for (int word = 0; word < words; ++word) {
        Row buffer;
        const u32* row = fetch(wave, in, n, word, Reading::bits32, buffer);
        __builtin_memcpy(out[word], row, sizeof out[word]);
    }
}

template <Wide W, class F, Shape S, int Count, bool Stochastic> void narrow_all(Wave& wave, const Instruction& in) {
    constexpr int sources = S == Shape::packed ? 1 : 2;
    constexpr int per_source = Count / sources;
    constexpr int words = (per_source * wide_bits<W> + 31) / 32;
    constexpr int out_bits = Count * F::bits, out_words = (out_bits + 31) / 32;
    constexpr int scale_source = Stochastic || sources == 2 ? 2 : 1;
    u32 values[sources][words][kLanes], random[1][kLanes] = {}, scales[1][kLanes];
    for (int n = 0; n < sources; ++n) {
        read_lane(wave, in, n, words, values[n]);
    }
    if constexpr (Stochastic) {
        read_lane(wave, in, 1, 1, random);
    }
    read_lane(wave, in, scale_source, 1, scales);
    const int place = result_bit(in, out_bits);
    const bool saturate = wave.mode.half_overflow_clamps;
    Row results[out_words];
    for (int lane = 0; lane < kLanes; ++lane) {
        const double scale = scale_of(scales[0][lane], true);
        u32 seed = random[0][lane], codes[out_words + 1] = {};
        for (int n = 0; n < Count; ++n) {
            const int source = sources == 1 ? 0 : n % 2, at = sources == 1 ? n : n / 2;
            u32 lane_words[words + 1] = {};
            for (int word = 0; word < words; ++word) {
                lane_words[word] = values[source][word][lane];
            }
            const double value = to_double<W>(extract(lane_words, at * wide_bits<W>, wide_bits<W>)) * scale;
            insert(codes, n * F::bits, F::bits, narrow<F>(value, Stochastic, seed, saturate));
            seed = next_random(seed);
        }
        for (int word = 0; word < out_words; ++word) {
            const u32 kept = out_bits >= 32 ? 0u : wave.v[in.dst.index][lane] & ~(((1u << out_bits) - 1u) << place);
            results[word].lane[lane] = kept | (codes[word] << place);
        }
    }
    for (int word = 0; word < out_words; ++word) {
        store(wave, in, word, results[word]);
    }
}

template <class F, Wide W, int Count> void widen_all(Wave& wave, const Instruction& in) {
    constexpr int in_bits = Count * F::bits, words = (in_bits + 31) / 32;
    constexpr int out_bits = Count * wide_bits<W>, out_words = (out_bits + 31) / 32;
    u32 codes[words][kLanes], scales[1][kLanes];
    read_lane(wave, in, 0, words, codes);
    read_lane(wave, in, 1, 1, scales);
    // A word is picked by op_sel[0], a byte by op_sel[1:0].
    const int from = in_bits == 16 ? 16 * (in.op_sel & 1) : in_bits == 8 ? 8 * (in.op_sel & 3) : 0;
    const int place = out_bits == 16 ? 16 * ((in.op_sel >> 3) & 1) : 0;
    Row results[out_words];
    for (int lane = 0; lane < kLanes; ++lane) {
        const double scale = scale_of(scales[0][lane], false);
        u32 lane_words[words + 1] = {}, out[out_words + 1] = {};
        for (int word = 0; word < words; ++word) {
            lane_words[word] = codes[word][lane];
        }
        for (int n = 0; n < Count; ++n) {
            const float code = narrow_to_float<F>(extract(lane_words, from + n * F::bits, F::bits));
            insert(out, n * wide_bits<W>, wide_bits<W>, from_double<W>(static_cast<double>(code) * scale));
        }
        for (int word = 0; word < out_words; ++word) {
            const u32 kept = out_bits == 16 ? wave.v[in.dst.index][lane] & ~(0xffffu << place) : 0u;
            results[word].lane[lane] = kept | (out[word] << place);
        }
    }
    for (int word = 0; word < out_words; ++word) {
        store(wave, in, word, results[word]);
    }
}

// In the name of an opcode: sr is stochastic rounding, pk a pair, pk32 and 2xpk16 32 values, otherwise one value.
Executor narrowing_eight(Opcode op) {
    switch (op) {
    case Opcode::v_cvt_scalef32_pk_fp8_f32:
        return &narrow_all<Wide::f32, Fp8Ocp, Shape::pair_of_sources, 2, false>;
    case Opcode::v_cvt_scalef32_pk_bf8_f32:
        return &narrow_all<Wide::f32, Bf8Ocp, Shape::pair_of_sources, 2, false>;
    case Opcode::v_cvt_scalef32_pk_fp8_f16:
        return &narrow_all<Wide::f16, Fp8Ocp, Shape::packed, 2, false>;
    case Opcode::v_cvt_scalef32_pk_bf8_f16:
        return &narrow_all<Wide::f16, Bf8Ocp, Shape::packed, 2, false>;
    case Opcode::v_cvt_scalef32_pk_fp8_bf16:
        return &narrow_all<Wide::bf16, Fp8Ocp, Shape::packed, 2, false>;
    case Opcode::v_cvt_scalef32_pk_bf8_bf16:
        return &narrow_all<Wide::bf16, Bf8Ocp, Shape::packed, 2, false>;
    case Opcode::v_cvt_scalef32_sr_fp8_f32:
        return &narrow_all<Wide::f32, Fp8Ocp, Shape::packed, 1, true>;
    case Opcode::v_cvt_scalef32_sr_bf8_f32:
        return &narrow_all<Wide::f32, Bf8Ocp, Shape::packed, 1, true>;
    case Opcode::v_cvt_scalef32_sr_fp8_f16:
        return &narrow_all<Wide::f16, Fp8Ocp, Shape::packed, 1, true>;
    case Opcode::v_cvt_scalef32_sr_bf8_f16:
        return &narrow_all<Wide::f16, Bf8Ocp, Shape::packed, 1, true>;
    case Opcode::v_cvt_scalef32_sr_fp8_bf16:
        return &narrow_all<Wide::bf16, Fp8Ocp, Shape::packed, 1, true>;
    case Opcode::v_cvt_scalef32_sr_bf8_bf16:
        return &narrow_all<Wide::bf16, Bf8Ocp, Shape::packed, 1, true>;
    default:
        return nullptr;
    }
}

Executor narrowing_six_and_four(Opcode op) {
    switch (op) {
    case Opcode::v_cvt_scalef32_pk_fp4_f32:
        return &narrow_all<Wide::f32, Fp4, Shape::pair_of_sources, 2, false>;
    case Opcode::v_cvt_scalef32_pk_fp4_f16:
        return &narrow_all<Wide::f16, Fp4, Shape::packed, 2, false>;
    case Opcode::v_cvt_scalef32_pk_fp4_bf16:
        return &narrow_all<Wide::bf16, Fp4, Shape::packed, 2, false>;
    case Opcode::v_cvt_scalef32_sr_pk_fp4_f32:
        return &narrow_all<Wide::f32, Fp4, Shape::packed, 2, true>;
    case Opcode::v_cvt_scalef32_sr_pk_fp4_f16:
        return &narrow_all<Wide::f16, Fp4, Shape::packed, 2, true>;
    case Opcode::v_cvt_scalef32_sr_pk_fp4_bf16:
        return &narrow_all<Wide::bf16, Fp4, Shape::packed, 2, true>;
    case Opcode::v_cvt_scalef32_2xpk16_fp6_f32:
        return &narrow_all<Wide::f32, Fp6, Shape::interleaved, 32, false>;
    case Opcode::v_cvt_scalef32_2xpk16_bf6_f32:
        return &narrow_all<Wide::f32, Bf6, Shape::interleaved, 32, false>;
    case Opcode::v_cvt_scalef32_pk32_fp6_f16:
        return &narrow_all<Wide::f16, Fp6, Shape::packed, 32, false>;
    case Opcode::v_cvt_scalef32_pk32_fp6_bf16:
        return &narrow_all<Wide::bf16, Fp6, Shape::packed, 32, false>;
    case Opcode::v_cvt_scalef32_pk32_bf6_f16:
        return &narrow_all<Wide::f16, Bf6, Shape::packed, 32, false>;
    case Opcode::v_cvt_scalef32_pk32_bf6_bf16:
        return &narrow_all<Wide::bf16, Bf6, Shape::packed, 32, false>;
    case Opcode::v_cvt_scalef32_sr_pk32_fp6_f32:
        return &narrow_all<Wide::f32, Fp6, Shape::packed, 32, true>;
    case Opcode::v_cvt_scalef32_sr_pk32_bf6_f32:
        return &narrow_all<Wide::f32, Bf6, Shape::packed, 32, true>;
    case Opcode::v_cvt_scalef32_sr_pk32_fp6_f16:
        return &narrow_all<Wide::f16, Fp6, Shape::packed, 32, true>;
    case Opcode::v_cvt_scalef32_sr_pk32_fp6_bf16:
        return &narrow_all<Wide::bf16, Fp6, Shape::packed, 32, true>;
    case Opcode::v_cvt_scalef32_sr_pk32_bf6_f16:
        return &narrow_all<Wide::f16, Bf6, Shape::packed, 32, true>;
    case Opcode::v_cvt_scalef32_sr_pk32_bf6_bf16:
        return &narrow_all<Wide::bf16, Bf6, Shape::packed, 32, true>;
    default:
        return nullptr;
    }
}

Executor widening(Opcode op) {
    switch (op) {
    case Opcode::v_cvt_scalef32_f32_fp8:
        return &widen_all<Fp8Ocp, Wide::f32, 1>;
    case Opcode::v_cvt_scalef32_f32_bf8:
        return &widen_all<Bf8Ocp, Wide::f32, 1>;
    case Opcode::v_cvt_scalef32_f16_fp8:
        return &widen_all<Fp8Ocp, Wide::f16, 1>;
    case Opcode::v_cvt_scalef32_f16_bf8:
        return &widen_all<Bf8Ocp, Wide::f16, 1>;
    case Opcode::v_cvt_scalef32_pk_f32_fp8:
        return &widen_all<Fp8Ocp, Wide::f32, 2>;
    case Opcode::v_cvt_scalef32_pk_f32_bf8:
        return &widen_all<Bf8Ocp, Wide::f32, 2>;
    case Opcode::v_cvt_scalef32_pk_f16_fp8:
        return &widen_all<Fp8Ocp, Wide::f16, 2>;
    case Opcode::v_cvt_scalef32_pk_f16_bf8:
        return &widen_all<Bf8Ocp, Wide::f16, 2>;
    case Opcode::v_cvt_scalef32_pk_bf16_fp8:
        return &widen_all<Fp8Ocp, Wide::bf16, 2>;
    case Opcode::v_cvt_scalef32_pk_bf16_bf8:
        return &widen_all<Bf8Ocp, Wide::bf16, 2>;
    case Opcode::v_cvt_scalef32_pk_f32_fp4:
        return &widen_all<Fp4, Wide::f32, 2>;
    case Opcode::v_cvt_scalef32_pk_f16_fp4:
        return &widen_all<Fp4, Wide::f16, 2>;
    case Opcode::v_cvt_scalef32_pk_bf16_fp4:
        return &widen_all<Fp4, Wide::bf16, 2>;
    case Opcode::v_cvt_scalef32_pk32_f32_fp6:
        return &widen_all<Fp6, Wide::f32, 32>;
    case Opcode::v_cvt_scalef32_pk32_f32_bf6:
        return &widen_all<Bf6, Wide::f32, 32>;
    case Opcode::v_cvt_scalef32_pk32_f16_fp6:
        return &widen_all<Fp6, Wide::f16, 32>;
    case Opcode::v_cvt_scalef32_pk32_bf16_fp6:
        return &widen_all<Fp6, Wide::bf16, 32>;
    case Opcode::v_cvt_scalef32_pk32_f16_bf6:
        return &widen_all<Bf6, Wide::f16, 32>;
    case Opcode::v_cvt_scalef32_pk32_bf16_bf6:
        return &widen_all<Bf6, Wide::bf16, 32>;
    default:
        return nullptr;
    }
}

} // namespace

Executor scaled_conversion_executor(Opcode op) {
    if (const Executor executor = narrowing_eight(op)) {
        return executor;
    }
    if (const Executor executor = narrowing_six_and_four(op)) {
        return executor;
    }
    return widening(op);
}

} // namespace emulator
