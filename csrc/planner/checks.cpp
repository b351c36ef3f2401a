#include "checks.hpp"

namespace planner {

int32_t fail(amla_planner_error* error, int32_t code, const char* argument, const char* expected, int64_t got, int64_t index) {
    if (error != nullptr) {
        *error = {argument, expected, got, index};
    }
    return code;
}

namespace {

constexpr bool power_of_two(int64_t value) {
    return value > 0 && (value & (value - 1)) == 0;
}

int32_t invalid(amla_planner_error* error, const char* argument, const char* expected, int64_t got, int64_t index = -1) {
    return fail(error, AMLA_PLANNER_INVALID, argument, expected, got, index);
}

/// Folds that have no meaning together.
int32_t check_folds(const amla_schedule_request& r, amla_planner_error* error) {
    const int32_t tokens = r.one_token_items != 0 ? 1 : least(r.q_len, r.kernel_tokens);
    if (tokens > 1 && r.heads > r.kernel_heads) {
        return invalid(error, "one_token_items", "1 where heads are folded: head groups share no range of rows", 0);
    }
    if (tokens > 1 && r.top_k >= 0) {
        return invalid(error, "one_token_items", "1 in sparse work: each query token has its own KV list", 0);
    }
    if (r.mask == AMLA_MASK_NONE && r.causal != 0 && tokens > 1) {
        return invalid(error, "one_token_items", "1 under a causal mask for a kernel without a mask", 0);
    }
    const bool trims_inside_pages = r.mask == AMLA_MASK_NONE && r.causal != 0 && r.q_len > 1 && r.page_size > 1 && r.kv_in_tokens == 0;
    if (trims_inside_pages && r.context_parallel == 0) {
        return invalid(error, "page_size", "1 under a causal mask for a kernel without a mask that counts pages", r.page_size);
    }
    if (r.context_parallel != 0 && (r.mask != AMLA_MASK_REQUEST || tokens < r.q_len || r.heads > r.kernel_heads || r.top_k >= 0)) {
        return invalid(error, "context_parallel", "0 unless the kernel takes whole requests and masks by their global length", 1);
    }
    return AMLA_PLANNER_OK;
}

} // namespace

int32_t check_ranges(const Range* ranges, int count, amla_planner_error* error) {
    for (int i = 0; i < count; ++i) {
        const Range& r = ranges[i];
        if (r.got < r.low || r.got > r.high) {
            return invalid(error, r.argument, r.expected, r.got);
        }
    }
    return AMLA_PLANNER_OK;
}

int32_t check_request(const amla_schedule_request& r, amla_planner_error* error) {
    const Range ranges[] = {
        {"batch", "0 or more", r.batch, 0, kMaxIndex - 1},
        {"q_len", "1 to 1024", r.q_len, 1, kMaxTokens},
        {"heads", "1 to 128", r.heads, 1, kMaxHeads},
        {"kernel_heads", "1 to 128", r.kernel_heads, 1, kMaxHeads},
        {"kernel_tokens", "1 to 1024", r.kernel_tokens, 1, kMaxTokens},
        {"min_tokens", "1 to kernel_tokens", r.min_tokens, 1, r.kernel_tokens},
        {"page_size", "1 to 65536", r.page_size, 1, kMaxPageSize},
        {"kv_granularity", "1 to 65536", r.kv_granularity, 1, kMaxPageSize},
        {"workgroups", "1 to 65536", r.workgroups, 1, kMaxWorkgroups},
        {"max_split_per_batch", "-1 or 1 and more", r.max_split_per_batch == -1 ? 1 : r.max_split_per_batch, 1, kMaxIndex},
        {"top_k", "-1 or 1 and more", r.top_k == -1 ? 1 : r.top_k, 1, kMaxIndex},
        {"item_cost", "0 to 4096", r.item_cost, 0, kMaxItemCost},
        {"mask", "one of AMLA_MASK_*", r.mask, AMLA_MASK_ITEM, AMLA_MASK_NONE},
    };
    if (const int32_t code = check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), error); code != AMLA_PLANNER_OK) {
        return code;
    }
    if (!power_of_two(r.page_size)) {
        return invalid(error, "page_size", "a power of two", r.page_size);
    }
    if (!power_of_two(r.kv_granularity)) {
        return invalid(error, "kv_granularity", "a power of two", r.kv_granularity);
    }
    if (const int32_t code = check_folds(r, error); code != AMLA_PLANNER_OK) {
        return code;
    }
    const Geometry g = geometry_of(r);
    // Each of the tensors is indexed with 32 bits by the kernels.
    const int64_t pieces = g.tiles + g.workgroups;
    if (int64_t{g.batch} * g.q_len * g.head_groups > kMaxIndex || pieces * g.tokens > kMaxIndex) {
        return invalid(error, "batch", "a batch whose query rows and partial rows count in 32 bits", r.batch);
    }
    return AMLA_PLANNER_OK;
}

