// The report of a launch, as JSON.
#pragma once

#include "json.hpp"
#include "modules.hpp"

namespace emulator_host {

/// Writes fault, counters and findings of a launch.
void write_report(Json& json, const Function& function, const LaunchRequest& request, const LaunchResult& result);

/// Lists the instructions of the kernel's text that cannot run.
void write_audit(Json& json, const Function& function);

} // namespace emulator_host
