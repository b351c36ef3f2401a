// Wait states that the instruction set leaves to software: how many issue slots must lie between two instructions where the hardware
// does not hold the second one back. What it holds back itself (a busy matrix core, SGPRs on their way from the vector ALU to the
// scalar one) counts as issue slots passed, or has no rule.
#pragma once

#include "engine.hpp"
#include "registers.hpp"

namespace emulator {

/// An instruction that a later one may have to stay clear of.
struct Producer {
    std::uint64_t slot; // of issue; 0: none
    std::uint32_t pc;
    Opcode op;
    std::uint16_t first, count; // registers of its result
    std::uint8_t passes;        // of the matrix core
    std::uint8_t traits;        // of wait_states.cpp
};

struct WaitStates {
    std::uint64_t slot;             // of the next instruction: each takes one, s_nop as many as it says
    std::uint64_t matrix_free;      // the slot at which the matrix core takes the next instruction
    Producer vector[kVectorRows];   // ALU and matrix instructions that wrote the register
    Producer matrix_c[kVectorRows]; // matrix instructions that read it as C
    Producer stored[kVectorRows];   // stores of more than two dwords that read it as data
    Producer scalar[kScalars];      // vector ALU instructions that wrote the register
    Producer m0;                    // the scalar instruction that wrote M0
    Producer set[64];               // s_setreg, by hardware register
    Producer double_matrix;         // the last MFMA on doubles
};

/// A rule that an instruction breaks.
struct WaitStateBreach {
    emulator_host::WaitRule rule;
    const Producer* producer;
    int where; // register, as findings have it
    int needed, had;
};

using BreachSink = void (*)(Wave&, const Instruction&, const WaitStateBreach&);

void begin_wait_states(WaitStates& states);
/// Before an instruction is executed: reports what it breaks, then takes it for a producer of what follows.
void check_wait_states(Wave& wave, WaitStates& states, const Instruction& in, const Spans& read, const Spans& written, BreachSink sink);

} // namespace emulator
