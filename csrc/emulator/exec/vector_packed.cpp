// Packed operations (VOP3P): two halves or two floats at once, and multiply-adds of mixed precision.
#include "../numerics/fused.hpp"
#include "float_functions.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i16 = std::int16_t;
using i32 = std::int32_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

/// One half of a source: picked by op_sel for the low result and op_sel_hi for the high one, negated by neg and neg_hi.
struct HalfSource {
    const u32* row;
    unsigned shift;
    u32 flip;

    u32 at(int lane) const {
        return ((row[lane] >> shift) ^ flip) & 0xffffu;
    }
};

HalfSource half_source(const Instruction& in, const u32* row, int n, bool high) {
    const unsigned select = high ? in.op_sel_hi : in.op_sel;
    const unsigned negate = high ? in.neg_hi : in.neg;
    return {row, ((select >> n) & 1) != 0 ? 16u : 0u, ((negate >> n) & 1) != 0 ? 0x8000u : 0u};
}

template <class T> T from_half(u32 bits, const Denormals& denormals) {
    const u32* row = &bits;
    return Carrier<T>::load(&row, 0, denormals);
}

template <class R> u32 to_half(R value, const Denormals& denormals) {
    PlacedResult<R, Placement::low_zeroing> result;
    result.set(0, value);
    const u32 bits = result.row.lane[0] & 0xffffu;
    if constexpr (std::is_same_v<R, u16> || std::is_same_v<R, i16>) {
        return bits;
    } else {
        return (bits & 0x7fffu) < denormals.out16 ? bits & 0x8000u : bits;
    }
}

template <auto Function, class Signature> struct PackedHalves;

template <auto Function, class R, class... A> struct PackedHalves<Function, R (*)(const Mode&, A...)> {
    static constexpr bool real = !std::is_same_v<R, u16> && !std::is_same_v<R, i16>;

    static void run(Wave& wave, const Instruction& in) {
        Row buffers[3], result, high_row;
        const u32* rows[3] = {};
        for (int n = 0; n < static_cast<int>(sizeof...(A)); ++n) {
            rows[n] = fetch_raw(wave, in, n, 0, buffers[n]);
        }
        compute(wave, in, rows, false, result);
        compute(wave, in, rows, true, high_row);
        if (real && in.clamp) {
            modify16(wave, in, result);
            modify16(wave, in, high_row);
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            result.lane[lane] |= high_row.lane[lane] << 16;
        }
        if constexpr (real) {
            check_rounding(wave, false);
        }
        store(wave, in, 0, result);
    }

    static void compute(const Wave& wave, const Instruction& in, const u32* const* rows, bool high, Row& out) {
        [&]<int... N>(std::integer_sequence<int, N...>) {
            const HalfSource sources[] = {half_source(in, rows[N], N, high)...};
            const Denormals denormals(wave.mode);
            const Mode mode = wave.mode;
            for (int lane = 0; lane < kLanes; ++lane) {
                out.lane[lane] = to_half(apply(mode, from_half<A>(sources[N].at(lane), denormals)...), denormals);
            }
        }(std::make_integer_sequence<int, sizeof...(A)>{});
    }

    static R apply(const Mode& mode, A... operands) {
        const R result = settle<R>(Function(mode, operands...), operands...);
        if constexpr (rounds_to_half<R>) {
            return mode.half_overflow_clamps ? kept_finite(result) : result;
        }
        return result;
    }
};

template <auto Function> inline constexpr Executor packed = &PackedHalves<Function, decltype(Function)>::run;

template <auto Wrapping, auto Saturating> void run_packed_saturable(Wave& wave, const Instruction& in) {
    in.clamp ? packed<Saturating>(wave, in) : packed<Wrapping>(wave, in);
}

template <auto Wrapping, auto Saturating> inline constexpr Executor packed_saturable = &run_packed_saturable<Wrapping, Saturating>;

u16 limited(i32 x) {
    return static_cast<u16>(x > 0x7fff ? 0x7fff : x < -0x8000 ? -0x8000 : x);
}

u16 limited_unsigned(std::int64_t x) {
    return static_cast<u16>(x > 0xffff ? 0xffff : x < 0 ? 0 : x);
}

u16 low(i32 x) {
    return static_cast<u16>(x);
}

WideHalf fused_half(const Mode&, Half a, Half b, Half c) {
    return {static_cast<double>(a.value * b.value) + static_cast<double>(c.value)};
}

template <bool Greater> ChosenHalf select_half(const Mode& mode, Half a, Half b) {
    return {float_of(pick32<Greater>(mode.ieee, bits_of(a.value), bits_of(b.value)))};
}

