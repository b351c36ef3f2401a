// The report of a launch, as JSON.
#pragma once

#include "json.hpp"
#include "modules.hpp"

namespace emulator_host {

/// Writes fault, counters and findings of a launch.
void write_report(Json& json, const Function& function, const LaunchRequest& request, const LaunchResult& result);

/// Parts of a report: an instruction; a register, as findings and faults number them; what find_hazards found.
void write_place(Json& json, const Function& function, const char* name, std::uint32_t pc);
void write_register(Json& json, std::uint32_t number);
void write_findings(Json& json, const Function& function, const LaunchResult& result);

/// Lists the instructions of the kernel's text that cannot run.
void write_audit(Json& json, const Function& function);

} // namespace emulator_host
