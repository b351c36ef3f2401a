// The arithmetic of atomics: what replaces the old value.
#pragma once

#include "../numerics/half.hpp"

#include <cstdint>

namespace emulator {

enum class AtomicOp : std::uint8_t {
    swap,
    compare_swap,
    compare_swap_float, // equality of floats: 0 equals -0
    add,
    sub,
    reverse_sub,
    signed_min,
    unsigned_min,
    signed_max,
    unsigned_max,
    bit_and,
    bit_or,
    bit_xor,
    masked_or, // clears the bits of the first operand, then sets those of the second
    increment, // wraps to 0 at the operand
    decrement, // wraps to the operand at 0
    wrap,
    add_float,
    min_float,
    max_float,
    add_halves,
    add_bfloats,
};

namespace atomic_detail {

template <typename T> struct Kinds;

template <> struct Kinds<std::uint32_t> {
    using Signed = std::int32_t;
    using Float = float;
};

template <> struct Kinds<std::uint64_t> {
    using Signed = std::int64_t;
    using Float = double;
};

template <typename T> typename Kinds<T>::Float as_float(T value) {
    return __builtin_bit_cast(typename Kinds<T>::Float, value);
}

template <typename T> T float_choice(T old, T operand, bool smallest) {
    const auto a = as_float(old);
    const auto b = as_float(operand);
    if (a != a) {
        return operand;
    }
    if (b != b) {
        return old;
    }
    if (a == b) { // -0 counts as less than 0
        return smallest ? (old | operand) : (old & operand);
    }
    return (a < b) == smallest ? old : operand;
}

inline std::uint32_t add_pair(std::uint32_t a, std::uint32_t b, bool half) {
    std::uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const std::uint32_t x = a >> shift & 0xffff;
        const std::uint32_t y = b >> shift & 0xffff;
        const std::uint32_t sum =
            half ? float_to_half(half_to_float(x) + half_to_float(y)) : float_to_bfloat(bfloat_to_float(x) + bfloat_to_float(y));
        result |= (sum & 0xffff) << shift;
    }
    return result;
}

} // namespace atomic_detail

/// `operand` is the first data operand of the operation; `other` the value compared with (compare_swap), the bits to set
/// (masked_or) or what is added after a wrap.
template <typename T> T atomic_result(AtomicOp op, T old, T operand, T other) {
    using Signed = typename atomic_detail::Kinds<T>::Signed;
    const auto s_old = static_cast<Signed>(old);
    const auto s_operand = static_cast<Signed>(operand);
    switch (op) {
    case AtomicOp::swap:
        return operand;
    case AtomicOp::compare_swap:
        return old == other ? operand : old;
    case AtomicOp::compare_swap_float:
        return atomic_detail::as_float(old) == atomic_detail::as_float(other) ? operand : old;
    case AtomicOp::add:
        return old + operand;
    case AtomicOp::sub:
        return old - operand;
    case AtomicOp::reverse_sub:
        return operand - old;
    case AtomicOp::signed_min:
        return s_old < s_operand ? old : operand;
    case AtomicOp::unsigned_min:
        return old < operand ? old : operand;
    case AtomicOp::signed_max:
        return s_old > s_operand ? old : operand;
    case AtomicOp::unsigned_max:
        return old > operand ? old : operand;
    case AtomicOp::bit_and:
        return old & operand;
    case AtomicOp::bit_or:
        return old | operand;
    case AtomicOp::bit_xor:
        return old ^ operand;
    case AtomicOp::masked_or:
        return (old & ~operand) | other;
    case AtomicOp::increment:
        return old >= operand ? 0 : old + 1;
    case AtomicOp::decrement:
        return old == 0 || old > operand ? operand : old - 1;
    case AtomicOp::wrap:
        return old >= operand ? old - operand : old + other;
    case AtomicOp::add_float:
        return __builtin_bit_cast(T, atomic_detail::as_float(old) + atomic_detail::as_float(operand));
    case AtomicOp::min_float:
        return atomic_detail::float_choice(old, operand, true);
    case AtomicOp::max_float:
        return atomic_detail::float_choice(old, operand, false);
    case AtomicOp::add_halves:
        return static_cast<T>(atomic_detail::add_pair(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand), true));
    case AtomicOp::add_bfloats:
        return static_cast<T>(atomic_detail::add_pair(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand), false));
    }
    return old;
}

/// Replaces the value at an aligned host address as one step, other threads of the launch included, and gives the old one.
template <typename T> T atomic_replace(void* where, AtomicOp op, T operand, T other) {
    auto* place = static_cast<T*>(where);
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old, atomic_result(op, old, operand, other), true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return old;
}

/// An atomic opcode of MUBUF, FLAT or GLOBAL, numbers 64..82 and 96..108.
struct GlobalAtomic {
    AtomicOp op = AtomicOp::swap;
    bool wide = false;
};

constexpr bool global_atomic(unsigned number, GlobalAtomic& atomic) {
    constexpr AtomicOp kIntegers[] = {AtomicOp::swap,       AtomicOp::compare_swap, AtomicOp::add,        AtomicOp::sub,
                                      AtomicOp::signed_min, AtomicOp::unsigned_min, AtomicOp::signed_max, AtomicOp::unsigned_max,
                                      AtomicOp::bit_and,    AtomicOp::bit_or,       AtomicOp::bit_xor,    AtomicOp::increment,
                                      AtomicOp::decrement};
    constexpr GlobalAtomic kFloats[] = {{AtomicOp::add_float, false}, {AtomicOp::add_halves, false}, {AtomicOp::add_float, true},
                                        {AtomicOp::min_float, true},  {AtomicOp::max_float, true},   {AtomicOp::add_bfloats, false}};
    if (number >= 64 && number < 77) {
        atomic = {kIntegers[number - 64], false};
        return true;
    }
    if (number >= 77 && number < 83) {
        atomic = kFloats[number - 77];
        return true;
    }
    if (number >= 96 && number < 109) {
        atomic = {kIntegers[number - 96], true};
        return true;
    }
    return false;
}

constexpr bool is_global_atomic(unsigned number) {
    GlobalAtomic atomic;
    return global_atomic(number, atomic);
}

} // namespace emulator
