// Rows that no kernel can be trusted with: tokens without any visible key.
#include "empty_rows.hpp"

#include "checks.hpp"
#include "merge.hpp"
#include "tile.hpp"

extern "C" int32_t amla_empty_rows(const amla_empty_request* request, amla_planner_error* error) {
    using namespace planner;
    const amla_empty_request& r = *request;
    if (r.batch < 0 || r.batch >= kMaxIndex || r.page_size < 1 || r.page_size > kMaxPageSize) {
        return fail(error, AMLA_PLANNER_INVALID, "batch", "0 or more requests, pages of 1 to 65536", r.batch);
    }
    if (r.cp_world_size < 1 || r.cp_rank < 0 || r.cp_rank >= r.cp_world_size) {
        return fail(error, AMLA_PLANNER_INVALID, "cp_rank", "0 to cp_world_size - 1", r.cp_rank);
    }
    if (r.cp_world_size > 1 && r.global_kv_indptr == nullptr) {
        return fail(error, AMLA_PLANNER_INVALID, "global_kv_indptr", "a tensor with memory on more than one rank", 0);
    }
    int32_t code = check_output(r.output, error);
    code = code == AMLA_PLANNER_OK ? check_index(r.index, r.batch, r.page_size, error) : code;
    if (code == AMLA_PLANNER_OK && r.index.qo_indptr[r.batch] > r.output.tokens) {
        code = fail(error, AMLA_PLANNER_INVALID, "qo_indptr", "rows of the output", r.index.qo_indptr[r.batch], r.batch);
    }
    if (code != AMLA_PLANNER_OK) {
        return code;
    }
    Geometry g = {};
    g.page_size = r.page_size;
    for (int32_t b = 0; b < r.batch; ++b) {
        const Sequence s = sequence_of(g, r.index, b);
        const int64_t keys = r.global_kv_indptr != nullptr ? int64_t{r.global_kv_indptr[b + 1]} - r.global_kv_indptr[b] : s.keys;
        const int64_t tokens = unseeing_tokens(keys, s.q_len, r.causal != 0, r.cp_world_size, r.cp_rank);
        for (int64_t place = int64_t{s.q_begin} * r.output.heads; place < (s.q_begin + tokens) * r.output.heads; ++place) {
            clear_row(r.output, place);
        }
    }
    return AMLA_PLANNER_OK;
}
