// Results of loads on their way: read at issue, written to registers or LDS when they arrive.
#pragma once

#include "wave.hpp"

#include <cstdint>

namespace emulator {

struct Pending {
    enum class Target : std::uint8_t { nothing, vgpr, sgpr, lds };
    Target target;
    std::uint8_t dwords;      // of a lane; of the whole load for SGPRs
    std::uint8_t half;        // 0 whole registers, 1 the low 16 bits only, 2 the high 16 bits only
    std::uint16_t first;      // register number
    std::uint32_t lds_bytes;  // of a lane, for LDS targets
    std::uint32_t lds_offset; // of lane 0, for LDS targets
    std::uint32_t pc;
    std::uint64_t ready;                       // clock
    std::uint64_t lanes;                       // active lanes
    alignas(64) std::uint32_t data[4][kLanes]; // [dword][lane]; SGPRs in data[0]
};

/// Loads in flight of one counter, in order of issue. The counter of the hardware holds no more than `kCapacity`, then issue stalls.
struct PendingQueue {
    static constexpr int kCapacity = 64;
    Pending* slot[kCapacity]; // ring
    int head = 0;
    int count = 0;

    Pending& oldest() const {
        return *slot[head];
    }
};

struct WaveMemory {
    static constexpr int kSlots = 64 + 16;
    static constexpr int kLogged = 64;
    PendingQueue vector, local; // vmcnt; lgkmcnt
    Pending* free[kSlots];
    int free_count;
    std::uint64_t next_ready;         // the earliest clock at which a load in flight arrives
    std::uint64_t sequence;           // accesses so far, for drawn latencies
    std::uint32_t first_pcs[kLogged]; // of the first instructions of the wave: all of them, while there are fewer than the array holds
    int logged;
    Pending storage[kSlots];
};

/// The counter an access is counted by, and how long it takes.
enum class Port : std::uint8_t { vector, local };

enum class Access : std::uint8_t { lds, scalar, vector_narrow, vector_wide };

/// Starts a load. Its target is `nothing` until the executor fills the entry in; complete with `issued`.
Pending& begin_pending(Wave& wave, Port port, std::uint32_t pc);
/// Sets when the newest entry of `port` arrives.
void issued(Wave& wave, Pending& entry, Port port, Access access);
/// Delivers everything that has arrived by the wave's clock.
void deliver_arrived(Wave& wave);
/// s_waitcnt: delivers until no more than the given numbers are in flight; the wave's clock moves to the last arrival.
void wait_counters(Wave& wave, int vector_left, int local_left);

} // namespace emulator
