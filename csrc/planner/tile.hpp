// Tiles: which query tokens a work item holds, which keys they see, and how many blocks of keys that is.
// Shared with the device planner: constexpr functions, C headers only.
#pragma once

#include "geometry.hpp"

namespace planner {

/// One sequence of the batch.
struct Sequence {
    int32_t index;
    int32_t q_begin; // first query token, of all
    int32_t q_len;
    int32_t kv_begin; // first page, of kv_indices
    int64_t keys;
};

constexpr Sequence sequence_of(const Geometry& g, const amla_index_tensors& index, int32_t batch) {
    Sequence s = {};
    s.index = batch;
    s.q_begin = index.qo_indptr[batch];
    s.q_len = index.qo_indptr[batch + 1] - s.q_begin;
    s.kv_begin = index.kv_indptr[batch];
    const int64_t pages = int64_t{index.kv_indptr[batch + 1]} - s.kv_begin;
    if (pages > 0) {
        s.keys = (pages - 1) * g.page_size + (g.page_size == 1 ? 1 : index.kv_last_page_lens[batch]);
    }
    return s;
}

/// Query tokens [first, end) of a request, and the keys they see. No tokens where nothing is to be done.
struct Tile {
    int32_t first;
    int32_t end;
    int32_t kv_begin;   // first page, of kv_indices
    int64_t list_keys;  // keys of the request, or of the token's own list
    int64_t first_keys; // seen by the first token that sees any
    int64_t last_keys;  // seen by the last token
    int64_t blocks;

    constexpr int32_t rows() const {
        return end - first;
    }
};

/// Keys that a query token of the request sees; less than 1 if none.
constexpr int64_t visible_keys(const Geometry& g, const Sequence& s, int32_t token) {
    return g.causal ? s.keys - (s.q_len - 1 - token) : s.keys;
}

constexpr Tile tile_of(const Geometry& g, const Sequence& s, int32_t piece_of_q) {
    Tile tile = {};
    const int32_t first = least(piece_of_q * g.tokens, s.q_len);
    const int32_t end = least(first + g.tokens, s.q_len);
    // Under the causal mask the first tokens of a request with more query tokens than keys see nothing. On a context-parallel
    // rank that depends on the other ranks' keys, so no token is left out there.
    const bool trims = g.causal && !g.context_parallel;
    const int64_t hidden = s.keys == 0 ? s.q_len : (trims ? most<int64_t>(s.q_len - s.keys, 0) : 0);
    if (most<int64_t>(first, hidden) >= end) {
        return tile;
    }
    const int32_t seeing = static_cast<int32_t>(most<int64_t>(first, hidden));
    // A kernel that knows each token's place in the request, or takes no short item, gets the unseeing tokens as well.
    tile.first = g.mask == AMLA_MASK_REQUEST ? first : most(first, least(seeing, end - g.min_tokens));
    tile.end = end;
    tile.kv_begin = s.kv_begin;
    tile.list_keys = s.keys;
    tile.first_keys = most<int64_t>(visible_keys(g, s, seeing), 1);
    tile.last_keys = trims ? visible_keys(g, s, end - 1) : s.keys;
    if (g.list_pages >= 0) {
        const int64_t most_keys = int64_t{g.list_pages} * g.page_size;
        tile.kv_begin = (s.q_begin + tile.first) * g.list_pages;
        tile.list_keys = least(tile.list_keys, most_keys);
        tile.first_keys = least(tile.first_keys, most_keys);
        tile.last_keys = least(tile.last_keys, most_keys);
    }
    // Blocks are those of the first token, and the last block takes the keys that only later tokens see: so every piece has
    // a key for every token, and is never empty.
    tile.blocks = ceil_div(ceil_div(tile.first_keys, g.page_size), g.granularity);
    return tile;
}

} // namespace planner
