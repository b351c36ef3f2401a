// Operations that read or write one bit per lane beside their 32 bit values: carries, selection, lane counts, bit functions of three.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Kind : std::uint8_t { add, subtract, subtract_reversed };

template <Kind What, bool CarryIn> void carry(Wave& wave, const Instruction& in) {
    Row buffers[2], result;
    const u32* a = fetch(wave, in, 0, 0, Reading::bits32, buffers[0]);
    const u32* b = fetch(wave, in, 1, 0, Reading::bits32, buffers[1]);
    if constexpr (What == Kind::subtract_reversed) {
        const u32* first = a;
        a = b;
        b = first;
    }
    const u64 carries = CarryIn ? lane_mask_source(wave, in, 2) : 0;
    const u64 lanes = written_lanes(wave, in);
    std::uint8_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        const u64 bit = CarryIn ? (carries >> lane) & 1 : 0;
        const u64 wide = What == Kind::add ? u64{a[lane]} + b[lane] + bit : u64{a[lane]} - b[lane] - bit;
        out[lane] = static_cast<std::uint8_t>((wide >> 32) & 1);
        const u32 saturated = What == Kind::add ? ~0u : 0u;
        result.lane[lane] = in.clamp && out[lane] != 0 ? saturated : static_cast<u32>(wide);
    }
    store(wave, in, 0, result);
    store_mask(wave, in, gather_bits(out) & lanes);
}

void select(Wave& wave, const Instruction& in) {
    Row buffers[2], result;
    const u32* a = fetch(wave, in, 0, 0, Reading::bits32, buffers[0]);
    const u32* b = fetch(wave, in, 1, 0, Reading::bits32, buffers[1]);
    const u64 mask = lane_mask_source(wave, in, 2);
    for (int half = 0; half < 2; ++half) {
        const auto bits = static_cast<u32>(mask >> (32 * half));
        for (int lane = 0; lane < 32; ++lane) {
            const int at = 32 * half + lane;
            const u32 keep = ((bits >> lane) & 1u) - 1u;
            result.lane[at] = (a[at] & keep) | (b[at] & ~keep);
        }
    }
    store(wave, in, 0, result);
}

/// Counts the bits of a mask below the lane.
template <int First> void masked_count(Wave& wave, const Instruction& in) {
    Row buffers[2], result;
    const u32* a = fetch(wave, in, 0, 0, Reading::bits32, buffers[0]);
    const u32* b = fetch(wave, in, 1, 0, Reading::bits32, buffers[1]);
    for (int lane = 0; lane < kLanes; ++lane) {
        const auto below = static_cast<u32>(((u64{1} << lane) - 1) >> First);
        result.lane[lane] = static_cast<u32>(__builtin_popcount(a[lane] & below)) + b[lane];
    }
    store(wave, in, 0, result);
}

/// A product of 32 bits by 32 plus 64 bits, with the carry out of the sum.
template <bool Signed> void wide_multiply_add(Wave& wave, const Instruction& in) {
    Row buffers[2];
    const u32* a = fetch(wave, in, 0, 0, Reading::bits32, buffers[0]);
    const u32* b = fetch(wave, in, 1, 0, Reading::bits32, buffers[1]);
    const Input<u64> c(wave, in, 2);
    const Denormals denormals(wave.mode);
    Result<u64> result;
    std::uint8_t out[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
        const u64 addend = c.load(lane, denormals);
        u64 product, sum;
        if constexpr (Signed) {
            product = static_cast<u64>(std::int64_t{static_cast<std::int32_t>(a[lane])} * static_cast<std::int32_t>(b[lane]));
        } else {
            product = u64{a[lane]} * b[lane];
        }
        const bool overflow = __builtin_add_overflow(product, addend, &sum);
        // Bit 64 of the sum of the operands extended to 65 bits, by their signs or by zeros.
        const bool signs = Signed && ((product ^ addend) >> 63) != 0;
        out[lane] = static_cast<std::uint8_t>(overflow != signs);
        result.set(lane, sum);
    }
    const u64 lanes = written_lanes(wave, in);
    result.finish(wave, in, denormals);
    store_mask(wave, in, gather_bits(out) & lanes);
}

/// Any bitwise function of three sources, by its truth table.
template <bool Short> void three_input_function(Wave& wave, const Instruction& in) {
    Row buffers[3], result;
    const u32* rows[3];
    for (int n = 0; n < 3; ++n) {
        rows[n] = fetch_raw(wave, in, n, 0, buffers[n]);
        if (Short && ((in.op_sel >> n) & 1) != 0) {
            Row shifted;
            for (int lane = 0; lane < kLanes; ++lane) {
                shifted.lane[lane] = rows[n][lane] >> 16;
            }
            buffers[n] = shifted;
            rows[n] = buffers[n].lane;
        }
    }
    const auto table = static_cast<unsigned>(in.imm);
    for (int lane = 0; lane < kLanes; ++lane) {
        const u32 a = rows[0][lane], b = rows[1][lane], c = rows[2][lane];
        u32 value = 0;
        for (unsigned term = 0; term < 8; ++term) {
            const u32 all = ((term & 4) != 0 ? a : ~a) & ((term & 2) != 0 ? b : ~b) & ((term & 1) != 0 ? c : ~c);
            value |= ((table >> term) & 1) != 0 ? all : 0u;
        }
        result.lane[lane] = value;
    }
    Short ? store_slow(wave, in, 0, Placement::low_keeping, result) : store(wave, in, 0, result);
}

} // namespace

Executor carry_executor(Opcode op) {
    switch (op) {
    case Opcode::v_add_co_u32:
        return &carry<Kind::add, false>;
    case Opcode::v_sub_co_u32:
        return &carry<Kind::subtract, false>;
    case Opcode::v_subrev_co_u32:
        return &carry<Kind::subtract_reversed, false>;
    case Opcode::v_addc_co_u32:
        return &carry<Kind::add, true>;
    case Opcode::v_subb_co_u32:
        return &carry<Kind::subtract, true>;
    case Opcode::v_subbrev_co_u32:
        return &carry<Kind::subtract_reversed, true>;
    case Opcode::v_cndmask_b32:
        return &select;
    case Opcode::v_mbcnt_lo_u32_b32:
        return &masked_count<0>;
    case Opcode::v_mbcnt_hi_u32_b32:
        return &masked_count<32>;
    case Opcode::v_mad_u64_u32:
        return &wide_multiply_add<false>;
    case Opcode::v_mad_i64_i32:
        return &wide_multiply_add<true>;
    case Opcode::v_bitop3_b32:
        return &three_input_function<false>;
    case Opcode::v_bitop3_b16:
        return &three_input_function<true>;
    default:
        return nullptr;
    }
}

} // namespace emulator
