// What a schedule request means before any length is known. Shared with the device planner: constexpr functions, C headers only.
#pragma once

#include "abi.h"

namespace planner {

constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

template <typename T> constexpr T least(T a, T b) {
    return a < b ? a : b;
}

template <typename T> constexpr T most(T a, T b) {
    return a < b ? b : a;
}

struct Geometry {
    int32_t batch;
    int32_t q_len;
    int32_t tokens; // of one tile, at most
    int32_t min_tokens;
    int32_t pieces_of_q; // tiles a request's query tokens are cut into
    int32_t head_groups;
    int32_t page_size;
    int32_t granularity;
    int32_t list_pages; // pages in a query token's own KV list, -1 if not sparse
    int32_t item_cost;
    int32_t workgroups;
    int64_t busy_workgroups; // that may get work
    int64_t tiles;           // slots: a request with fewer query tokens leaves some empty
    uint8_t mask;
    bool causal;
    bool virtual_batches;
    bool kv_in_tokens;
    bool partial_always;
    bool context_parallel;
};

/// The request must have passed check_request.
constexpr Geometry geometry_of(const amla_schedule_request& r) {
    Geometry g = {};
    g.batch = r.batch;
    g.q_len = r.q_len;
    g.tokens = r.one_token_items != 0 ? 1 : least(r.q_len, r.kernel_tokens);
    g.min_tokens = r.min_tokens;
    g.pieces_of_q = static_cast<int32_t>(ceil_div(r.q_len, g.tokens));
    g.head_groups = static_cast<int32_t>(ceil_div(r.heads, r.kernel_heads));
    g.page_size = r.page_size;
    g.granularity = r.kv_granularity;
    g.list_pages = r.top_k < 0 ? -1 : static_cast<int32_t>(ceil_div(r.top_k, r.page_size));
    g.item_cost = r.item_cost;
    g.workgroups = r.workgroups;
    // A virtual batch is a request's head group; in sparse work each query token is a batch of its own.
    const int64_t batches = int64_t{r.batch} * g.head_groups * (r.top_k < 0 ? 1 : r.q_len);
    g.busy_workgroups = r.max_split_per_batch < 0 ? r.workgroups : least<int64_t>(r.workgroups, batches * r.max_split_per_batch);
    g.tiles = int64_t{r.batch} * g.pieces_of_q * g.head_groups;
    g.mask = r.mask;
    g.causal = r.causal != 0;
    g.virtual_batches = r.virtual_batches != 0;
    g.kv_in_tokens = r.kv_in_tokens != 0;
    g.partial_always = r.partial_always != 0;
    g.context_parallel = r.context_parallel != 0;
    return g;
}

} // namespace planner
