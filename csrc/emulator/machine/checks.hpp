// Checks beyond results: reads of what was never written, and uses that only timing makes right. Off unless asked for.
#pragma once

#include "wait_states.hpp"
#include "workgroup.hpp"

namespace emulator {

inline constexpr std::uint32_t kLdsDwords = 160 * 1024 / 4;

enum class LdsUse : std::uint8_t {
    read,
    write,
    atomic, // reads and writes as one step, so that two of them need no order
};

/// An access to a dword of LDS.
struct LdsAccess {
    std::uint64_t clock;
    std::uint32_t pc;
    std::uint32_t epoch;  // barriers passed before it, and one; 0: none
    std::uint32_t ticket; // of its wave, among what the same counter counts
    std::uint8_t wave;
    Port port;
    bool atomic;
};

/// The last access of one kind, and the last one by another wave.
struct LdsHistory {
    LdsAccess last, other;
};

struct LdsCell {
    LdsHistory writes, reads;
    std::uint8_t written; // one bit for each byte
};

/// A load or store that no s_waitcnt has covered yet.
struct Uncovered {
    Pending::Target target;
    std::uint8_t dwords;
    bool in_order;       // with the others of its counter; scalar loads return in any order
    std::uint16_t first; // register
    std::uint32_t pc;
    std::uint32_t lds_offset, lds_bytes; // of lane 0, and of each lane
    std::uint64_t lanes;
    std::uint64_t ready;
    std::uint32_t ticket;
};

struct UncoveredQueue {
    static constexpr int kCapacity = 80;
    Uncovered entry[kCapacity]; // the oldest first
    int count;
};

struct WaveChecks {
    std::uint64_t defined[kVectorRows]; // lanes ever written
    bool scalar_defined[kScalars];
    std::uint8_t pending[kVectorRows]; // uncovered loads to the register
    std::uint8_t scalar_pending[kScalars];
    int lds_pending; // uncovered loads to LDS
    // By Port: all but scalar loads, numbered from 1, and how much of it an s_waitcnt had covered at the last barrier.
    std::uint32_t issued[2], done[2];
    UncoveredQueue queue[2]; // by Port
    WaitStates wait_states;
};

struct Checks {
    bool uninitialised, hazards;
    std::uint32_t epoch;
    int findings;
    std::uint64_t left_off; // occurrences of findings beyond the most that are kept
    emulator_host::Finding finding[emulator_host::kMaxFindings];
    WaveChecks wave[kMaxWaves];
    LdsCell lds[kLdsDwords];
};

/// One finding for each pair of instructions and rule.
inline bool same_finding(const emulator_host::Finding& a, const emulator_host::Finding& b) {
    return a.kind == b.kind && a.rule == b.rule && a.pc == b.pc && a.from_pc == b.from_pc;
}

/// Adds the occurrences of a finding to those of a known one; what is kept does not depend on their order.
inline void merge_finding(emulator_host::Finding& known, const emulator_host::Finding& more) {
    known.count += more.count;
    known.where = more.where < known.where ? more.where : known.where;
    known.clocks = more.clocks < known.clocks ? more.clocks : known.clocks;
    const int missing = known.needed - known.had;
    const int more_missing = more.needed - more.had;
    if (more_missing > missing || (more_missing == missing && more.needed > known.needed)) {
        known.needed = more.needed;
        known.had = more.had;
    }
}

inline WaveChecks& checks_of(Wave& wave) {
    return wave.group->checks->wave[wave.id];
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
/// An access to LDS, before it is issued; false after a fault.
bool check_lds(Wave& wave, const Instruction& in, const std::uint32_t* offsets, std::uint64_t lanes, std::uint32_t bytes, LdsUse use);
/// The arrival of a load to LDS.
void check_lds_arrival(Wave& wave, const Pending& entry);
void check_barrier(Workgroup& group);

void add_finding(Checks& checks, const emulator_host::Finding& found);

} // namespace emulator
