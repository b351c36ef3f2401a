// Which compiled level of the machine runs on this CPU.
#pragma once

#include "../machine/engine.hpp"

namespace emulator_host {

/// The highest level this CPU has, or the one AITER_MLA_EMULATOR_LEVEL names (1, 3, 4) if the CPU has it. All give the same results.
const Engine& engine();

} // namespace emulator_host