int32_t check_index(const amla_index_tensors& index, int32_t batch, int32_t page_size, amla_planner_error* error) {
    if (index.qo_indptr == nullptr || index.kv_indptr == nullptr) {
        return invalid(error, index.qo_indptr == nullptr ? "qo_indptr" : "kv_indptr", "a tensor with memory", 0);
    }
    if (page_size > 1 && batch > 0 && index.kv_last_page_lens == nullptr) {
        return invalid(error, "kv_last_page_lens", "a tensor with memory where pages hold more than one token", 0);
    }
    if (index.qo_indptr[0] != 0) {
        return invalid(error, "qo_indptr", "0 at the beginning", index.qo_indptr[0], 0);
    }
    if (index.kv_indptr[0] < 0) {
        return invalid(error, "kv_indptr", "0 or more", index.kv_indptr[0], 0);
    }
    for (int32_t b = 0; b < batch; ++b) {
        if (index.qo_indptr[b + 1] < index.qo_indptr[b]) {
            return invalid(error, "qo_indptr", "values that never decrease", index.qo_indptr[b + 1], b + 1);
        }
        if (index.kv_indptr[b + 1] < index.kv_indptr[b]) {
            return invalid(error, "kv_indptr", "values that never decrease", index.kv_indptr[b + 1], b + 1);
        }
        const bool has_pages = index.kv_indptr[b + 1] > index.kv_indptr[b];
        if (page_size > 1 && has_pages && (index.kv_last_page_lens[b] < 1 || index.kv_last_page_lens[b] > page_size)) {
            return invalid(error, "kv_last_page_lens", "1 to page_size", index.kv_last_page_lens[b], b);
        }
    }
    return AMLA_PLANNER_OK;
}

int32_t check_lengths(const Geometry& g, const amla_index_tensors& index, amla_planner_error* error) {
    for (int32_t b = 0; b < g.batch; ++b) {
        const int32_t q_len = index.qo_indptr[b + 1] - index.qo_indptr[b];
        if (q_len > g.q_len) {
            return invalid(error, "qo_indptr", "requests of at most q_len tokens", q_len, b + 1);
        }
        // kv_offset counts keys even where the other words count pages.
        const int64_t keys = (int64_t{index.kv_indptr[b + 1]} - index.kv_indptr[b]) * g.page_size;
        if (keys + g.q_len > kMaxIndex) {
            return invalid(error, "kv_indptr", "requests whose keys count in 32 bits", keys, b + 1);
        }
    }
    const int64_t pages = g.list_pages < 0 ? index.kv_indptr[g.batch] : int64_t{index.qo_indptr[g.batch]} * g.list_pages;
    if (pages * (g.kv_in_tokens ? g.page_size : 1) > kMaxIndex) {
        return invalid(error, g.list_pages < 0 ? "kv_indptr" : "top_k", "places in kv_indices that count in 32 bits", pages, g.batch);
    }
    return AMLA_PLANNER_OK;
}

int32_t check_output(const amla_merge_output& output, amla_planner_error* error) {
    const Range ranges[] = {
        {"tokens", "0 or more", output.tokens, 0, kMaxIndex},
        {"heads", "1 to 128", output.heads, 1, kMaxHeads},
        {"head_dim", "1 to 512", output.head_dim, 1, 512},
        {"dtype", "one of AMLA_REDUCE_*", output.dtype, AMLA_REDUCE_BF16, AMLA_REDUCE_FP32},
    };
    if (output.tokens > 0 && output.out == nullptr) {
        return invalid(error, "out", "a tensor with memory", 0);
    }
    return check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), error);
}

} // namespace planner
