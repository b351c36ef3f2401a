// The groups of vector operations. Each answers null for an opcode that is not its own.
#pragma once

#include "../machine/wave.hpp"

namespace emulator {

Executor float32_executor(Opcode op);
Executor float16_executor(Opcode op);
Executor float64_executor(Opcode op);
Executor integer32_executor(Opcode op);
Executor integer16_executor(Opcode op);
Executor integer64_executor(Opcode op);
Executor carry_executor(Opcode op);
Executor division_executor(Opcode op);
Executor conversion_executor(Opcode op);
Executor narrow_conversion_executor(Opcode op);
Executor scaled_conversion_executor(Opcode op);
Executor comparison_executor(Opcode op);
Executor packed_executor(Opcode op);
Executor dot_executor(Opcode op);
Executor lane_executor(Opcode op);

} // namespace emulator
