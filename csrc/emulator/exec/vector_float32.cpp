// Single precision arithmetic.
#include "../numerics/fused.hpp"
#include "../numerics/rounding.hpp"
#include "../numerics/transcendental.hpp"
#include "float_functions.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

float add(float a, float b) {
    return a + b;
}

float subtract(float a, float b) {
    return a - b;
}

float subtract_reversed(float a, float b) {
    return b - a;
}

float multiply(float a, float b) {
    return a * b;
}

/// A zero times anything is zero.
float multiply_legacy(float a, float b) {
    return a == 0.0f || b == 0.0f ? 0.0f : a * b;
}

/// The approximations of the hardware neither read nor give denormals, whatever the mode.
float normal(float x) {
    return float_of(flush32(bits_of(x), kLeastNormal32));
}

float exponential(float x) {
    return normal(exp2_of(x));
}

float logarithm(float x) {
    return log2_of(normal(x));
}

float inverse(float x) {
    return normal(reciprocal(normal(x)));
}

float root(float x) {
    return square_root(normal(x));
}

float inverse_root(float x) {
    return reciprocal_root(normal(x));
}

float floor32(float x) {
    return round_down(x);
}

float ceil32(float x) {
    return round_up(x);
}

float trunc32(float x) {
    return round_zero(x);
}

float rndne32(float x) {
    return round_even(x);
}

float fract32(float x) {
    return fraction(x);
}

double scale(int exponent) {
    const int bounded = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;
    return power_of_two(bounded);
}

float load_exponent(float x, std::int32_t exponent) {
    return static_cast<float>(static_cast<double>(x) * scale(exponent));
}

std::int32_t exponent_of(float x) {
    const std::uint32_t magnitude = bits_of(x) & 0x7fffffffu;
    if (magnitude == 0 || magnitude >= 0x7f800000u) {
        return 0;
    }
    return static_cast<std::int32_t>((bits_of(static_cast<double>(float_of(magnitude))) >> 52) & 0x7ff) - 1022;
}

float mantissa_of(float x) {
    return load_exponent(x, -exponent_of(x));
}

float cube_face(float x, float y, float z) {
    if (absolute(z) >= absolute(x) && absolute(z) >= absolute(y)) {
        return z < 0.0f ? 5.0f : 4.0f;
    }
    if (absolute(y) >= absolute(x)) {
        return y < 0.0f ? 3.0f : 2.0f;
    }
    return x < 0.0f ? 1.0f : 0.0f;
}

float cube_s(float x, float y, float z) {
    if (absolute(z) >= absolute(x) && absolute(z) >= absolute(y)) {
        return z < 0.0f ? -x : x;
    }
    if (absolute(y) >= absolute(x)) {
        return x;
    }
    return x < 0.0f ? z : -z;
}

float cube_t(float x, float y, float z) {
    if (absolute(z) >= absolute(x) && absolute(z) >= absolute(y)) {
        return -y;
    }
    if (absolute(y) >= absolute(x)) {
        return y < 0.0f ? -z : z;
    }
    return -y;
}

float cube_major(float x, float y, float z) {
    if (absolute(z) >= absolute(x) && absolute(z) >= absolute(y)) {
        return z * 2.0f;
    }
    return absolute(y) >= absolute(x) ? y * 2.0f : x * 2.0f;
}

Chosen minimum3(float a, float b, float c) {
    return {bits_of(extreme32<false>(extreme32<false>(a, b), c))};
}

Chosen maximum3(float a, float b, float c) {
    return {bits_of(extreme32<true>(extreme32<true>(a, b), c))};
}

} // namespace

Executor float32_executor(Opcode op) {
    switch (op) {
    case Opcode::v_add_f32:
        return lanewise<&add>;
    case Opcode::v_sub_f32:
        return lanewise<&subtract>;
    case Opcode::v_subrev_f32:
        return lanewise<&subtract_reversed>;
    case Opcode::v_mul_f32:
        return lanewise<&multiply>;
    case Opcode::v_mul_legacy_f32:
        return lanewise<&multiply_legacy>;
    case Opcode::v_fma_f32:
    case Opcode::v_fmac_f32:
    case Opcode::v_fmamk_f32:
    case Opcode::v_fmaak_f32:
        return lanewise<&fused32>;
    case Opcode::v_min_f32:
        return lanewise<&select32<false>>;
    case Opcode::v_max_f32:
        return lanewise<&select32<true>>;
    case Opcode::v_min3_f32:
        return lanewise<&select3_32<false>>;
    case Opcode::v_max3_f32:
        return lanewise<&select3_32<true>>;
    case Opcode::v_med3_f32:
        return lanewise<&median32>;
    case Opcode::v_minimum3_f32:
        return lanewise<&minimum3>;
    case Opcode::v_maximum3_f32:
        return lanewise<&maximum3>;
    case Opcode::v_exp_f32:
    case Opcode::v_exp_legacy_f32:
        return lanewise<&exponential>;
    case Opcode::v_log_f32:
    case Opcode::v_log_legacy_f32:
        return lanewise<&logarithm>;
    case Opcode::v_rcp_f32:
    case Opcode::v_rcp_iflag_f32:
        return lanewise<&inverse>;
    case Opcode::v_rsq_f32:
        return lanewise<&inverse_root>;
    case Opcode::v_sqrt_f32:
        return lanewise<&root>;
    case Opcode::v_sin_f32:
        return lanewise<&sine>;
    case Opcode::v_cos_f32:
        return lanewise<&cosine>;
    case Opcode::v_floor_f32:
        return lanewise<&floor32>;
    case Opcode::v_ceil_f32:
        return lanewise<&ceil32>;
    case Opcode::v_trunc_f32:
        return lanewise<&trunc32>;
    case Opcode::v_rndne_f32:
        return lanewise<&rndne32>;
    case Opcode::v_fract_f32:
        return lanewise<&fract32>;
    case Opcode::v_ldexp_f32:
        return lanewise<&load_exponent>;
    case Opcode::v_frexp_exp_i32_f32:
        return lanewise<&exponent_of>;
    case Opcode::v_frexp_mant_f32:
        return lanewise<&mantissa_of>;
    case Opcode::v_cubeid_f32:
        return lanewise<&cube_face>;
    case Opcode::v_cubesc_f32:
        return lanewise<&cube_s>;
    case Opcode::v_cubetc_f32:
        return lanewise<&cube_t>;
    case Opcode::v_cubema_f32:
        return lanewise<&cube_major>;
    default:
        return nullptr;
    }
}

} // namespace emulator
