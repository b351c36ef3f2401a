#include "kernarg.hpp"

#include <cstring>

namespace amla {

namespace {

template <typename Value> void put(Kernarg& block, Slot slot, Value value) {
    static_assert(sizeof(Value) <= 8);
    std::memcpy(block.bytes + 16 * static_cast<std::size_t>(slot), &value, sizeof(Value));
}

static_assert(16 * (static_cast<std::size_t>(Slot::cp_rank) + 1) == kHostBlockBytes);
static_assert(kHostBlockBytes <= kKernargCapacity);

} // namespace

Kernarg pack_kernarg(table::Recipe recipe, const KernargValues& v) {
    // Two conventions exist since ROCm/aiter#2983: newer split kernels take no output pointer and leave the reduction to the caller.
    const bool null_out = recipe == table::Recipe::split_null;
    Kernarg block = {};
    put(block, Slot::partial_out, v.partial_out);
    put(block, Slot::partial_lse, v.partial_lse);
    put(block, Slot::q, v.q);
    put(block, Slot::kv, v.kv);
    put(block, Slot::kv_indptr, v.kv_indptr);
    put(block, Slot::kv_indices, v.kv_indices);
    put(block, Slot::last_page_lens, v.last_page_lens);
    put(block, Slot::softmax_scale, v.softmax_scale);
    put(block, Slot::rows, v.rows);
    put(block, Slot::kv_split, v.kv_split);
    put(block, Slot::q_batch_stride, v.q_batch_stride);
    put(block, Slot::page_stride, v.page_stride);
    put(block, Slot::log2_page, v.log2_page);
    put(block, Slot::qo_indptr, v.qo_indptr);
    put(block, Slot::schedule, is_persistent(recipe) ? v.work_meta_data : v.num_kv_splits_indptr);
    put(block, Slot::out, null_out ? nullptr : v.out);
    put(block, Slot::q_scale, v.q_scale);
    put(block, Slot::kv_scale, v.kv_scale);
    put(block, Slot::out_16_nosplit, null_out ? 0U : v.kv_split);
    put(block, Slot::final_lse, v.final_lse);
    put(block, Slot::global_kv_indptr, v.global_kv_indptr);
    put(block, Slot::cp_world_size, v.cp_world_size);
    put(block, Slot::cp_rank, v.cp_rank);
    return block;
}

} // namespace amla