template <bool Greater> ChosenHalf extreme_half(const Mode&, Half a, Half b, Half c) {
    return {extreme32<Greater>(extreme32<Greater>(a.value, b.value), c.value)};
}

Executor packed_integers(Opcode op) {
    switch (op) {
    case Opcode::v_pk_mad_i16:
        return packed_saturable<+[](const Mode&, i16 a, i16 b, i16 c) { return low(a * b + c); },
                                +[](const Mode&, i16 a, i16 b, i16 c) { return limited(a * b + c); }>;
    case Opcode::v_pk_mad_u16:
        return packed_saturable<+[](const Mode&, u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); },
                                +[](const Mode&, u16 a, u16 b, u16 c) { return limited_unsigned(std::int64_t{a} * b + c); }>;
    case Opcode::v_pk_mul_lo_u16:
        return packed<+[](const Mode&, u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>;
    case Opcode::v_pk_add_i16:
        return packed_saturable<+[](const Mode&, i16 a, i16 b) { return low(a + b); },
                                +[](const Mode&, i16 a, i16 b) { return limited(a + b); }>;
    case Opcode::v_pk_sub_i16:
        return packed_saturable<+[](const Mode&, i16 a, i16 b) { return low(a - b); },
                                +[](const Mode&, i16 a, i16 b) { return limited(a - b); }>;
    case Opcode::v_pk_add_u16:
        return packed_saturable<+[](const Mode&, u16 a, u16 b) { return low(a + b); },
                                +[](const Mode&, u16 a, u16 b) { return limited_unsigned(a + b); }>;
    case Opcode::v_pk_sub_u16:
        return packed_saturable<+[](const Mode&, u16 a, u16 b) { return low(a - b); },
                                +[](const Mode&, u16 a, u16 b) { return limited_unsigned(a - b); }>;
    case Opcode::v_pk_lshlrev_b16:
        return packed<+[](const Mode&, u16 a, u16 b) { return low(b << (a & 15)); }>;
    case Opcode::v_pk_lshrrev_b16:
        return packed<+[](const Mode&, u16 a, u16 b) { return low(b >> (a & 15)); }>;
    case Opcode::v_pk_ashrrev_i16:
        return packed<+[](const Mode&, u16 a, i16 b) { return low(b >> (a & 15)); }>;
    case Opcode::v_pk_max_i16:
        return packed<+[](const Mode&, i16 a, i16 b) { return a > b ? a : b; }>;
    case Opcode::v_pk_min_i16:
        return packed<+[](const Mode&, i16 a, i16 b) { return a < b ? a : b; }>;
    case Opcode::v_pk_max_u16:
        return packed<+[](const Mode&, u16 a, u16 b) { return a > b ? a : b; }>;
    case Opcode::v_pk_min_u16:
        return packed<+[](const Mode&, u16 a, u16 b) { return a < b ? a : b; }>;
    default:
        return nullptr;
    }
}

Executor packed_halves(Opcode op) {
    switch (op) {
    case Opcode::v_pk_fma_f16:
    case Opcode::v_pk_fmac_f16:
        return packed<&fused_half>;
    case Opcode::v_pk_add_f16:
        return packed<+[](const Mode&, Half a, Half b) { return Half{a.value + b.value}; }>;
    case Opcode::v_pk_mul_f16:
        return packed<+[](const Mode&, Half a, Half b) { return Half{a.value * b.value}; }>;
    case Opcode::v_pk_min_f16:
        return packed<&select_half<false>>;
    case Opcode::v_pk_max_f16:
        return packed<&select_half<true>>;
    case Opcode::v_pk_minimum3_f16:
        return packed<&extreme_half<false>>;
    case Opcode::v_pk_maximum3_f16:
        return packed<&extreme_half<true>>;
    default:
        return nullptr;
    }
}

/// The word of a two-register source that a result takes.
const u32* float_word(Wave& wave, const Instruction& in, int n, bool high, Row& buffer) {
    const unsigned select = ((high ? in.op_sel_hi : in.op_sel) >> n) & 1u;
    return fetch_raw(wave, in, n, static_cast<int>(select), buffer);
}

