// Moves across lanes: read and write of one lane, swaps of registers and of rows.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The register itself, where an instruction names one that it changes.
u32* named_register(Wave& wave, const Operand& operand) {
    return wave.v[operand.index + (operand.kind == Operand::Kind::agpr ? kAccBase : 0)];
}

bool is_vector(const Operand& operand) {
    return operand.kind == Operand::Kind::vgpr || operand.kind == Operand::Kind::agpr;
}

void store_scalar(Wave& wave, const Instruction& in, u32 value) {
    wave.s[in.sdst.index & 127] = value;
}

void read_first_lane(Wave& wave, const Instruction& in) {
    const u64 exec = wave.exec();
    const int lane = exec == 0 ? 0 : __builtin_ctzll(exec);
    store_scalar(wave, in, is_vector(in.src[0]) ? named_register(wave, in.src[0])[lane] : scalar_value(wave, in.src[0], 0));
}

void read_lane(Wave& wave, const Instruction& in) {
    const u32 lane = scalar_value(wave, in.src[1], 0) & 63u;
    store_scalar(wave, in, is_vector(in.src[0]) ? named_register(wave, in.src[0])[lane] : scalar_value(wave, in.src[0], 0));
}

void write_lane(Wave& wave, const Instruction& in) {
    const u32 lane = scalar_value(wave, in.src[1], 0) & 63u;
    named_register(wave, in.dst)[lane] = scalar_value(wave, in.src[0], 0);
}

void swap(Wave& wave, const Instruction& in) {
    u32* a = named_register(wave, in.dst);
    u32* b = named_register(wave, in.src[0]);
    const Row old = *reinterpret_cast<const Row*>(a);
    const u64 exec = wave.exec();
    blend(a, b, exec);
    blend(b, old.lane, exec);
}

/// Exchanges the odd groups of `Width` lanes of the destination with the even groups of the source. EXEC does not matter.
template <int Width> void swap_groups(Wave& wave, const Instruction& in) {
    u32* low = named_register(wave, in.dst);
    u32* high = named_register(wave, in.src[0]);
    for (int first = 0; first < kLanes; first += 2 * Width) {
        for (int lane = first; lane < first + Width; ++lane) {
            const u32 kept = high[lane];
            high[lane] = low[lane + Width];
            low[lane + Width] = kept;
        }
    }
}

void nothing(Wave&, const Instruction&) {}

} // namespace

Executor lane_executor(Opcode op) {
    switch (op) {
    case Opcode::v_readfirstlane_b32:
        return &read_first_lane;
    case Opcode::v_readlane_b32:
        return &read_lane;
    case Opcode::v_writelane_b32:
        return &write_lane;
    case Opcode::v_swap_b32:
        return &swap;
    case Opcode::v_permlane16_swap_b32:
        return &swap_groups<16>;
    case Opcode::v_permlane32_swap_b32:
        return &swap_groups<32>;
    case Opcode::v_nop:
    case Opcode::v_clrexcp:
        return &nothing;
    default:
        return nullptr;
    }
}

} // namespace emulator
