// Kernel arguments of AITER's MLA stage-1 kernels: 16-byte slots, little-endian, the value in the first bytes of its slot.
#pragma once

#include "table_types.hpp"

#include <cstddef>
#include <cstdint>

namespace amla {

/// Slots the host fills: 23 of 16 bytes. A kernel reads a prefix of them.
inline constexpr std::size_t kHostBlockBytes = 368;
/// Largest kernarg segment a published object declares; bytes beyond the host block are zero.
inline constexpr std::size_t kKernargCapacity = 384;

/// Slot numbers; the byte offset is 16 times the number.
enum class Slot : std::uint8_t {
    partial_out = 0, // fp32 partial rows
    partial_lse = 1, // fp32 LSE of the partial rows
    q = 2,
    kv = 3,
    kv_indptr = 4,
    kv_indices = 5,
    last_page_lens = 6,
    softmax_scale = 7, // float
    rows = 8,          // s_MQA
    kv_split = 9,
    q_batch_stride = 10, // bytes
    page_stride = 11,    // bytes
    log2_page = 12,
    qo_indptr = 13,
    schedule = 14, // num_kv_splits_indptr (split) or work_meta_data (persistent)
    out = 15,      // final bf16 rows
    q_scale = 16,
    kv_scale = 17,
    out_16_nosplit = 18,
    final_lse = 19,
    global_kv_indptr = 20,
    cp_world_size = 21,
    cp_rank = 22,
};

/// Values for one launch, before a recipe decides what the kernel gets of them. Null where a tensor is absent.
struct KernargValues {
    const void* partial_out;
    const void* partial_lse;
    const void* q;
    const void* kv;
    const void* kv_indptr;
    const void* kv_indices;
    const void* last_page_lens;
    const void* qo_indptr;
    const void* num_kv_splits_indptr;
    const void* work_meta_data;
    const void* out;
    const void* q_scale;
    const void* kv_scale;
    const void* final_lse;
    const void* global_kv_indptr;
    float softmax_scale;
    std::uint32_t rows;
    std::uint32_t kv_split;
    std::uint32_t q_batch_stride;
    std::uint32_t page_stride;
    std::uint32_t log2_page;
    std::uint32_t cp_world_size;
    std::uint32_t cp_rank;
};

/// Zero-padded block; the launch passes its first kernarg_size bytes.
struct Kernarg {
    alignas(16) std::uint8_t bytes[kKernargCapacity];
};

Kernarg pack_kernarg(table::Recipe recipe, const KernargValues& values);

/// True for the recipes whose grid is one workgroup per row pair of work_indptr.
constexpr bool is_persistent(table::Recipe recipe) {
    return recipe == table::Recipe::persistent || recipe == table::Recipe::persistent_rows;
}

} // namespace amla
