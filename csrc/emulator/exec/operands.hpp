// Vector operands as rows of 64 lanes: fetched with selections and modifiers applied, stored under EXEC.
#pragma once

#include "../machine/wave.hpp"

namespace emulator {

/// One register across the wave.
struct alignas(64) Row {
    std::uint32_t lane[kLanes];
};

/// How the bits of an operand are read: decides the place of the sign, and whether op_sel picks a half.
enum class Reading : std::uint8_t { bits32, half, bits64 };

/// The row of register `word` of source n. A source that is absent stands for the destination as it is (v_fmac, v_dot2c).
const std::uint32_t* fetch_slow(Wave& wave, const Instruction& in, int n, int word, Reading reading, Row& buffer);

inline const std::uint32_t* fetch(Wave& wave, const Instruction& in, int n, int word, Reading reading, Row& buffer) {
    const Operand& source = in.src[n];
    const unsigned altered = (in.neg | in.abs | (reading == Reading::half ? in.op_sel : 0)) >> n & 1u;
    if (source.kind == Operand::Kind::vgpr && altered == 0 && in.encoding <= Encoding::e64 && !wave.gpr_idx) [[likely]] {
        return wave.v[source.index + word];
    }
    return fetch_slow(wave, in, n, word, reading, buffer);
}

/// The row of a packed (VOP3P) or matrix source: no modifier, no selection.
const std::uint32_t* fetch_raw(Wave& wave, const Instruction& in, int n, int word, Row& buffer);

/// The value of a scalar source (not a vector register).
std::uint32_t scalar_value(Wave& wave, const Operand& source, int word);

/// What of a destination register an instruction writes.
enum class Placement : std::uint8_t {
    whole,       // 32 bits
    low_zeroing, // a 16 bit result; op_sel[3] picks the high half, otherwise the high half becomes 0
    low_keeping, // a 16 bit result; op_sel[3] picks the half, the other half stays
};

void store_slow(Wave& wave, const Instruction& in, int word, Placement placement, const Row& value);

inline void store(Wave& wave, const Instruction& in, int word, const Row& value) {
    if ((wave.s[126] & wave.s[127]) == 0xffffffffu && in.encoding <= Encoding::e64 && !wave.gpr_idx) [[likely]] {
        __builtin_memcpy(wave.v[in.dst.index + word + (in.dst.kind == Operand::Kind::agpr ? kAccBase : 0)], value.lane, sizeof value.lane);
        return;
    }
    store_slow(wave, in, word, Placement::whole, value);
}

/// Lanes an instruction writes: EXEC, and with DPP the rows, banks and valid sources.
std::uint64_t written_lanes(const Wave& wave, const Instruction& in);

/// Writes only the lanes of the mask.
void blend(std::uint32_t* target, const std::uint32_t* value, std::uint64_t lanes);

/// One bit per lane from one byte (0 or 1) per lane.
inline std::uint64_t gather_bits(const std::uint8_t* flags) {
    std::uint64_t mask = 0;
    for (int group = 0; group < 8; ++group) {
        std::uint64_t eight;
        __builtin_memcpy(&eight, flags + 8 * group, 8);
        mask |= ((eight * 0x0102040810204080ull) >> 56) << (8 * group);
    }
    return mask;
}

/// Writes a lane mask to the scalar result.
void store_mask(Wave& wave, const Instruction& in, std::uint64_t mask);

/// Reads the carry or selection mask that source n is.
std::uint64_t lane_mask_source(Wave& wave, const Instruction& in, int n);

void fail(Wave& wave, FaultKind kind, std::uint64_t address);

} // namespace emulator
