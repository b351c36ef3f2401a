// The steps of a division: scaling of the operands, the scaled last multiply-add, and the repair of special cases.
#include "../numerics/fused.hpp"
#include "../numerics/rounding.hpp"
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

struct Single {
    using Real = float;
    static constexpr int bias = 127, step = 64, far = 96, tiny = 23, underflow = -150;
};

struct Double {
    using Real = double;
    static constexpr int bias = 1023, step = 128, far = 768, tiny = 53, underflow = -1075;
};

int exponent_field(float x) {
    return static_cast<int>((bits_of(x) >> 23) & 0xff);
}

int exponent_field(double x) {
    return static_cast<int>((bits_of(x) >> 52) & 0x7ff);
}

bool negative(float x) {
    return (bits_of(x) >> 31) != 0;
}

bool negative(double x) {
    return (bits_of(x) >> 63) != 0;
}

template <class T> bool denormal(T x) {
    return x != T{0} && exponent_field(x) == 0;
}

float scaled(float x, int exponent) {
    return static_cast<float>(static_cast<double>(x) * power_of_two(exponent));
}

double scaled(double x, int exponent) {
    return x * power_of_two(exponent);
}

/// Of value, denominator and numerator: the value scaled, and whether the quotient will need scaling back.
template <class F, class T = typename F::Real> bool scale_for_division(T value, T denominator, T numerator, T& result) {
    result = value;
    if (denominator == T{0} || numerator == T{0}) {
        result = sizeof(T) == 4 ? static_cast<T>(float_of(kQuietNan32)) : static_cast<T>(double_of(kQuietNan64));
        return false;
    }
    const bool is_denominator = value == denominator, is_numerator = value == numerator;
    const T inverse = T{1} / denominator, quotient = numerator / denominator;
    if (exponent_field(numerator) - exponent_field(denominator) >= F::far) {
        result = is_denominator ? scaled(value, F::step) : value;
        return true;
    }
    if (denormal(denominator)) {
        result = scaled(value, F::step);
        return false;
    }
    if (denormal(inverse) && denormal(quotient)) {
        // Down: a denominator with a denormal inverse has no room above it, and the quotient is to grow.
        result = is_denominator ? scaled(value, -F::step) : value;
        return true;
    }
    if (denormal(inverse)) {
        result = scaled(value, -F::step);
        return false;
    }
    if (denormal(quotient)) {
        result = is_numerator ? scaled(value, F::step) : value;
        return true;
    }
    if (exponent_field(numerator) <= F::tiny) {
        result = scaled(value, F::step);
    }
    return false;
}

template <class F> void division_scale(Wave& wave, const Instruction& in) {
    using T = typename F::Real;
    const Input<T> value(wave, in, 0), denominator(wave, in, 1), numerator(wave, in, 2);
    // The operands are looked at as they are: the point of the scaling is to avoid denormals.
    Mode keep = wave.mode;
    keep.denorm32 = keep.denorm16_64 = 3;
    const Denormals all(keep);
    Result<T> result;
    std::uint8_t flags[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        T out;
        const T a = value.load(lane, all), b = denominator.load(lane, all), c = numerator.load(lane, all);
        flags[lane] = scale_for_division<F>(a, b, c, out);
        result.set(lane, settle<T>(out, a));
    }
    const std::uint64_t lanes = written_lanes(wave, in);
    result.finish(wave, in, Denormals(wave.mode));
    store_mask(wave, in, gather_bits(flags) & lanes);
}

float multiply_add(float a, float b, float c) {
    return fused32(a, b, c);
}

double multiply_add(double a, double b, double c) {
    return fused64(a, b, c);
}

/// Where VCC is set the quotient is brought back from its scale: up if it is large, down if it is small.
template <class F> void division_multiply_add(Wave& wave, const Instruction& in) {
    using T = typename F::Real;
    const Input<T> a(wave, in, 0), b(wave, in, 1), c(wave, in, 2);
    const Denormals denormals(wave.mode);
    const std::uint64_t vcc = wave.vcc();
    Result<T> result;
    for (int lane = 0; lane < kLanes; ++lane) {
        const T x = a.load(lane, denormals), y = b.load(lane, denormals), z = c.load(lane, denormals);
        const T plain = multiply_add(x, y, z);
        const int step = exponent_field(z) > F::bias ? F::step : -F::step;
        result.set(lane, settle<T>(((vcc >> lane) & 1) != 0 ? scaled(plain, step) : plain, x, y, z));
    }
    result.finish(wave, in, denormals);
}

template <class F, class T = typename F::Real> T fix_division(T quotient, T denominator, T numerator) {
    const T infinity = sizeof(T) == 4 ? static_cast<T>(float_of(0x7f800000u)) : static_cast<T>(double_of(0x7ff0000000000000ull));
    const T sign = negative(denominator) != negative(numerator) ? T{-1} : T{1};
    const T zero = with_sign_of(T{0}, sign);
    if (numerator != numerator) {
        return numerator;
    }
    if (denominator != denominator) {
        return denominator;
    }
    if ((denominator == T{0} && numerator == T{0}) || (absolute(denominator) == infinity && absolute(numerator) == infinity)) {
        return sizeof(T) == 4 ? static_cast<T>(float_of(0xffc00000u)) : static_cast<T>(double_of(0xfff8000000000000ull));
    }
    if (denominator == T{0} || absolute(numerator) == infinity) {
        return with_sign_of(infinity, sign);
    }
    if (absolute(denominator) == infinity || numerator == T{0}) {
        return zero;
    }
    if (exponent_field(numerator) - exponent_field(denominator) < F::underflow) {
        return zero;
    }
    if (quotient != quotient) {
        return with_sign_of(infinity, sign); // steps that overflowed cancel to NaN; the quotient of two numbers is none
    }
    return with_sign_of(absolute(quotient), sign);
}

/// NaN results carry a sign that the general rule would not give: they are chosen here.
Chosen fix_single(float quotient, float denominator, float numerator) {
    const std::uint32_t bits = bits_of(fix_division<Single>(quotient, denominator, numerator));
    return {is_nan32(bits) ? bits | 0x00400000u : bits};
}

Chosen64 fix_double(double quotient, double denominator, double numerator) {
    const std::uint64_t bits = bits_of(fix_division<Double>(quotient, denominator, numerator));
    return {is_nan64(bits) ? bits | 0x0008000000000000ull : bits};
}

} // namespace

Executor division_executor(Opcode op) {
    switch (op) {
    case Opcode::v_div_scale_f32:
        return &division_scale<Single>;
    case Opcode::v_div_scale_f64:
        return &division_scale<Double>;
    case Opcode::v_div_fmas_f32:
        return &division_multiply_add<Single>;
    case Opcode::v_div_fmas_f64:
        return &division_multiply_add<Double>;
    case Opcode::v_div_fixup_f32:
        return lanewise<&fix_single>;
    case Opcode::v_div_fixup_f64:
        return lanewise<&fix_double>;
    default:
        return nullptr;
    }
}

} // namespace emulator
