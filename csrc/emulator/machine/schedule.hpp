// Runs the waves of one workgroup to their end.
#pragma once

#include "code.hpp"
#include "workgroup.hpp"

namespace emulator {

/// What ended a workgroup early.
struct GroupFault {
    Fault fault;
    std::uint32_t pc;
    int wave;
    std::uint64_t clock;
};

/// True when every wave reached its end. `executed` counts wave instructions by opcode.
bool run_workgroup(Workgroup& group, const Code& code, std::uint64_t budget, std::uint64_t* executed, GroupFault& fault);

/// Issue clock of the wave that ended last.
std::uint64_t last_clock(const Workgroup& group);

} // namespace emulator
