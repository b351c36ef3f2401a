// One lane's values of a vector instruction: how operands of each type are read and results are written.
#pragma once

#include "../numerics/half.hpp"
#include "operands.hpp"
#include <type_traits>
#include <utility>

namespace emulator {

/// A half as an operand or a result: rounded to half once, when stored.
struct Half {
    float value;
};

/// A result of 16 bits computed in double, rounded to half once.
struct WideHalf {
    double value;
};

/// FP16_OVFL: what a finite value that is too large becomes. Infinities stay.
inline float largest_half(float x) {
    constexpr float kLargest = 65504.0f;
    const float bounded = x > kLargest ? kLargest : x < -kLargest ? -kLargest : x;
    return (bits_of(x) & 0x7fffffffu) == 0x7f800000u ? x : bounded;
}

inline Half kept_finite(Half x) {
    return {largest_half(x.value)};
}

inline WideHalf kept_finite(WideHalf x) {
    const double magnitude = __builtin_fabs(x.value);
    const bool overflows = magnitude > 65504.0 && magnitude < __builtin_inf();
    return {overflows ? __builtin_copysign(65504.0, x.value) : x.value};
}

template <class R> inline constexpr bool rounds_to_half = std::is_same_v<R, Half> || std::is_same_v<R, WideHalf>;

/// A float chosen among the operands (min, max): no NaN is made here.
struct Chosen {
    std::uint32_t bits;
};

struct ChosenHalf {
    float value;
};

struct Chosen64 {
    std::uint64_t bits;
};

/// A half result of raw bits.
struct HalfBits {
    std::uint32_t bits;
};

/// Two registers that are not one number.
struct Pair {
    std::uint32_t low, high;
};

/// Which denormals survive, as thresholds for flush32 and flush64.
struct Denormals {
    std::uint32_t in32, out32, in16, out16;
    std::uint64_t in64, out64;

    explicit Denormals(const Mode& mode)
        : in32((mode.denorm32 & 1) != 0 ? 0 : kLeastNormal32), out32((mode.denorm32 & 2) != 0 ? 0 : kLeastNormal32),
          in16((mode.denorm16_64 & 1) != 0 ? 0 : kLeastNormal16), out16((mode.denorm16_64 & 2) != 0 ? 0 : kLeastNormal16),
          in64((mode.denorm16_64 & 1) != 0 ? 0 : kLeastNormal64), out64((mode.denorm16_64 & 2) != 0 ? 0 : kLeastNormal64) {}
};

template <class T> struct Carrier;

template <Reading How> struct OneWord {
    static constexpr int words = 1;
    static constexpr Reading reading = How;
};

template <Reading How> struct TwoWords {
    static constexpr int words = 2;
    static constexpr Reading reading = How;
};

inline std::uint64_t joined(const std::uint32_t* const* rows, int lane) {
    return rows[0][lane] | (std::uint64_t{rows[1][lane]} << 32);
}

template <> struct Carrier<std::uint32_t> : OneWord<Reading::bits32> {
    static std::uint32_t load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return rows[0][lane];
    }
};

template <> struct Carrier<std::int32_t> : OneWord<Reading::bits32> {
    static std::int32_t load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return static_cast<std::int32_t>(rows[0][lane]);
    }
};

template <> struct Carrier<std::uint16_t> : OneWord<Reading::half> {
    static std::uint16_t load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return static_cast<std::uint16_t>(rows[0][lane]);
    }
};

template <> struct Carrier<std::int16_t> : OneWord<Reading::half> {
    static std::int16_t load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return static_cast<std::int16_t>(rows[0][lane]);
    }
};

template <> struct Carrier<HalfBits> : OneWord<Reading::half> {
    static HalfBits load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return {rows[0][lane] & 0xffffu};
    }
};

template <> struct Carrier<Half> : OneWord<Reading::half> {
    static Half load(const std::uint32_t* const* rows, int lane, const Denormals& denormals) {
        const std::uint32_t bits = rows[0][lane] & 0xffffu;
        return {half_to_float((bits & 0x7fffu) < denormals.in16 ? bits & 0x8000u : bits)};
    }
};

template <> struct Carrier<float> : OneWord<Reading::bits32> {
    static float load(const std::uint32_t* const* rows, int lane, const Denormals& denormals) {
        return float_of(flush32(rows[0][lane], denormals.in32));
    }
};

template <> struct Carrier<std::uint64_t> : TwoWords<Reading::bits64> {
    static std::uint64_t load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return joined(rows, lane);
    }
};

template <> struct Carrier<std::int64_t> : TwoWords<Reading::bits64> {
    static std::int64_t load(const std::uint32_t* const* rows, int lane, const Denormals&) {
        return static_cast<std::int64_t>(joined(rows, lane));
    }
};

template <> struct Carrier<double> : TwoWords<Reading::bits64> {
    static double load(const std::uint32_t* const* rows, int lane, const Denormals& denormals) {
        return double_of(flush64(joined(rows, lane), denormals.in64));
    }
};

/// One source operand across the wave.
template <class T> struct Input {
    Row buffers[Carrier<T>::words];
    const std::uint32_t* rows[Carrier<T>::words];

    Input(Wave& wave, const Instruction& in, int n) {
        for (int word = 0; word < Carrier<T>::words; ++word) {
            rows[word] = fetch(wave, in, n, word, Carrier<T>::reading, buffers[word]);
        }
    }

    Input(const Input&) = delete;

    T load(int lane, const Denormals& denormals) const {
        return Carrier<T>::load(rows, lane, denormals);
    }
};

