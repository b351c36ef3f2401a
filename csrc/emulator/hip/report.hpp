// The report of a launch, as JSON.
#pragma once

#include "json.hpp"
#include "modules.hpp"

namespace emulator_host {

/// Writes fault, counters and findings of a launch.
void write_report(Json& json, const Function& function, const LaunchRequest& request, const LaunchResult& result);

} // namespace emulator_host
