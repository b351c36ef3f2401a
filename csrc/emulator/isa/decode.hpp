// Machine code to Instruction.
#pragma once

#include "instruction.hpp"

#include <cstddef>

namespace emulator {

enum class DecodeFailure : std::uint8_t {
    none,
    truncated,        // the code ends inside the instruction
    unknown_encoding, // no format of these archs begins like this (MTBUF among them)
    unknown_opcode,   // the format has no such number on this arch, or not in this encoding
    bad_operand,      // a field names no register, or a tuple that leaves its register file
};

struct DecodeError {
    DecodeFailure failure = DecodeFailure::none;
    std::uint32_t pc = 0;
    std::uint32_t word = 0;    // the first dword
    Opcode op = Opcode::count; // if that much was known
};

const char* describe(DecodeFailure failure);

/// Decodes the instruction at `code`, of which `size` bytes may be read; `pc` is only kept. False: `error` says why, `out` is unspecified.
bool decode(const std::uint8_t* code, std::size_t size, std::uint32_t pc, Arch arch, Instruction& out, DecodeError& error);

/// The counters of s_waitcnt.
struct Waitcnt {
    std::uint8_t vmcnt, expcnt, lgkmcnt;
};

constexpr Waitcnt waitcnt_of(std::int32_t imm) {
    const auto bits = static_cast<std::uint32_t>(imm);
    return {static_cast<std::uint8_t>((bits & 15) | (bits >> 14 & 3) << 4), static_cast<std::uint8_t>(bits >> 4 & 7),
            static_cast<std::uint8_t>(bits >> 8 & 15)};
}

} // namespace emulator
