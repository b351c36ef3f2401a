// Conversions between integers and floats of 16, 32 and 64 bits.
#include "../numerics/rounding.hpp"
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

/// Toward zero, limited to the range of the result; a NaN gives 0.
template <class I> I to_integer(double x, double least, double greatest) {
    const double limited = x != x ? 0.0 : x < least ? least : x > greatest ? greatest : x;
    return static_cast<I>(static_cast<i64>(limited));
}

i32 to_i32(double x) {
    return to_integer<i32>(x, -2147483648.0, 2147483647.0);
}

u32 to_u32(double x) {
    return to_integer<u32>(x, 0.0, 4294967295.0);
}

/// The float forms avoid 64 bit integers, which few machines convert in vectors.
i32 float_to_i32(float x) {
    const bool inside = x >= -2147483648.0f && x < 2147483648.0f;
    const i32 outside = x > 0.0f ? 0x7fffffff : x < 0.0f ? -0x7fffffff - 1 : 0;
    return inside ? static_cast<i32>(inside ? x : 0.0f) : outside;
}

u32 float_to_u32(float x) {
    const float lower = x >= 0.0f && x < 2147483648.0f ? x : 0.0f;
    const float upper = x >= 2147483648.0f && x < 4294967296.0f ? x - 2147483648.0f : 0.0f;
    const u32 inside =
        static_cast<u32>(static_cast<i32>(lower)) + (x >= 2147483648.0f ? 0x80000000u + static_cast<u32>(static_cast<i32>(upper)) : 0u);
    return x >= 4294967296.0f ? ~0u : inside;
}

/// Exact in two parts, rounded once.
float from_u32(u32 x) {
    return static_cast<float>(static_cast<double>(static_cast<i32>(x >> 16)) * 65536.0 +
                              static_cast<double>(static_cast<i32>(x & 0xffffu)));
}

float from_byte(u32 x) {
    return static_cast<float>(static_cast<i32>(x & 0xffu));
}

u32 to_byte(float x) {
    return to_integer<u32>(static_cast<double>(x), 0.0, 255.0);
}

/// Normalised integers: the nearest of 32767 or 65535 steps.
u32 to_snorm(float x) {
    const float limited = x != x ? 0.0f : x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
    return static_cast<u32>(static_cast<i32>(round_even(static_cast<double>(limited) * 32767.0))) & 0xffffu;
}

u32 to_unorm(float x) {
    const float limited = x != x ? 0.0f : x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
    return static_cast<u32>(static_cast<i32>(round_even(static_cast<double>(limited) * 65535.0)));
}

u32 insert_byte(u32 base, u32 place, u32 byte) {
    const u32 shift = 8 * (place & 3u);
    return (base & ~(0xffu << shift)) | (byte << shift);
}

u32 half_of(const Mode& mode, float x) {
    return float_to_half(mode.half_overflow_clamps ? largest_half(x) : x);
}

Half narrow_to_half(const Mode& mode, float x) {
    return {half_to_float(half_of(mode, x))};
}

Executor to_integers(Opcode op) {
    switch (op) {
    case Opcode::v_cvt_i32_f32:
        return lanewise<&float_to_i32>;
    case Opcode::v_cvt_u32_f32:
        return lanewise<&float_to_u32>;
    case Opcode::v_cvt_rpi_i32_f32:
        return lanewise<+[](float x) { return float_to_i32(round_down(x + 0.5f)); }>;
    case Opcode::v_cvt_flr_i32_f32:
        return lanewise<+[](float x) { return float_to_i32(round_down(x)); }>;
    case Opcode::v_cvt_i32_f64:
        return lanewise<&to_i32>;
    case Opcode::v_cvt_u32_f64:
        return lanewise<&to_u32>;
    case Opcode::v_cvt_u16_f16:
        return lanewise<+[](Half x) { return to_integer<u16>(static_cast<double>(x.value), 0.0, 65535.0); }>;
    case Opcode::v_cvt_i16_f16:
        return lanewise<+[](Half x) { return to_integer<i16>(static_cast<double>(x.value), -32768.0, 32767.0); }>;
    case Opcode::v_cvt_norm_i16_f16:
        return lanewise<+[](Half x) { return HalfBits{to_snorm(x.value)}; }>;
    case Opcode::v_cvt_norm_u16_f16:
        return lanewise<+[](Half x) { return HalfBits{to_unorm(x.value)}; }>;
    case Opcode::v_cvt_pk_u8_f32:
    case Opcode::v_cvt_pkaccum_u8_f32:
        return lanewise<+[](float x, u32 place, u32 base) { return insert_byte(base, place, to_byte(x)); }>;
    case Opcode::v_cvt_pknorm_i16_f32:
        return lanewise<+[](float a, float b) { return to_snorm(a) | (to_snorm(b) << 16); }>;
    case Opcode::v_cvt_pknorm_u16_f32:
        return lanewise<+[](float a, float b) { return to_unorm(a) | (to_unorm(b) << 16); }>;
    case Opcode::v_cvt_pknorm_i16_f16:
        return lanewise<+[](Half a, Half b) { return to_snorm(a.value) | (to_snorm(b.value) << 16); }>;
    case Opcode::v_cvt_pknorm_u16_f16:
        return lanewise<+[](Half a, Half b) { return to_unorm(a.value) | (to_unorm(b.value) << 16); }>;
    case Opcode::v_cvt_pk_u16_u32:
        return lanewise<+[](u32 a, u32 b) { return (a > 0xffffu ? 0xffffu : a) | ((b > 0xffffu ? 0xffffu : b) << 16); }>;
    case Opcode::v_cvt_pk_i16_i32:
        return lanewise<+[](i32 a, i32 b) {
            const auto limit = [](i32 x) { return static_cast<u32>(x > 0x7fff ? 0x7fff : x < -0x8000 ? -0x8000 : x) & 0xffffu; };
            return limit(a) | (limit(b) << 16);
        }>;
    default:
        return nullptr;
    }
}