/// Output modifiers of float results: omod, then clamp to 0..1.
void modify32(const Wave& wave, const Instruction& in, Row& row);
void modify16(const Wave& wave, const Instruction& in, Row& row);
void modify64(const Wave& wave, const Instruction& in, Row& low, Row& high);
/// The rounding modes other than to nearest even are not modelled: a float operation under one is a fault.
void check_rounding(Wave& wave, bool single);

template <class T> struct Result;

template <class T> struct RawResult {
    Row row;

    void finish(Wave& wave, const Instruction& in, const Denormals&) {
        store(wave, in, 0, row);
    }
};

template <> struct Result<std::uint32_t> : RawResult<std::uint32_t> {
    void set(int lane, std::uint32_t value) {
        row.lane[lane] = value;
    }
};

template <> struct Result<std::int32_t> : RawResult<std::int32_t> {
    void set(int lane, std::int32_t value) {
        row.lane[lane] = static_cast<std::uint32_t>(value);
    }
};

struct FloatResult {
    Row row;

    void finish(Wave& wave, const Instruction& in, const Denormals& denormals) {
        for (std::uint32_t& lane : row.lane) {
            lane = flush32(lane, denormals.out32);
        }
        if (in.clamp || in.omod != 0) [[unlikely]] {
            modify32(wave, in, row);
        }
        if (wave.mode.round32 != 0) [[unlikely]] {
            check_rounding(wave, true);
        }
        store(wave, in, 0, row);
    }
};

template <> struct Result<float> : FloatResult {
    void set(int lane, float value) {
        row.lane[lane] = bits_of(value);
    }
};

template <> struct Result<Chosen> : FloatResult {
    void set(int lane, Chosen value) {
        row.lane[lane] = value.bits;
    }
};

template <Placement Where> struct ShortResult {
    Row row;

    void finish(Wave& wave, const Instruction& in, const Denormals&) {
        store_slow(wave, in, 0, Where, row);
    }
};

template <Placement Where> struct HalfResult {
    Row row;

    void finish(Wave& wave, const Instruction& in, const Denormals& denormals) {
        for (std::uint32_t& lane : row.lane) {
            lane = (lane & 0x7fffu) < denormals.out16 ? lane & 0x8000u : lane;
        }
        if (in.clamp || in.omod != 0) [[unlikely]] {
            modify16(wave, in, row);
        }
        check_rounding(wave, false);
        store_slow(wave, in, 0, Where, row);
    }
};

template <class T, Placement Where> struct PlacedResult;

template <Placement Where> struct PlacedResult<std::uint16_t, Where> : ShortResult<Where> {
    void set(int lane, std::uint16_t value) {
        this->row.lane[lane] = value;
    }
};

template <Placement Where> struct PlacedResult<std::int16_t, Where> : ShortResult<Where> {
    void set(int lane, std::int16_t value) {
        this->row.lane[lane] = static_cast<std::uint16_t>(value);
    }
};

template <Placement Where> struct PlacedResult<HalfBits, Where> : ShortResult<Where> {
    void set(int lane, HalfBits value) {
        this->row.lane[lane] = value.bits;
    }
};

template <Placement Where> struct PlacedResult<Half, Where> : HalfResult<Where> {
    void set(int lane, Half value) {
        this->row.lane[lane] = float_to_half(value.value);
    }
};

template <Placement Where> struct PlacedResult<WideHalf, Where> : HalfResult<Where> {
    void set(int lane, WideHalf value) {
        this->row.lane[lane] = double_to_half(value.value);
    }
};

template <Placement Where> struct PlacedResult<ChosenHalf, Where> : HalfResult<Where> {
    void set(int lane, ChosenHalf value) {
        this->row.lane[lane] = float_to_half(value.value);
    }
};

struct LongResult {
    Row low, high;

    void finish(Wave& wave, const Instruction& in, const Denormals&) {
        store(wave, in, 0, low);
        store(wave, in, 1, high);
    }

    void put(int lane, std::uint64_t value) {
        low.lane[lane] = static_cast<std::uint32_t>(value);
        high.lane[lane] = static_cast<std::uint32_t>(value >> 32);
    }
};

template <> struct Result<std::uint64_t> : LongResult {
    void set(int lane, std::uint64_t value) {
        put(lane, value);
    }
};

template <> struct Result<std::int64_t> : LongResult {
    void set(int lane, std::int64_t value) {
        put(lane, static_cast<std::uint64_t>(value));
    }
};

template <> struct Result<Pair> : LongResult {
    void set(int lane, Pair value) {
        low.lane[lane] = value.low;
        high.lane[lane] = value.high;
    }
};

struct DoubleResult : LongResult {
    void finish(Wave& wave, const Instruction& in, const Denormals& denormals) {
        for (int lane = 0; lane < kLanes; ++lane) {
            put(lane, flush64(low.lane[lane] | (std::uint64_t{high.lane[lane]} << 32), denormals.out64));
        }
        if (in.clamp || in.omod != 0) [[unlikely]] {
            modify64(wave, in, low, high);
        }
        check_rounding(wave, false);
        LongResult::finish(wave, in, denormals);
    }
};

template <> struct Result<double> : DoubleResult {
    void set(int lane, double value) {
        put(lane, bits_of(value));
    }
};

template <> struct Result<Chosen64> : DoubleResult {
    void set(int lane, Chosen64 value) {
        put(lane, value.bits);
    }
};

template <class T, Placement Where> struct ResultOf {
    using type = Result<T>;
};

template <class T, Placement Where>
    requires requires { sizeof(PlacedResult<T, Where>); }
struct ResultOf<T, Where> {
    using type = PlacedResult<T, Where>;
};

} // namespace emulator
