// Where each family of instructions is executed.
#pragma once

#include "../machine/wave.hpp"

namespace emulator {

/// Executors of scalar ALU and program flow (SOP1, SOP2, SOPK, SOPC, SOPP except s_waitcnt, s_barrier, s_endpgm, which the scheduler runs).
Executor scalar_executor(Opcode op);
/// Executors of VOP1, VOP2, VOP3, VOPC and VOP3P, in any encoding.
Executor vector_executor(Opcode op);
/// Executors of MFMA (MAI) and of v_accvgpr moves.
Executor matrix_executor(Opcode op);
/// Executors of SMEM, DS, MUBUF, FLAT, GLOBAL and SCRATCH.
Executor memory_executor(Opcode op);

} // namespace emulator
