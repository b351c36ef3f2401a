// The double fused multiply-add in integers, for machines without the instruction.
#include "fused.hpp"

namespace emulator {

#ifndef __FMA__

namespace {

using Wide = unsigned __int128;

struct Parts {
    bool negative;
    int exponent; // of the unit in the last place
    std::uint64_t mantissa;
};

Parts split(double x) {
    const std::uint64_t bits = bits_of(x);
    const int biased = static_cast<int>((bits >> 52) & 0x7ff);
    const std::uint64_t fraction = bits & 0xfffffffffffffull;
    return {(bits >> 63) != 0, (biased == 0 ? 1 : biased) - 1075, biased == 0 ? fraction : fraction | (1ull << 52)};
}

int top_bit(Wide x) {
    const auto high = static_cast<std::uint64_t>(x >> 64);
    return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<std::uint64_t>(x));
}

/// Shift right keeping in the last bit whether anything was lost.
Wide shift_sticky(Wide x, int count) {
    if (count <= 0) {
        return x;
    }
    if (count > 127) {
        return x != 0 ? 1 : 0;
    }
    return (x >> count) | ((x & ((Wide{1} << count) - 1)) != 0 ? 1 : 0);
}

double assemble(bool negative, Wide mantissa, int exponent) {
    const std::uint64_t sign = std::uint64_t{negative} << 63;
    const int top = top_bit(mantissa);
    int drop = top - 52;
    if (exponent + drop < -1074) {
        drop = -1074 - exponent;
    }
    std::uint64_t kept;
    if (drop <= 0) {
        kept = static_cast<std::uint64_t>(mantissa << -drop);
    } else {
        const Wide scaled = shift_sticky(mantissa, drop - 2); // two bits below the last: the half and the sticky bit
        const Wide guarded = drop == 1 ? mantissa << 1 : scaled;
        kept = static_cast<std::uint64_t>(guarded >> 2);
        const unsigned rest = static_cast<unsigned>(guarded & 3);
        kept += rest > 2 || (rest == 2 && (kept & 1) != 0) ? 1 : 0;
    }
    const int unit = exponent + drop;
    if (kept >> 53 != 0) {
        return assemble(negative, kept, unit);
    }
    if (unit + 1075 >= 0x7ff && (kept >> 52) != 0) {
        return double_of(sign | 0x7ff0000000000000ull);
    }
    const std::uint64_t biased = (kept >> 52) != 0 ? static_cast<std::uint64_t>(unit + 1075) : 0;
    return double_of(sign | (biased << 52) | (kept & 0xfffffffffffffull));
}

} // namespace

double fused64(double a, double b, double c) {
    const double plain = a * b + c;
    const std::uint64_t infinite = 0x7ff0000000000000ull;
    const bool special = (bits_of(a) & infinite) == infinite || (bits_of(b) & infinite) == infinite || (bits_of(c) & infinite) == infinite;
    if (special || a == 0.0 || b == 0.0) {
        // An infinite addend wins over a finite product even where the plain product overflows.
        const bool finite_product = (bits_of(a) & infinite) != infinite && (bits_of(b) & infinite) != infinite;
        return finite_product && special ? c : plain;
    }
    const Parts x = split(a), y = split(b), z = split(c);
    const bool negative = x.negative != y.negative;
    Wide product = Wide{x.mantissa} * y.mantissa;
    int exponent = x.exponent + y.exponent;
    if (z.mantissa == 0) {
        return assemble(negative, product, exponent);
    }
    Wide addend = z.mantissa;
    int other = z.exponent;
    // Both operands get their top bit at 125: the smaller may then lose bits only into the sticky one.
    const int lift_product = 125 - top_bit(product), lift_addend = 125 - top_bit(addend);
    product <<= lift_product;
    exponent -= lift_product;
    addend <<= lift_addend;
    other -= lift_addend;
    if (exponent < other) {
        product = shift_sticky(product, other - exponent);
        exponent = other;
    } else {
        addend = shift_sticky(addend, exponent - other);
    }
    if (negative == z.negative) {
        return assemble(negative, product + addend, exponent);
    }
    if (product == addend) {
        return 0.0;
    }
    return product > addend ? assemble(negative, product - addend, exponent) : assemble(z.negative, addend - product, exponent);
}

#endif

} // namespace emulator
