// Comparisons: one bit per lane into a scalar register pair; the x forms write EXEC as well.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

void store_comparison(Wave& wave, const Instruction& in, const std::uint8_t* flags, bool to_exec) {
    const u64 mask = gather_bits(flags) & written_lanes(wave, in);
    store_mask(wave, in, mask);
    if (to_exec) {
        wave.set_pair(126, mask);
    }
}

template <class T, auto Function, bool ToExec> void compare(Wave& wave, const Instruction& in) {
    const Input<T> a(wave, in, 0), b(wave, in, 1);
    const Denormals denormals(wave.mode);
    std::uint8_t flags[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        flags[lane] = static_cast<std::uint8_t>(Function(a.load(lane, denormals), b.load(lane, denormals)));
    }
    store_comparison(wave, in, flags, ToExec);
}

template <class T> auto plain(T x) {
    if constexpr (std::is_same_v<T, Half>) {
        return x.value;
    } else {
        return x;
    }
}

template <class T> bool less(T a, T b) {
    return plain(a) < plain(b);
}

template <class T> bool equal(T a, T b) {
    return plain(a) == plain(b);
}

template <class T> bool less_equal(T a, T b) {
    return plain(a) <= plain(b);
}

template <class T> bool greater(T a, T b) {
    return plain(a) > plain(b);
}

template <class T> bool greater_equal(T a, T b) {
    return plain(a) >= plain(b);
}

template <class T> bool unordered(T a, T b) {
    return plain(a) != plain(a) || plain(b) != plain(b);
}

/// Less or greater: false with a NaN.
template <class T> bool different(T a, T b) {
    return plain(a) < plain(b) || plain(a) > plain(b);
}

template <class T, auto Function> bool negated(T a, T b) {
    return !Function(a, b);
}

template <class T> bool never(T, T) {
    return false;
}

template <class T> bool always(T, T) {
    return true;
}

/// The class of a value as the number of its bit: NaNs, infinities, normals, denormals, zeros, by sign.
template <int ExponentBits, int MantissaBits> unsigned class_of(u64 bits) {
    const bool negative = ((bits >> (ExponentBits + MantissaBits)) & 1) != 0;
    const u64 exponent = (bits >> MantissaBits) & ((1u << ExponentBits) - 1);
    const u64 fraction = bits & ((u64{1} << MantissaBits) - 1);
    if (exponent == (1u << ExponentBits) - 1) {
        if (fraction != 0) {
            return (fraction >> (MantissaBits - 1)) != 0 ? 1 : 0;
        }
        return negative ? 2 : 9;
    }
    if (exponent != 0) {
        return negative ? 3 : 8;
    }
    if (fraction != 0) {
        return negative ? 4 : 7;
    }
    return negative ? 5 : 6;
}

template <class T, int ExponentBits, int MantissaBits, bool ToExec> void compare_class(Wave& wave, const Instruction& in) {
    const Input<T> value(wave, in, 0);
    const Input<u32> classes(wave, in, 1);
    const Denormals denormals(wave.mode);
    std::uint8_t flags[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        u64 bits;
        if constexpr (std::is_same_v<T, HalfBits>) {
            bits = value.load(lane, denormals).bits;
        } else {
            bits = value.load(lane, denormals);
        }
        flags[lane] = static_cast<std::uint8_t>((classes.load(lane, denormals) >> class_of<ExponentBits, MantissaBits>(bits)) & 1u);
    }
    store_comparison(wave, in, flags, ToExec);
}

// One case for the plain form of a comparison and one for the form that writes EXEC.
#define COMPARISON(name, T, ...)                                                                                                           \
    case Opcode::v_cmp_##name:                                                                                                             \
        return &compare<T, __VA_ARGS__, false>;                                                                                            \
    case Opcode::v_cmpx_##name:                                                                                                            \
        return &compare<T, __VA_ARGS__, true>;

#define FLOAT_COMPARISONS(name, T)                                                                                                         \
    COMPARISON(f_##name, T, &never<T>)                                                                                                     \
    COMPARISON(lt_##name, T, &less<T>)                                                                                                     \
    COMPARISON(eq_##name, T, &equal<T>)                                                                                                    \
    COMPARISON(le_##name, T, &less_equal<T>)                                                                                               \
    COMPARISON(gt_##name, T, &greater<T>)                                                                                                  \
    COMPARISON(lg_##name, T, &different<T>)                                                                                                \
    COMPARISON(ge_##name, T, &greater_equal<T>)                                                                                            \
    COMPARISON(o_##name, T, (&negated<T, &unordered<T>>))                                                                                  \
    COMPARISON(u_##name, T, &unordered<T>)                                                                                                 \
    COMPARISON(nge_##name, T, (&negated<T, &greater_equal<T>>))                                                                            \
    COMPARISON(nlg_##name, T, (&negated<T, &different<T>>))                                                                                \
    COMPARISON(ngt_##name, T, (&negated<T, &greater<T>>))                                                                                  \
    COMPARISON(nle_##name, T, (&negated<T, &less_equal<T>>))                                                                               \
    COMPARISON(neq_##name, T, (&negated<T, &equal<T>>))                                                                                    \
    COMPARISON(nlt_##name, T, (&negated<T, &less<T>>))                                                                                     \
    COMPARISON(tru_##name, T, &always<T>)

#define INTEGER_COMPARISONS(name, T)                                                                                                       \
    COMPARISON(f_##name, T, &never<T>)                                                                                                     \
    COMPARISON(lt_##name, T, &less<T>)                                                                                                     \
    COMPARISON(eq_##name, T, &equal<T>)                                                                                                    \
    COMPARISON(le_##name, T, &less_equal<T>)                                                                                               \
    COMPARISON(gt_##name, T, &greater<T>)                                                                                                  \
    COMPARISON(ne_##name, T, (&negated<T, &equal<T>>))                                                                                     \
    COMPARISON(ge_##name, T, &greater_equal<T>)                                                                                            \
    COMPARISON(t_##name, T, &always<T>)

#define CLASS_COMPARISONS(name, T, exponent_bits, mantissa_bits)                                                                           \
    case Opcode::v_cmp_class_##name:                                                                                                       \
        return &compare_class<T, exponent_bits, mantissa_bits, false>;                                                                     \
    case Opcode::v_cmpx_class_##name:                                                                                                      \
        return &compare_class<T, exponent_bits, mantissa_bits, true>;

} // namespace

Executor comparison_executor(Opcode op) {
    switch (op) {
        FLOAT_COMPARISONS(f16, Half)
        FLOAT_COMPARISONS(f32, float)
        FLOAT_COMPARISONS(f64, double)
        INTEGER_COMPARISONS(i16, i16)
        INTEGER_COMPARISONS(u16, u16)
        INTEGER_COMPARISONS(i32, i32)
        INTEGER_COMPARISONS(u32, u32)
        INTEGER_COMPARISONS(i64, i64)
        INTEGER_COMPARISONS(u64, u64)
        CLASS_COMPARISONS(f16, HalfBits, 5, 10)
        CLASS_COMPARISONS(f32, u32, 8, 23)
        CLASS_COMPARISONS(f64, u64, 11, 52)
    default:
        return nullptr;
    }
}

#undef COMPARISON
#undef FLOAT_COMPARISONS
#undef INTEGER_COMPARISONS
#undef CLASS_COMPARISONS

} // namespace emulator
