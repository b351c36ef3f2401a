// How long the matrix core works on one instruction.
#pragma once

#include "../isa/instruction.hpp"

namespace emulator {

/// Passes of four clocks each; 0 for what is no MFMA or SMFMAC.
std::uint8_t matrix_passes(const Instruction& in, Arch arch);

} // namespace emulator
