// Merge of the parts of a schedule's split tiles.
#include "checks.hpp"
#include "merge.hpp"

namespace planner {

namespace {

struct Rows {
    int64_t begin;
    int64_t end;
};

Rows rows_of(const amla_reduce_request& r, int64_t tile) {
    if (r.reduce_final_map != nullptr) {
        return {r.reduce_final_map[2 * tile], r.reduce_final_map[2 * tile + 1]};
    }
    const int64_t rows = int64_t{r.reduce_partial_map[1]} - r.reduce_partial_map[0];
    return {tile * rows, tile * rows + rows};
}

int64_t parts_of(const amla_reduce_request& r, int64_t tile) {
    const int64_t parts = int64_t{r.reduce_indptr[tile + 1]} - r.reduce_indptr[tile];
    return parts < r.least_parts ? 0 : parts;
}

int32_t check_memory(const amla_reduce_request& r, amla_planner_error* error) {
    struct Given {
        const char* argument;
        const void* memory;
        bool needed;
    };

    const Given given[] = {
        {"reduce_indptr", r.reduce_indptr, true},
        {"reduce_partial_map", r.reduce_partial_map, r.partial_map_size > 0},
        {"partial_out", r.partial_out, r.partial_rows > 0},
        {"partial_lse", r.partial_lse, r.partial_rows > 0},
    };
    for (const Given& g : given) {
        if (g.memory == nullptr && g.needed) {
            return fail(error, AMLA_PLANNER_INVALID, g.argument, "a tensor with memory", 0);
        }
    }
    return AMLA_PLANNER_OK;
}

int32_t check_scalars(const amla_reduce_request& r, amla_planner_error* error) {
    const Range ranges[] = {
        {"tiles", "0 or more", r.tiles, 0, kMaxIndex},
        {"partial_rows", "0 or more", r.partial_rows, 0, kMaxIndex},
        {"reduce_partial_map", "0 or more entries", r.partial_map_size, 0, kMaxIndex},
        {"kernel_heads", "1 to 128", r.kernel_heads, 1, kMaxHeads},
        {"head_groups", "1 to 128", r.head_groups, 1, kMaxHeads},
        {"least_parts", "1 or 2", r.least_parts, 1, 2},
        {"heads", "at most those of all head groups", r.output.heads, 1, int64_t{r.kernel_heads} * r.head_groups},
    };
    if (const int32_t code = check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), error); code != AMLA_PLANNER_OK) {
        return code;
    }
    return check_output(r.output, error);
}

int32_t check_tile(const amla_reduce_request& r, int64_t tile, amla_planner_error* error) {
    if (r.reduce_indptr[tile] < 0 || r.reduce_indptr[tile + 1] < r.reduce_indptr[tile] || r.reduce_indptr[tile + 1] > r.partial_map_size) {
        return fail(error, AMLA_PLANNER_INVALID, "reduce_indptr", "values that never decrease, within reduce_partial_map",
                    r.reduce_indptr[tile + 1], tile + 1);
    }
    if (parts_of(r, tile) == 0) {
        return AMLA_PLANNER_OK;
    }
    if (r.reduce_final_map == nullptr && r.partial_map_size < 2) {
        return fail(error, AMLA_PLANNER_INVALID, "reduce_final_map", "a map, where fewer than two parts tell a tile's rows", 0);
    }
    const Rows rows = rows_of(r, tile);
    if (rows.begin < 0 || rows.end < rows.begin || rows.end > r.output.tokens * r.head_groups) {
        return fail(error, AMLA_PLANNER_INVALID, "reduce_final_map", "rows of the output", rows.end, tile);
    }
    for (int64_t k = r.reduce_indptr[tile]; k < r.reduce_indptr[tile + 1]; ++k) {
        if (r.reduce_partial_map[k] < 0 || r.reduce_partial_map[k] + (rows.end - rows.begin) > r.partial_rows) {
            return fail(error, AMLA_PLANNER_INVALID, "reduce_partial_map", "rows of the partial buffers", r.reduce_partial_map[k], k);
        }
    }
    return AMLA_PLANNER_OK;
}

void reduce_tile(const amla_reduce_request& r, int64_t tile) {
    const int64_t parts = parts_of(r, tile);
    const int32_t* map = r.reduce_partial_map + r.reduce_indptr[tile];
    const Rows rows = parts > 0 ? rows_of(r, tile) : Rows{0, 0};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t token = row / r.head_groups;
        const int32_t first_head = static_cast<int32_t>(row % r.head_groups) * r.kernel_heads;
        for (int32_t head = 0; head < r.kernel_heads && first_head + head < r.output.heads; ++head) {
            const auto place = [&](int64_t k) { return (map[k] + row - rows.begin) * r.kernel_heads + head; };
            merge_row(
                r.output, token * r.output.heads + first_head + head, parts, [&](int64_t k) { return r.partial_lse[place(k)]; },
                [&](int64_t k) { return r.partial_out + place(k) * r.output.head_dim; });
        }
    }
}

} // namespace

} // namespace planner

extern "C" int32_t amla_reduce(const amla_reduce_request* request, amla_planner_error* error) {
    using namespace planner;
    int32_t code = check_scalars(*request, error);
    code = code == AMLA_PLANNER_OK ? check_memory(*request, error) : code;
    for (int64_t tile = 0; code == AMLA_PLANNER_OK && tile < request->tiles; ++tile) {
        code = check_tile(*request, tile, error);
    }
    for (int64_t tile = 0; code == AMLA_PLANNER_OK && tile < request->tiles; ++tile) {
        reduce_tile(*request, tile);
    }
    return code;
}
