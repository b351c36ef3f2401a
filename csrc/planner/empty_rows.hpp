// Which query tokens see no key at all. Shared with the device planner: constexpr functions, C headers only.
#pragma once

#include "geometry.hpp"

namespace planner {

/// Keys on this rank among the first `keys` of all ranks: global key j * world + rank is local key j.
constexpr int64_t local_keys(int64_t keys, int32_t world, int32_t rank) {
    return keys > rank ? ceil_div(keys - rank, world) : 0;
}

/// The first tokens of a request that see nothing: how many. `keys` are those of all ranks.
constexpr int64_t unseeing_tokens(int64_t keys, int64_t q_len, bool causal, int32_t world, int32_t rank) {
    if (!causal) {
        return local_keys(keys, world, rank) > 0 ? 0 : q_len;
    }
    // Token i sees the first keys - (q_len - 1 - i), and this rank has one of them if they are more than its rank.
    return most<int64_t>(0, least(q_len, q_len - keys + rank));
}

} // namespace planner
