// Executors of the scalar formats; null for an opcode that is not of the format or cannot run.
#pragma once

#include "../machine/wave.hpp"

namespace emulator::scalar {

Executor unary(Opcode op);
Executor binary(Opcode op);
Executor compare(Opcode op);
Executor immediate(Opcode op);
Executor flow(Opcode op);

} // namespace emulator::scalar
