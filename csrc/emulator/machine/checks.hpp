// Checks beyond results: reads of what was never written, and uses that only timing makes right. Off unless asked for.
#pragma once

#include "workgroup.hpp"

namespace emulator {

inline constexpr std::uint32_t kLdsDwords = 160 * 1024 / 4;

/// Last accesses of one dword of LDS.
struct LdsCell {
    std::uint32_t writer_pc, reader_pc;
    std::uint32_t write_epoch, read_epoch; // barriers passed before the access; 0 when there was none
    std::uint64_t write_clock, read_clock;
    std::uint16_t writers, readers; // waves, in that epoch
    std::uint8_t written;           // one bit for each byte
};

/// A load that no s_waitcnt has covered yet.
struct Uncovered {
    Pending::Target target;
    std::uint8_t dwords;
    std::uint16_t first;
    std::uint32_t pc;
    std::uint64_t ready;
};

struct UncoveredQueue {
    Uncovered entry[64];
    int head, count;
};

struct WaveChecks {
    std::uint64_t defined[512]; // lanes ever written
    bool scalar_defined[128];
    std::uint8_t pending[512]; // uncovered loads to the register
    std::uint8_t scalar_pending[128];
    UncoveredQueue queue[2]; // by Port
};

struct Checks {
    bool uninitialised, hazards;
    std::uint32_t epoch;
    int findings;
    emulator_host::Finding finding[emulator_host::kMaxFindings];
    WaveChecks wave[kMaxWaves];
    LdsCell lds[kLdsDwords];
};

/// One finding for each pair of instructions, and for registers one for each register.
inline bool same_finding(const emulator_host::Finding& a, const emulator_host::Finding& b) {
    using Kind = emulator_host::Finding::Kind;
    const bool is_register = a.kind == Kind::vgpr_before_wait || a.kind == Kind::sgpr_before_wait;
    return a.kind == b.kind && a.pc == b.pc && a.from_pc == b.from_pc && (!is_register || a.where == b.where);
}

void begin_checks(Workgroup& group);
void mark_defined_scalar(Wave& wave, int index);
void mark_defined_vector(Wave& wave, int row);

/// Before an instruction; false after a fault.
bool check_operands(Wave& wave, const Instruction& in);
/// After it.
void check_results(Wave& wave, const Instruction& in);
/// When a load is issued, and at s_waitcnt.
void check_issue(Wave& wave, const Pending& entry, Port port);
void check_wait(Wave& wave, int vector_left, int local_left);
/// An access to LDS; false after a fault.
bool check_lds(Wave& wave, const Instruction& in, const std::uint32_t* offsets, std::uint64_t lanes, std::uint32_t bytes, bool write);
/// The arrival of a load to LDS.
void check_lds_arrival(Wave& wave, const Pending& entry);
void check_barrier(Workgroup& group);

} // namespace emulator
