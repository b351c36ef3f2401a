// Executors made from a function on one lane's values. The types of the function say how operands are read and the result is written:
// integers as they are; float, Half and double with the denormal mode, NaN propagation, output modifiers and clamp of the instruction.
#pragma once

#include "lane_values.hpp"

namespace emulator {

/// The bits of the first NaN among the operands, quieted, or the default NaN.
inline std::uint32_t first_nan32() {
    return kQuietNan32;
}

template <class T, class... Rest> inline std::uint32_t first_nan32(T operand, Rest... rest) {
    const std::uint32_t later = first_nan32(rest...);
    if constexpr (std::is_same_v<T, float>) {
        return is_nan32(bits_of(operand)) ? bits_of(operand) | 0x00400000u : later;
    } else if constexpr (std::is_same_v<T, Half>) {
        return is_nan32(bits_of(operand.value)) ? bits_of(operand.value) | 0x00400000u : later;
    } else {
        return later;
    }
}

inline std::uint64_t first_nan64() {
    return kQuietNan64;
}

template <class T, class... Rest> inline std::uint64_t first_nan64(T operand, Rest... rest) {
    const std::uint64_t later = first_nan64(rest...);
    if constexpr (std::is_same_v<T, double>) {
        return is_nan64(bits_of(operand)) ? bits_of(operand) | 0x0008000000000000ull : later;
    } else {
        return later;
    }
}

/// What a NaN result is must not depend on how the host orders its operands: it is the first NaN operand, or the default NaN.
template <class R, class... A> inline R settle(R result, A... operands) {
    if constexpr (std::is_same_v<R, float>) {
        return is_nan32(bits_of(result)) ? float_of(first_nan32(operands...)) : result;
    } else if constexpr (std::is_same_v<R, Half>) {
        return {is_nan32(bits_of(result.value)) ? float_of(first_nan32(operands...)) : result.value};
    } else if constexpr (std::is_same_v<R, WideHalf>) {
        return {is_nan64(bits_of(result.value)) ? static_cast<double>(float_of(first_nan32(operands...))) : result.value};
    } else if constexpr (std::is_same_v<R, double>) {
        return is_nan64(bits_of(result)) ? double_of(first_nan64(operands...)) : result;
    } else {
        return result;
    }
}

template <auto Function, Placement Where, class Signature> struct LanewiseOf;

template <auto Function, Placement Where, class R, class... A> struct LanewiseOf<Function, Where, R (*)(A...)> {
    static void run(Wave& wave, const Instruction& in) {
        [&]<int... N>(std::integer_sequence<int, N...>) {
            apply(wave, in, Input<A>(wave, in, N)...);
        }(std::make_integer_sequence<int, sizeof...(A)>{});
    }

    template <class... I> static void apply(Wave& wave, const Instruction& in, const I&... inputs) {
        const Denormals denormals(wave.mode);
        typename ResultOf<R, Where>::type result;
        for (int lane = 0; lane < kLanes; ++lane) {
            result.set(lane, evaluate(inputs.load(lane, denormals)...));
        }
        if constexpr (rounds_to_half<R>) {
            if (wave.mode.half_overflow_clamps) [[unlikely]] {
                for (int lane = 0; lane < kLanes; ++lane) {
                    result.set(lane, kept_finite(evaluate(inputs.load(lane, denormals)...)));
                }
            }
        }
        result.finish(wave, in, denormals);
    }

    static R evaluate(A... operands) {
        return settle<R>(Function(operands...), operands...);
    }
};

/// Functions that need the mode take it first.
template <auto Function, Placement Where, class R, class... A> struct LanewiseOf<Function, Where, R (*)(const Mode&, A...)> {
    static void run(Wave& wave, const Instruction& in) {
        [&]<int... N>(std::integer_sequence<int, N...>) {
            apply(wave, in, Input<A>(wave, in, N)...);
        }(std::make_integer_sequence<int, sizeof...(A)>{});
    }

    template <class... I> static void apply(Wave& wave, const Instruction& in, const I&... inputs) {
        const Denormals denormals(wave.mode);
        Mode mode = wave.mode;
        typename ResultOf<R, Where>::type result;
        // Once with either value of the flag that most of these functions ask for, so that the loop does not.
        if (wave.mode.ieee) {
            mode.ieee = true;
            loop(mode, denormals, result, inputs...);
        } else {
            mode.ieee = false;
            loop(mode, denormals, result, inputs...);
        }
        result.finish(wave, in, denormals);
    }

    template <class Out, class... I>
    [[gnu::always_inline]] static void loop(const Mode mode, const Denormals& denormals, Out& result, const I&... inputs) {
        for (int lane = 0; lane < kLanes; ++lane) {
            result.set(lane, settle<R>(Function(mode, inputs.load(lane, denormals)...)));
        }
    }
};

template <auto Function, Placement Where = Placement::low_zeroing>
inline constexpr Executor lanewise = &LanewiseOf<Function, Where, decltype(Function)>::run;

/// With the clamp bit an integer operation saturates: two functions, one executor.
template <auto Wrapping, auto Saturating, Placement Where> void run_saturable(Wave& wave, const Instruction& in) {
    in.clamp ? lanewise<Saturating, Where>(wave, in) : lanewise<Wrapping, Where>(wave, in);
}

template <auto Wrapping, auto Saturating, Placement Where = Placement::low_zeroing>
inline constexpr Executor saturable = &run_saturable<Wrapping, Saturating, Where>;

} // namespace emulator