Executor to_floats(Opcode op) {
    switch (op) {
    case Opcode::v_cvt_f32_i32:
        return lanewise<+[](i32 x) { return static_cast<float>(x); }>;
    case Opcode::v_cvt_f32_u32:
        return lanewise<&from_u32>;
    case Opcode::v_cvt_f32_ubyte0:
        return lanewise<+[](u32 x) { return from_byte(x); }>;
    case Opcode::v_cvt_f32_ubyte1:
        return lanewise<+[](u32 x) { return from_byte(x >> 8); }>;
    case Opcode::v_cvt_f32_ubyte2:
        return lanewise<+[](u32 x) { return from_byte(x >> 16); }>;
    case Opcode::v_cvt_f32_ubyte3:
        return lanewise<+[](u32 x) { return from_byte(x >> 24); }>;
    case Opcode::v_cvt_off_f32_i4:
        return lanewise<+[](u32 x) { return static_cast<float>(static_cast<i32>(x << 28) >> 28) * 0.0625f; }>;
    case Opcode::v_cvt_f64_i32:
        return lanewise<+[](i32 x) { return static_cast<double>(x); }>;
    case Opcode::v_cvt_f64_u32:
        return lanewise<+[](u32 x) { return static_cast<double>(x); }>;
    case Opcode::v_cvt_f64_f32:
        return lanewise<+[](float x) {
            const std::uint64_t nan = kQuietNan64 | (std::uint64_t{bits_of(x) >> 31} << 63) | (std::uint64_t{bits_of(x) & 0x3fffffu} << 29);
            return Chosen64{x != x ? nan : bits_of(static_cast<double>(x))};
        }>;
    case Opcode::v_cvt_f32_f64:
        return lanewise<+[](double x) {
            const std::uint64_t bits = bits_of(x);
            const u32 nan = kQuietNan32 | (static_cast<u32>(bits >> 63) << 31) | (static_cast<u32>(bits >> 29) & 0x3fffffu);
            return Chosen{x != x ? nan : bits_of(static_cast<float>(x))};
        }>;
    case Opcode::v_cvt_f32_f16:
        return lanewise<+[](Half x) { return x.value; }>;
    case Opcode::v_cvt_f16_f32:
        return lanewise<&narrow_to_half>;
    case Opcode::v_cvt_f16_u16:
        return lanewise<+[](u16 x) { return Half{static_cast<float>(x)}; }>;
    case Opcode::v_cvt_f16_i16:
        return lanewise<+[](i16 x) { return Half{static_cast<float>(x)}; }>;
    case Opcode::v_cvt_pkrtz_f16_f32:
        return lanewise<+[](float a, float b) { return float_to_half_toward_zero(a) | (float_to_half_toward_zero(b) << 16); }>;
    case Opcode::v_cvt_pk_f16_f32:
        return lanewise<+[](const Mode& mode, float a, float b) { return half_of(mode, a) | (half_of(mode, b) << 16); }>;
    case Opcode::v_cvt_pk_bf16_f32:
        return lanewise<+[](float a, float b) { return float_to_bfloat(a) | (float_to_bfloat(b) << 16); }>;
    case Opcode::v_cvt_f32_bf16:
        return lanewise<+[](HalfBits x) { return bfloat_to_float(x.bits); }>;
    default:
        return nullptr;
    }
}

} // namespace

Executor conversion_executor(Opcode op) {
    const Executor executor = to_integers(op);
    return executor != nullptr ? executor : to_floats(op);
}

} // namespace emulator
