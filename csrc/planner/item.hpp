// One row of work_info_set. Shared with the device planner: constexpr functions, C headers only.
#pragma once

#include "line.hpp"
#include "tile.hpp"

namespace planner {

inline constexpr int32_t kItemWords = 8;

struct Item {
    int32_t batch;
    int32_t partial_row; // -1: the kernel writes the final rows itself
    int32_t q_begin;
    int32_t q_end;
    int32_t kv_begin;
    int32_t kv_end;
    int32_t kv_offset;
    int32_t pad;
};

constexpr int32_t first_row(const Geometry& g, const Sequence& s, const Tile& tile, int32_t group) {
    return (s.q_begin + tile.first) * g.head_groups + group;
}

/// part: number of the piece among all parts, or -1 if the tile is not split.
constexpr Item item_of(const Geometry& g, const Sequence& s, const Tile& tile, int32_t group, const Piece& piece, int64_t part) {
    const int64_t pages = piece.end == tile.blocks ? ceil_div(tile.last_keys, g.page_size) : piece.end * g.granularity;
    const int64_t begin = piece.first * g.granularity;
    // An item that counts keys can end inside a page; one that counts pages ends with a page or with the request.
    const int64_t last = g.kv_in_tokens ? tile.last_keys : tile.list_keys;
    const int64_t end_keys = least(pages * g.page_size, last);
    // A kernel that masks shows its last token the keys up to kv_end + kv_offset, and one less to each token before: the last
    // of the item, or of the request. Without the causal mask the offset moves that edge beyond the keys of all tokens.
    int64_t hidden = 0;
    if (g.mask == AMLA_MASK_ITEM) {
        hidden = g.causal ? 0 : tile.rows() - 1;
    } else if (g.mask == AMLA_MASK_REQUEST) {
        hidden = g.causal ? s.q_len - tile.end : s.q_len - 1;
    }
    Item item = {};
    item.q_begin = first_row(g, s, tile, group);
    item.q_end = item.q_begin + tile.rows();
    item.batch = g.virtual_batches ? item.q_begin : s.index;
    item.partial_row = part < 0 ? -1 : static_cast<int32_t>(part * g.tokens);
    item.kv_begin = static_cast<int32_t>(g.kv_in_tokens ? (tile.kv_begin + begin) * g.page_size : tile.kv_begin + begin);
    item.kv_end = static_cast<int32_t>(g.kv_in_tokens ? int64_t{tile.kv_begin} * g.page_size + end_keys : tile.kv_begin + pages);
    item.kv_offset = static_cast<int32_t>(hidden + tile.last_keys - end_keys);
    return item;
}

} // namespace planner
