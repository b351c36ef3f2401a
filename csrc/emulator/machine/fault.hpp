// What can go wrong inside a launch. A fault ends the launch with a report; it never ends the process.
#pragma once

#include <cstdint>

namespace emulator {

enum class FaultKind : std::uint8_t {
    none,
    unknown_opcode,
    global_out_of_bounds,
    lds_out_of_bounds,
    uninitialised_register,
    uninitialised_lds,
    misaligned,
    scalar_out_of_bounds,
    bad_program_counter,
    instruction_budget,
    barrier_deadlock,
    unsupported, // an encoding the instruction set defines and this emulator does not run
};

struct Fault {
    FaultKind kind = FaultKind::none;
    std::int16_t lane = -1;    // -1: not of one lane
    std::uint64_t address = 0; // global address, LDS offset, or register number
    std::uint32_t size = 0;    // bytes of the access
    bool write = false;

    explicit operator bool() const {
        return kind != FaultKind::none;
    }
};

} // namespace emulator
