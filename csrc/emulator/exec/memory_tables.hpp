// Executors of the memory formats, by opcode number; null where the format has none that runs here.
#pragma once

#include "../machine/wave.hpp"

namespace emulator {

Executor smem_executor(Opcode op);
Executor smem_buffer_executor(Opcode op);
Executor smem_atomic_executor(unsigned number);
Executor ds_executor(unsigned number);
Executor ds_atomic_executor(unsigned number);
Executor ds_lane_executor(Opcode op);
Executor ds_append_executor(Opcode op);
Executor mubuf_executor(unsigned number);
Executor flat_executor(unsigned number);
Executor global_executor(unsigned number);
Executor scratch_executor(unsigned number);

} // namespace emulator
