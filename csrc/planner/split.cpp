// Split mode: a fixed number of KV splits for each request, and the merge of their results.
#include "checks.hpp"
#include "merge.hpp"
#include "tile.hpp"

namespace planner {

namespace {

/// Splits that may hold a result: a kernel leaves later ones as they were.
int64_t splits_of(const amla_split_request& r, const Sequence& s) {
    const int64_t asked = int64_t{r.num_kv_splits_indptr[s.index + 1]} - r.num_kv_splits_indptr[s.index];
    const int64_t held = r.least_keys > 0 ? ceil_div(s.keys, r.least_keys) : asked;
    return s.keys > 0 ? least(asked, held) : 0;
}

int32_t check_choice(const amla_split_choice& c, amla_planner_error* error) {
    const Range ranges[] = {
        {"total_keys", "0 or more", c.total_keys, 0, kMaxIndex},
        {"batch", "1 or more", c.batch, 1, kMaxIndex},
        {"tiles", "1 to 1024", c.tiles, 1, kMaxTokens},
        {"workgroups", "1 to 65536", c.workgroups, 1, kMaxWorkgroups},
        {"most_splits", "1 to 65536", c.most_splits, 1, kMaxWorkgroups},
        {"least_keys", "1 or more", c.least_keys, 1, kMaxIndex},
        {"cost_keys", "0 to 65536", c.cost_keys, 0, kMaxWorkgroups},
    };
    return check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), error);
}

int32_t check_split(const amla_split_request& r, amla_planner_error* error) {
    const Range ranges[] = {
        {"batch", "0 or more", r.batch, 0, kMaxIndex - 1},          {"splits", "1 to 65536", r.splits, 1, kMaxWorkgroups},
        {"page_size", "1 to 65536", r.page_size, 1, kMaxPageSize},  {"least_keys", "0 or more", r.least_keys, 0, kMaxIndex},
        {"kernel_heads", "1 to 128", r.kernel_heads, 1, kMaxHeads}, {"heads", "at most the kernel's", r.output.heads, 1, r.kernel_heads},
    };
    if (const int32_t code = check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), error); code != AMLA_PLANNER_OK) {
        return code;
    }
    int32_t code = check_output(r.output, error);
    code = code == AMLA_PLANNER_OK ? check_index(r.index, r.batch, r.page_size, error) : code;
    if (code != AMLA_PLANNER_OK) {
        return code;
    }
    if (r.num_kv_splits_indptr == nullptr) {
        return fail(error, AMLA_PLANNER_INVALID, "num_kv_splits_indptr", "a tensor with memory", 0);
    }
    if (r.output.tokens > 0 && (r.partial_out == nullptr || r.partial_lse == nullptr)) {
        return fail(error, AMLA_PLANNER_INVALID, "partial_out", "tensors with memory", 0);
    }
    if (r.index.qo_indptr[r.batch] > r.output.tokens) {
        return fail(error, AMLA_PLANNER_INVALID, "qo_indptr", "rows of the output", r.index.qo_indptr[r.batch], r.batch);
    }
    for (int32_t b = 0; b < r.batch; ++b) {
        const int64_t splits = int64_t{r.num_kv_splits_indptr[b + 1]} - r.num_kv_splits_indptr[b];
        if (splits < 1 || splits > r.splits) {
            return fail(error, AMLA_PLANNER_INVALID, "num_kv_splits_indptr", "1 to the number of splits in each step", splits, b + 1);
        }
    }
    return AMLA_PLANNER_OK;
}

} // namespace

} // namespace planner

extern "C" int32_t amla_split_count(const amla_split_choice* choice, int32_t* splits, amla_planner_error* error) {
    using namespace planner;
    const amla_split_choice& c = *choice;
    if (const int32_t code = check_choice(c, error); code != AMLA_PLANNER_OK) {
        return code;
    }
    const int64_t mean = ceil_div(c.total_keys, c.batch);
    const int64_t most_splits = most<int64_t>(1, least<int64_t>(c.most_splits, ceil_div(mean, c.least_keys)));
    int64_t best = INT64_MAX;
    for (int64_t count = 1; count <= most_splits; ++count) {
        const int64_t rounds = ceil_div(int64_t{c.batch} * c.tiles * count, c.workgroups);
        const int64_t time = rounds * (ceil_div(mean, count) + c.cost_keys);
        *splits = time < best ? static_cast<int32_t>(count) : *splits;
        best = least(best, time);
    }
    return AMLA_PLANNER_OK;
}

extern "C" int32_t amla_split_indptr(int32_t batch, int32_t splits, int32_t* num_kv_splits_indptr, amla_planner_error* error) {
    using namespace planner;
    if (batch < 0 || splits < 1 || int64_t{batch} * splits > kMaxIndex) {
        return fail(error, AMLA_PLANNER_INVALID, "splits", "1 or more, whose total counts in 32 bits", splits);
    }
    for (int32_t b = 0; b <= batch; ++b) {
        num_kv_splits_indptr[b] = b * splits;
    }
    return AMLA_PLANNER_OK;
}

extern "C" int32_t amla_split_merge(const amla_split_request* request, amla_planner_error* error) {
    using namespace planner;
    const amla_split_request& r = *request;
    if (const int32_t code = check_split(r, error); code != AMLA_PLANNER_OK) {
        return code;
    }
    Geometry g = {};
    g.page_size = r.page_size;
    for (int32_t b = 0; b < r.batch; ++b) {
        const Sequence sequence = sequence_of(g, r.index, b);
        const int64_t splits = splits_of(r, sequence);
        for (int64_t token = sequence.q_begin; token < sequence.q_begin + sequence.q_len; ++token) {
            for (int32_t head = 0; head < r.output.heads; ++head) {
                const auto place = [&](int64_t k) { return (token * r.splits + k) * r.kernel_heads + head; };
                merge_row(
                    r.output, token * r.output.heads + head, splits, [&](int64_t k) { return r.partial_lse[place(k)]; },
                    [&](int64_t k) { return r.partial_out + place(k) * r.output.head_dim; });
            }
        }
    }
    return AMLA_PLANNER_OK;
}
