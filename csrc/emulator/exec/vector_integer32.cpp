// 32 bit integer and bit operations.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

i32 signed24(u32 x) {
    return static_cast<i32>(x << 8) >> 8;
}

u32 unsigned24(u32 x) {
    return x & 0xffffffu;
}

i32 saturate(i64 x) {
    return static_cast<i32>(x > 0x7fffffff ? 0x7fffffff : x < -0x80000000ll ? -0x80000000ll : x);
}

u32 saturate_unsigned(i64 x) {
    return static_cast<u32>(x < 0 ? 0 : x > 0xffffffffll ? 0xffffffffll : x);
}

u32 reverse_bits(u32 x) {
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(x);
}

u32 count_bits(u32 x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return (((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}

u32 extract_signed(u32 value, u32 offset, u32 width) {
    const u32 bits = width & 31u;
    if (bits == 0) {
        return 0;
    }
    const u32 field = static_cast<u32>(static_cast<i32>(value) >> (offset & 31u));
    return static_cast<u32>(static_cast<i32>(field << (32 - bits)) >> (32 - bits));
}

u32 permute_byte(u64 data, u32 select) {
    const u32 chosen = static_cast<u32>(data >> (8 * (select & 7u))) & 0xffu;
    const u32 sign = 0u - (static_cast<u32>(data >> (16 * (select & 3u) + 15)) & 1u);
    const u32 extended = select >= 13 ? 0xffu : select == 12 ? 0u : sign & 0xffu;
    return select < 8 ? chosen : extended;
}

u32 permute(u32 a, u32 b, u32 select) {
    const u64 data = b | (u64{a} << 32);
    return permute_byte(data, select & 0xffu) | (permute_byte(data, (select >> 8) & 0xffu) << 8) |
           (permute_byte(data, (select >> 16) & 0xffu) << 16) | (permute_byte(data, select >> 24) << 24);
}

/// The selector is the same in every lane almost always, and then picks whole bytes: shifts by one count.
void permute_bytes(Wave& wave, const Instruction& in) {
    const bool uniform = in.src[2].kind == Operand::Kind::sgpr || in.src[2].kind == Operand::Kind::constant;
    const u32 select = uniform ? scalar_value(wave, in.src[2], 0) : ~0u;
    if ((select & 0xf8f8f8f8u) != 0) {
        lanewise<&permute>(wave, in);
        return;
    }
    Row buffers[2], result;
    const u32* sources[2] = {fetch(wave, in, 1, 0, Reading::bits32, buffers[1]), fetch(wave, in, 0, 0, Reading::bits32, buffers[0])};
    const u32* rows[4];
    u32 shifts[4];
    for (u32 n = 0; n < 4; ++n) {
        const u32 byte = (select >> (8 * n)) & 7u;
        rows[n] = sources[byte >> 2];
        shifts[n] = 8 * (byte & 3u);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const u32 low = ((rows[0][lane] >> shifts[0]) & 0xffu) | (((rows[1][lane] >> shifts[1]) & 0xffu) << 8);
        const u32 high = ((rows[2][lane] >> shifts[2]) & 0xffu) | (((rows[3][lane] >> shifts[3]) & 0xffu) << 8);
        result.lane[lane] = low | (high << 16);
    }
    store(wave, in, 0, result);
}

u32 difference(u32 a, u32 b) {
    return a > b ? a - b : b - a;
}

/// Sum of absolute differences of bytes; masked: a zero byte of b does not count.
template <bool Masked> u32 byte_differences(u32 a, u32 b, u32 sum) {
    for (int shift = 0; shift < 32; shift += 8) {
        const u32 x = (a >> shift) & 0xffu, y = (b >> shift) & 0xffu;
        sum += Masked && y == 0 ? 0u : difference(x, y);
    }
    return sum;
}

template <class T> T median(T a, T b, T c) {
    const T low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

u32 interpolate_bytes(u32 a, u32 b, u32 round) {
    u32 result = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        result |= ((((a >> shift) & 0xffu) + ((b >> shift) & 0xffu) + ((round >> shift) & 1u)) >> 1) << shift;
    }
    return result;
}

u32 shifted_pair(i32 low, i32 high, u32 shift, i32 least, i32 greatest) {
    const i32 a = low >> (shift & 31u), b = high >> (shift & 31u);
    const auto limit = [&](i32 x) { return static_cast<u32>(x < least ? least : x > greatest ? greatest : x) & 0xffu; };
    return limit(a) | (limit(b) << 8);
}

Executor simple(Opcode op) {
    switch (op) {
    case Opcode::v_mov_b32:
        return lanewise<+[](u32 a) { return a; }>;
    case Opcode::v_not_b32:
        return lanewise<+[](u32 a) { return ~a; }>;
    case Opcode::v_and_b32:
        return lanewise<+[](u32 a, u32 b) { return a & b; }>;
    case Opcode::v_or_b32:
        return lanewise<+[](u32 a, u32 b) { return a | b; }>;
    case Opcode::v_xor_b32:
        return lanewise<+[](u32 a, u32 b) { return a ^ b; }>;
    case Opcode::v_xnor_b32:
        return lanewise<+[](u32 a, u32 b) { return ~(a ^ b); }>;
    case Opcode::v_lshlrev_b32:
        return lanewise<+[](u32 a, u32 b) { return b << (a & 31u); }>;
    case Opcode::v_lshrrev_b32:
        return lanewise<+[](u32 a, u32 b) { return b >> (a & 31u); }>;
    case Opcode::v_ashrrev_i32:
        return lanewise<+[](u32 a, i32 b) { return b >> (a & 31u); }>;
    case Opcode::v_min_i32:
        return lanewise<+[](i32 a, i32 b) { return a < b ? a : b; }>;
    case Opcode::v_max_i32:
        return lanewise<+[](i32 a, i32 b) { return a > b ? a : b; }>;
    case Opcode::v_min_u32:
        return lanewise<+[](u32 a, u32 b) { return a < b ? a : b; }>;
    case Opcode::v_max_u32:
        return lanewise<+[](u32 a, u32 b) { return a > b ? a : b; }>;
    case Opcode::v_bfrev_b32:
        return lanewise<&reverse_bits>;
    case Opcode::v_ffbh_u32:
        return lanewise<+[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(__builtin_clz(a)); }>;
    case Opcode::v_ffbl_b32:
        return lanewise<+[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(__builtin_ctz(a)); }>;
    case Opcode::v_ffbh_i32:
        return lanewise<+[](i32 a) {
            const u32 folded = static_cast<u32>(a ^ (a >> 31));
            return folded == 0 ? ~0u : static_cast<u32>(__builtin_clz(folded));
        }>;
    case Opcode::v_prng_b32:
        return lanewise<+[](u32 a) { return (a << 1) ^ ((a >> 31) != 0 ? 197u : 0u); }>;
    case Opcode::v_bcnt_u32_b32:
        return lanewise<+[](u32 a, u32 b) { return count_bits(a) + b; }>;
    case Opcode::v_bfm_b32:
        return lanewise<+[](u32 a, u32 b) { return ((1u << (a & 31u)) - 1u) << (b & 31u); }>;
    default:
        return nullptr;
    }
}

Executor sums(Opcode op) {
    switch (op) {
    case Opcode::v_add_u32:
        return saturable<+[](u32 a, u32 b) { return a + b; }, +[](u32 a, u32 b) { return saturate_unsigned(i64{a} + i64{b}); }>;
    case Opcode::v_sub_u32:
        return saturable<+[](u32 a, u32 b) { return a - b; }, +[](u32 a, u32 b) { return saturate_unsigned(i64{a} - i64{b}); }>;
    case Opcode::v_subrev_u32:
        return saturable<+[](u32 a, u32 b) { return b - a; }, +[](u32 a, u32 b) { return saturate_unsigned(i64{b} - i64{a}); }>;
    case Opcode::v_add_i32:
        return saturable<+[](u32 a, u32 b) { return a + b; }, +[](i32 a, i32 b) { return saturate(i64{a} + i64{b}); }>;
    case Opcode::v_sub_i32:
        return saturable<+[](u32 a, u32 b) { return a - b; }, +[](i32 a, i32 b) { return saturate(i64{a} - i64{b}); }>;
    case Opcode::v_mul_i32_i24:
        return lanewise<+[](u32 a, u32 b) { return static_cast<u32>(signed24(a)) * static_cast<u32>(signed24(b)); }>;
    case Opcode::v_mul_u32_u24:
        return lanewise<+[](u32 a, u32 b) { return unsigned24(a) * unsigned24(b); }>;
    case Opcode::v_mul_hi_i32_i24:
        return lanewise<+[](u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(i64{signed24(a)} * i64{signed24(b)}) >> 32); }>;
    case Opcode::v_mul_hi_u32_u24:
        return lanewise<+[](u32 a, u32 b) { return static_cast<u32>((u64{unsigned24(a)} * u64{unsigned24(b)}) >> 32); }>;
    case Opcode::v_mul_lo_u32:
        return lanewise<+[](u32 a, u32 b) { return a * b; }>;
    case Opcode::v_mul_hi_u32:
        return lanewise<+[](u32 a, u32 b) { return static_cast<u32>((u64{a} * u64{b}) >> 32); }>;
    case Opcode::v_mul_hi_i32:
        return lanewise<+[](i32 a, i32 b) { return static_cast<u32>(static_cast<u64>(i64{a} * i64{b}) >> 32); }>;
    case Opcode::v_mad_i32_i24:
        return saturable<+[](u32 a, u32 b, u32 c) { return static_cast<u32>(signed24(a)) * static_cast<u32>(signed24(b)) + c; },
                         +[](u32 a, u32 b, i32 c) { return saturate(i64{signed24(a)} * i64{signed24(b)} + c); }>;
    case Opcode::v_mad_u32_u24:
        return saturable<+[](u32 a, u32 b, u32 c) { return unsigned24(a) * unsigned24(b) + c; },
                         +[](u32 a, u32 b, u32 c) { return saturate_unsigned(i64{unsigned24(a)} * i64{unsigned24(b)} + i64{c}); }>;
    case Opcode::v_add3_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return a + b + c; }>;
    case Opcode::v_xad_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>;
    case Opcode::v_lshl_add_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a << (b & 31u)) + c; }>;
    case Opcode::v_add_lshl_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31u); }>;
    default:
        return nullptr;
    }
}

