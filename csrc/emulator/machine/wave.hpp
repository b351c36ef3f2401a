// Architectural state of one wave64, as executors see it.
#pragma once

#include "../isa/instruction.hpp"
#include "fault.hpp"

#include <cstdint>

namespace emulator {

inline constexpr int kLanes = 64;
inline constexpr int kAccBase = 256; // AccVGPR n is vector register kAccBase + n

struct Workgroup;

/// MODE register fields that change results.
struct Mode {
    std::uint8_t round32 = 0, round16_64 = 0;   // 0 nearest even
    std::uint8_t denorm32 = 0, denorm16_64 = 3; // bit 0: keep input denormals, bit 1: keep output denormals
    bool dx10_clamp = true, ieee = true;
    bool half_overflow_clamps = false; // FP16_OVFL: overflow of half and fp8 results gives the greatest number
};

struct alignas(64) Wave {
    std::uint32_t v[512][kLanes]; // 0..255 arch VGPRs, 256..511 AccVGPRs
    std::uint32_t s[128];         // scalar registers as encoded: 106/107 VCC, 124 M0, 126/127 EXEC
    bool scc;
    bool ended;
    bool at_barrier;
    bool gpr_idx; // MODE.GPR_IDX_EN: vector registers are relative to M0
    Mode mode;
    Arch arch;
    std::uint32_t pc;          // byte offset of the NEXT instruction; executors of branches overwrite it
    std::uint64_t clock;       // issue clock
    std::uint64_t matrix_free; // clock at which the matrix core takes the next MFMA
    std::uint16_t id;          // wave number in its workgroup
    Workgroup* group;
    Fault fault; // set by an executor; the launch ends after the instruction

    std::uint64_t exec() const {
        return s[126] | (std::uint64_t{s[127]} << 32);
    }

    std::uint64_t vcc() const {
        return s[106] | (std::uint64_t{s[107]} << 32);
    }

    /// Operands that s_set_gpr_idx made relative: bit 0 src0, 1 src1, 2 src2, 3 dst. The index is M0[7:0].
    unsigned index_mask() const {
        return gpr_idx ? s[124] >> 12 & 15 : 0;
    }

    void set_pair(int index, std::uint64_t value) {
        s[index] = static_cast<std::uint32_t>(value);
        s[index + 1] = static_cast<std::uint32_t>(value >> 32);
    }
};

/// Executes one instruction on a wave. Null in the table of an arch: the opcode is a fault.
using Executor = void (*)(Wave&, const Instruction&);

} // namespace emulator
