// What must hold before anything is computed: of a request, and of the index tensors' values.
#pragma once

#include "geometry.hpp"

namespace planner {

inline constexpr int32_t kMaxHeads = 128;
inline constexpr int32_t kMaxTokens = 1024; // query tokens of a request
inline constexpr int32_t kMaxPageSize = 1 << 16;
inline constexpr int32_t kMaxWorkgroups = 1 << 16;
inline constexpr int32_t kMaxItemCost = 1 << 12;
inline constexpr int64_t kMaxIndex = INT32_MAX;

/// Fills the error and returns the code.
int32_t fail(amla_planner_error* error, int32_t code, const char* argument, const char* expected, int64_t got, int64_t index = -1);

/// A number and the bounds it must keep.
struct Range {
    const char* argument;
    const char* expected;
    int64_t got;
    int64_t low;
    int64_t high;
};

int32_t check_ranges(const Range* ranges, int count, amla_planner_error* error);

int32_t check_request(const amla_schedule_request& request, amla_planner_error* error);

/// Lengths and places of a batch: begins at 0, never decreases, every KV page has 1..page_size keys.
int32_t check_index(const amla_index_tensors& index, int32_t batch, int32_t page_size, amla_planner_error* error);

/// After check_index: what the values may be for this schedule.
int32_t check_lengths(const Geometry& g, const amla_index_tensors& index, amla_planner_error* error);

int32_t check_output(const amla_merge_output& output, amla_planner_error* error);

} // namespace planner
