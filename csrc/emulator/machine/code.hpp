// A kernel's text, decoded once: a step for every dword, so that any jump lands on one.
#pragma once

#include "../isa/decode.hpp"
#include "wave.hpp"

#include <cstddef>
#include <cstdint>

namespace emulator {

struct Step {
    enum class Kind : std::uint8_t {
        plain,   // an executor, one issue slot
        matrix,  // an executor that keeps the matrix core busy
        wait,    // s_waitcnt
        nop,     // s_nop
        sleep,   // s_sleep
        barrier, // s_barrier
        end,     // s_endpgm
        unknown, // no such instruction, or none that runs here
    };
    Executor run;
    Kind kind;
    std::uint8_t passes;      // of the matrix core, 4 clocks each
    DecodeFailure failure;    // why the decoder refused it
    std::uint8_t vector_left; // s_waitcnt
    std::uint8_t local_left;
    Instruction in;
};

struct Code {
    Arch arch;
    std::uint32_t size; // bytes
    const std::uint8_t* bytes;
    std::size_t mapped; // bytes of this allocation
    Step steps[];
};

/// Decodes a copy of the text. Null when memory is out or the text is larger than 256 MiB.
Code* predecode(Arch arch, const std::uint8_t* bytes, std::size_t size);
void release(Code* code);

} // namespace emulator
