// Merge of one row of one head from its partial results. The order of operations is part of the result.
#pragma once

#include "abi.h"
#include "numbers.hpp"

namespace planner {

inline constexpr int kMaxHeadDim = 512;

/// Partial results of one row: LSE and first element of each. A part whose LSE is -inf counts for nothing, whatever it holds.
template <typename Lse, typename Values>
void merge_row(const amla_merge_output& output, int64_t place, int64_t parts, const Lse& lse, const Values& values) {
    float top = -kInfinity;
    bool any = false;
    for (int64_t k = 0; k < parts; ++k) {
        const float value = lse(k);
        top = value > top ? value : top;
        any = any || value != -kInfinity;
    }
    float sum = 0.0F;
    for (int64_t k = 0; k < parts; ++k) {
        sum += lse(k) == -kInfinity ? 0.0F : exp_of(lse(k) - top);
    }
    float row[kMaxHeadDim] = {};
    for (int64_t k = 0; k < parts; ++k) {
        if (lse(k) == -kInfinity) {
            continue;
        }
        const float weight = exp_of(lse(k) - top) / sum;
        const float* part = values(k);
        for (int d = 0; d < output.head_dim; ++d) {
            row[d] += weight * part[d];
        }
    }
    const int64_t first = place * output.head_dim;
    for (int d = 0; d < output.head_dim; ++d) {
        if (output.dtype == AMLA_REDUCE_FP32) {
            static_cast<float*>(output.out)[first + d] = row[d];
        } else {
            static_cast<uint16_t*>(output.out)[first + d] = output.dtype == AMLA_REDUCE_BF16 ? bfloat_of(row[d]) : half_of(row[d]);
        }
    }
    if (output.lse != nullptr) {
        output.lse[place] = any ? top + log_of(sum) : -kInfinity;
    }
}

/// A row without parts: output 0, LSE -inf.
inline void clear_row(const amla_merge_output& output, int64_t place) {
    merge_row(output, place, 0, [](int64_t) { return -kInfinity; }, [](int64_t) -> const float* { return nullptr; });
}

} // namespace planner