template <int Sources, auto Function> void packed_floats(Wave& wave, const Instruction& in) {
    const Denormals denormals(wave.mode);
    Row results[2];
    for (int word = 0; word < 2; ++word) {
        Row buffers[3];
        const u32* rows[3];
        u32 flips[3];
        for (int n = 0; n < 3; ++n) {
            rows[n] = n < Sources ? float_word(wave, in, n, word == 1, buffers[n]) : buffers[n].lane;
            flips[n] = (((word == 1 ? in.neg_hi : in.neg) >> n) & 1) != 0 ? 0x80000000u : 0u;
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            const float a = float_of(flush32(rows[0][lane] ^ flips[0], denormals.in32));
            const float b = float_of(flush32(rows[1][lane] ^ flips[1], denormals.in32));
            float value;
            if constexpr (Sources == 3) {
                const float c = float_of(flush32(rows[2][lane] ^ flips[2], denormals.in32));
                value = settle<float>(Function(a, b, c), a, b, c);
            } else {
                value = settle<float>(Function(a, b), a, b);
            }
            results[word].lane[lane] = flush32(bits_of(value), denormals.out32);
        }
    }
    for (int word = 0; word < 2; ++word) {
        if (in.clamp) {
            modify32(wave, in, results[word]);
        }
        store(wave, in, word, results[word]);
    }
    if (wave.mode.round32 != 0) {
        check_rounding(wave, true);
    }
}

void packed_move(Wave& wave, const Instruction& in) {
    Row buffers[2], results[2];
    for (int n = 0; n < 2; ++n) {
        const int word = (in.op_sel >> n) & 1;
        __builtin_memcpy(results[n].lane, fetch_raw(wave, in, n, word, buffers[n]), sizeof results[n].lane);
    }
    store(wave, in, 0, results[0]);
    store(wave, in, 1, results[1]);
}

enum class MixResult : std::uint8_t { single, low, high };

/// fma of floats and halves: op_sel_hi says that a source is a half, op_sel which.
template <MixResult Where> void mixed(Wave& wave, const Instruction& in) {
    const Denormals denormals(wave.mode);
    float values[3][kLanes];
    for (int n = 0; n < 3; ++n) {
        Row buffer;
        const bool half = ((in.op_sel_hi >> n) & 1) != 0;
        const u32* row = fetch_raw(wave, in, n, 0, buffer);
        const unsigned shift = ((in.op_sel >> n) & 1) != 0 ? 16 : 0;
        const u32 keep = ((in.abs >> n) & 1) != 0 ? 0x7fffffffu : ~0u;
        const u32 flip = ((in.neg >> n) & 1) != 0 ? 0x80000000u : 0u;
        for (int lane = 0; lane < kLanes; ++lane) {
            const float value =
                half ? from_half<Half>((row[lane] >> shift) & 0xffffu, denormals).value : float_of(flush32(row[lane], denormals.in32));
            values[n][lane] = float_of((bits_of(value) & keep) ^ flip);
        }
    }
    Result<float> single;
    for (int lane = 0; lane < kLanes; ++lane) {
        const float a = values[0][lane], b = values[1][lane], c = values[2][lane];
        single.set(lane, settle<float>(fused32(a, b, c), a, b, c));
    }
    if constexpr (Where == MixResult::single) {
        single.finish(wave, in, denormals);
    } else {
        Row result, placed;
        const u32* old = wave.v[in.dst.index];
        for (int lane = 0; lane < kLanes; ++lane) {
            const float value = float_of(flush32(single.row.lane[lane], denormals.out32));
            const u32 half = float_to_half(wave.mode.half_overflow_clamps ? largest_half(value) : value);
            result.lane[lane] = (half & 0x7fffu) < denormals.out16 ? half & 0x8000u : half;
        }
        if (in.clamp) {
            modify16(wave, in, result);
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            placed.lane[lane] =
                Where == MixResult::low ? (old[lane] & 0xffff0000u) | result.lane[lane] : (old[lane] & 0xffffu) | (result.lane[lane] << 16);
        }
        check_rounding(wave, true);
        store(wave, in, 0, placed);
    }
}

} // namespace

Executor packed_executor(Opcode op) {
    switch (op) {
    case Opcode::v_pk_fma_f32:
        return &packed_floats<3, &fused32>;
    case Opcode::v_pk_mul_f32:
        return &packed_floats<2, +[](float a, float b) { return a * b; }>;
    case Opcode::v_pk_add_f32:
        return &packed_floats<2, +[](float a, float b) { return a + b; }>;
    case Opcode::v_pk_mov_b32:
        return &packed_move;
    case Opcode::v_fma_mix_f32:
        return &mixed<MixResult::single>;
    case Opcode::v_fma_mixlo_f16:
        return &mixed<MixResult::low>;
    case Opcode::v_fma_mixhi_f16:
        return &mixed<MixResult::high>;
    default:
        break;
    }
    const Executor executor = packed_integers(op);
    return executor != nullptr ? executor : packed_halves(op);
}

} // namespace emulator
