// Runs a grid of workgroups.
#pragma once

#include "engine.hpp"

namespace emulator {

/// Runs the request on the CPUs of the process and returns when every workgroup has ended or one has faulted.
void launch(const emulator_host::LaunchRequest& request, emulator_host::LaunchResult& result);

} // namespace emulator