Executor three_sources(Opcode op) {
    switch (op) {
    case Opcode::v_lshl_or_b32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a << (b & 31u)) | c; }>;
    case Opcode::v_and_or_b32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a & b) | c; }>;
    case Opcode::v_or3_b32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return a | b | c; }>;
    case Opcode::v_bfi_b32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>;
    case Opcode::v_bfe_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a >> (b & 31u)) & ((1u << (c & 31u)) - 1u); }>;
    case Opcode::v_bfe_i32:
        return lanewise<&extract_signed>;
    case Opcode::v_alignbit_b32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return static_cast<u32>((b | (u64{a} << 32)) >> (c & 31u)); }>;
    case Opcode::v_alignbyte_b32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return static_cast<u32>((b | (u64{a} << 32)) >> (8 * (c & 3u))); }>;
    case Opcode::v_perm_b32:
        return &permute_bytes;
    case Opcode::v_min3_i32:
        return lanewise<+[](i32 a, i32 b, i32 c) { return (a < b ? a : b) < c ? (a < b ? a : b) : c; }>;
    case Opcode::v_max3_i32:
        return lanewise<+[](i32 a, i32 b, i32 c) { return (a > b ? a : b) > c ? (a > b ? a : b) : c; }>;
    case Opcode::v_min3_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a < b ? a : b) < c ? (a < b ? a : b) : c; }>;
    case Opcode::v_max3_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (a > b ? a : b) > c ? (a > b ? a : b) : c; }>;
    case Opcode::v_med3_i32:
        return lanewise<&median<i32>>;
    case Opcode::v_med3_u32:
        return lanewise<&median<u32>>;
    case Opcode::v_sad_u8:
        return lanewise<&byte_differences<false>>;
    case Opcode::v_msad_u8:
        return lanewise<&byte_differences<true>>;
    case Opcode::v_sad_hi_u8:
        return lanewise<+[](u32 a, u32 b, u32 c) { return (byte_differences<false>(a, b, 0) << 16) + c; }>;
    case Opcode::v_sad_u16:
        return lanewise<+[](u32 a, u32 b, u32 c) { return difference(a & 0xffffu, b & 0xffffu) + difference(a >> 16, b >> 16) + c; }>;
    case Opcode::v_sad_u32:
        return lanewise<+[](u32 a, u32 b, u32 c) { return difference(a, b) + c; }>;
    case Opcode::v_lerp_u8:
        return lanewise<&interpolate_bytes>;
    case Opcode::v_ashr_pk_i8_i32:
        return lanewise<+[](i32 a, i32 b, u32 c) { return HalfBits{shifted_pair(a, b, c, -128, 127)}; }, Placement::low_keeping>;
    case Opcode::v_ashr_pk_u8_i32:
        return lanewise<+[](i32 a, i32 b, u32 c) { return HalfBits{shifted_pair(a, b, c, 0, 255)}; }, Placement::low_keeping>;
    default:
        return nullptr;
    }
}

} // namespace

Executor integer32_executor(Opcode op) {
    if (const Executor executor = simple(op)) {
        return executor;
    }
    if (const Executor executor = sums(op)) {
        return executor;
    }
    return three_sources(op);
}

} // namespace emulator
