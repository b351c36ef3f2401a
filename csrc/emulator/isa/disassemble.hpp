// Instruction to text, spelled as LLVM does.
#pragma once

#include "instruction.hpp"

#include <cstddef>

namespace emulator {

/// Writes the instruction as llvm-objdump of LLVM 22 prints it, at most `capacity` bytes with the final zero. 256 hold every instruction.
void disassemble(const Instruction& instruction, char* text, std::size_t capacity);

} // namespace emulator
