// Errors as values: every function that can fail returns Code and fills a Status the caller owns.
#pragma once

#include "abi.h"

#include <cstdint>

namespace amla {

using Status = amla_status;
using Code = std::int32_t;

/// Starts an error in `status`: sets its code, clears its details, returns the code for `return fail(...)`.
Code fail(Status& status, Code code);

/// Appends one detail text, formatted like printf and cut to fit. Returns the status' code.
[[gnu::format(printf, 2, 3)]] Code detail(Status& status, const char* format, ...);

/// Error of three plain texts, the usual shape.
Code fail3(Status& status, Code code, const char* first, const char* second, const char* third);

} // namespace amla
