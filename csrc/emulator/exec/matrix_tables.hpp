// The groups of matrix operations. Each answers null for an opcode that is not its own.
#pragma once

#include "../machine/wave.hpp"

#include <type_traits>

namespace emulator {

Executor mfma_float_executor(Opcode op);
Executor mfma_mixed_executor(Opcode op);
Executor mfma_integer_executor(Opcode op);
Executor mfma_double_executor(Opcode op);
Executor sparse_executor(Opcode op);
Executor accumulator_move_executor(Opcode op);

} // namespace emulator
