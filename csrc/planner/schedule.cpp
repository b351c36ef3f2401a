// The host planner: walks the tiles in order. Each of its steps is one of the closed forms that the device planner shares.
#include "checks.hpp"
#include "item.hpp"

namespace planner {

namespace {

/// Calls visit(sequence, tile, slot) for every tile slot in order, empty ones included. A slot stands for all head groups of
/// its query tokens; they follow one another.
template <typename Visit> void each_tile(const Geometry& g, const amla_index_tensors& index, const Visit& visit) {
    int64_t slot = 0;
    for (int32_t b = 0; b < g.batch; ++b) {
        const Sequence sequence = sequence_of(g, index, b);
        for (int32_t piece = 0; piece < g.pieces_of_q; ++piece) {
            visit(sequence, tile_of(g, sequence, piece), slot);
            slot += g.head_groups;
        }
    }
}

Line measure(const Geometry& g, const amla_index_tensors& index, int64_t& blocks) {
    int64_t total = 0;
    blocks = 0;
    each_tile(g, index, [&](const Sequence&, const Tile& tile, int64_t) {
        blocks += tile.blocks * g.head_groups;
        total += tile.blocks > 0 ? (tile.blocks + g.item_cost) * g.head_groups : 0;
    });
    return line_of(g, total);
}

/// Calls visit(sequence, tile, slot, group, begin, pieces) for every tile and head group; begin is its place on the line.
template <typename Visit> void each_group(const Geometry& g, const amla_index_tensors& index, const Line& line, const Visit& visit) {
    int64_t begin = 0;
    each_tile(g, index, [&](const Sequence& sequence, const Tile& tile, int64_t slot) {
        for (int32_t group = 0; group < g.head_groups; ++group) {
            const int64_t pieces = tile.blocks > 0 ? piece_count(line, begin, tile.blocks) : 0;
            visit(sequence, tile, slot + group, group, begin, pieces);
            begin += tile.blocks > 0 ? tile.blocks + g.item_cost : 0;
        }
    });
}

/// A tile that one workgroup does alone is written by the kernel itself.
int64_t parts_of(const Geometry& g, int64_t pieces) {
    return pieces > 1 || g.partial_always ? pieces : 0;
}

struct Need {
    const char* argument;
    const void* memory;
    int64_t size;
    int64_t needed;
};

int32_t check_room(const Geometry& g, const amla_schedule_tensors& t, const amla_schedule_counts& counts, amla_planner_error* error) {
    const Need needs[] = {
        {"work_metadata", t.work_metadata, 2, 2},
        {"work_indptr", t.work_indptr, t.work_indptr_size, int64_t{g.workgroups} + 1},
        {"work_info_set", t.work_info_set, t.work_info_rows, counts.items},
        {"reduce_indptr", t.reduce_indptr, t.reduce_indptr_size, g.tiles + 1},
        {"reduce_final_map", t.reduce_final_map, t.reduce_final_rows, g.tiles},
        {"reduce_partial_map", t.reduce_partial_map, t.reduce_partial_size, counts.parts},
    };
    for (const Need& need : needs) {
        if (need.size < need.needed || (need.memory == nullptr && need.needed > 0)) {
            return fail(error, AMLA_PLANNER_TOO_SMALL, need.argument, "room for the whole schedule (got: its rows)", need.size);
        }
    }
    return AMLA_PLANNER_OK;
}

void write_item(int32_t* row, const Item& item) {
    const int32_t words[kItemWords] = {item.batch,    item.partial_row, item.q_begin,   item.q_end,
                                       item.kv_begin, item.kv_end,      item.kv_offset, item.pad};
    for (int i = 0; i < kItemWords; ++i) {
        row[i] = words[i];
    }
}

void write(const Geometry& g, const amla_index_tensors& index, const Line& line, const amla_schedule_tensors& t) {
    t.work_metadata[0] = reinterpret_cast<uint64_t>(t.work_indptr);
    t.work_metadata[1] = reinterpret_cast<uint64_t>(t.work_info_set);
    int64_t items = 0;
    int64_t parts = 0;
    int64_t workgroups = 0; // whose beginning is written
    each_group(g, index, line, [&](const Sequence& sequence, const Tile& tile, int64_t slot, int32_t group, int64_t begin, int64_t pieces) {
        const int64_t own_parts = parts_of(g, pieces);
        t.reduce_indptr[slot] = static_cast<int32_t>(parts);
        const int32_t row = own_parts > 0 ? first_row(g, sequence, tile, group) : 0;
        t.reduce_final_map[2 * slot] = row;
        t.reduce_final_map[2 * slot + 1] = own_parts > 0 ? row + tile.rows() : 0;
        for (int64_t i = 0; i < pieces; ++i) {
            const Piece piece = piece_of(line, begin, tile.blocks, i);
            for (; workgroups <= piece.workgroup; ++workgroups) {
                t.work_indptr[workgroups] = static_cast<int32_t>(items);
            }
            const Item item = item_of(g, sequence, tile, group, piece, own_parts > 0 ? parts + i : -1);
            write_item(t.work_info_set + items * kItemWords, item);
            if (own_parts > 0) {
                t.reduce_partial_map[parts + i] = item.partial_row;
            }
            ++items;
        }
        parts += own_parts;
    });
    for (; workgroups < t.work_indptr_size; ++workgroups) {
        t.work_indptr[workgroups] = static_cast<int32_t>(items);
    }
    for (int64_t slot = g.tiles; slot < t.reduce_indptr_size; ++slot) {
        t.reduce_indptr[slot] = static_cast<int32_t>(parts);
    }
}

} // namespace

} // namespace planner

extern "C" int32_t amla_schedule_make(const amla_schedule_request* request, const amla_index_tensors* index,
                                      const amla_schedule_tensors* tensors, amla_schedule_counts* counts, amla_planner_error* error) {
    using namespace planner;
    int32_t code = check_request(*request, error);
    code = code == AMLA_PLANNER_OK ? check_index(*index, request->batch, request->page_size, error) : code;
    const Geometry g = code == AMLA_PLANNER_OK ? geometry_of(*request) : Geometry{};
    code = code == AMLA_PLANNER_OK ? check_lengths(g, *index, error) : code;
    if (code != AMLA_PLANNER_OK) {
        return code;
    }
    amla_schedule_counts found = {};
    const Line line = measure(g, *index, found.blocks);
    found.workgroups = line.segments;
    each_group(g, *index, line, [&](const Sequence&, const Tile&, int64_t, int32_t, int64_t, int64_t pieces) {
        found.items += pieces;
        found.parts += parts_of(g, pieces);
    });
    code = check_room(g, *tensors, found, error);
    if (code != AMLA_PLANNER_OK) {
        return code;
    }
    write(g, *index, line, *tensors);
    *counts = found;
    return AMLA_PLANNER_OK;
}
