// The machine compiled once, in place of csrc/emulator/hip/level.cpp, which chooses one of three.
#include "hip/level.hpp"

namespace emulator {
extern const emulator_host::Engine kEngine;
}

namespace emulator_host {

const Engine& engine() {
    return emulator::kEngine;
}

} // namespace emulator_host
