// A running workgroup: its waves, its LDS, and what they share.
#pragma once

#include "engine.hpp"
#include "pending.hpp"
#include "wave.hpp"

#include <cstdint>

namespace emulator {

inline constexpr int kMaxWaves = 16;
// Addresses no process has, where flat accesses reach LDS and scratch.
inline constexpr std::uint64_t kSharedAperture = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kPrivateAperture = std::uint64_t{2} << 48;

struct Checks;
struct Code;

struct Traffic {
    std::uint64_t global_read, global_written, lds_read, lds_written;
};

struct Workgroup {
    std::uint8_t* lds;
    std::uint32_t lds_bytes;
    std::uint8_t* scratch;       // of all lanes of all waves
    std::uint32_t private_bytes; // of a lane
    std::uint64_t code_base;     // device address of offset 0 of the code
    std::uint64_t number;        // in the grid
    emulator_host::Ranges memory;
    const emulator_host::Options* options;
    const emulator_host::Range* recent; // the range of the last access: most accesses repeat it
    Traffic traffic;
    const Code* code;
    bool used; // the waves have run before, and hold what they wrote
    int wave_count;
    Wave* waves;
    WaveMemory* wave_memory;
    Checks* checks; // null when off

    std::uint8_t* lane_scratch(const Wave& wave, int lane) const {
        return scratch + (std::size_t{wave.id} * kLanes + static_cast<std::size_t>(lane)) * private_bytes;
    }

    /// The range that holds all of [begin, end), or null.
    const emulator_host::Range* range_of(std::uint64_t begin, std::uint64_t end) {
        if (recent == nullptr || begin < recent->begin || begin >= recent->end) {
            const emulator_host::Range* found = memory.find(begin);
            if (found == nullptr) {
                return nullptr;
            }
            recent = found;
        }
        return end <= recent->end && begin <= end ? recent : nullptr;
    }
};

inline WaveMemory& memory_of(Wave& wave) {
    return wave.group->wave_memory[wave.id];
}

/// Words 235..238 of the scalar source encoding, as the two halves of a 64-bit value.
constexpr std::uint64_t aperture(int source) {
    switch (source) {
    case 235:
        return kSharedAperture;
    case 236:
        return kSharedAperture + 0xffffffffU;
    case 237:
        return kPrivateAperture;
    case 238:
        return kPrivateAperture + 0xffffffffU;
    default:
        return 0;
    }
}

} // namespace emulator
