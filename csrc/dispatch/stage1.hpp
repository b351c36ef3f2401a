// One stage-1 launch: its arguments, the checks of what the host can see, and the launch itself.
#pragma once

#include "lookup.hpp"
#include "module_store.hpp"
#include "tensor_view.hpp"

namespace amla {

/// Tensors of a launch, in the order of the Python call.
enum Argument : int {
    kQ,                 // [total_q, heads, 576] bf16 or fp8
    kKv,                // [pages, page_size, 1, 576] bf16, fp8 or bytes
    kOut,               // [total_q, heads, 512] bf16, written
    kSplitData,         // [rows, splits, heads, 512] float32, written
    kSplitLse,          // [rows, splits, heads, 1] float32, written
    kQoIndptr,          // [batch + 1] int32
    kKvIndptr,          // [batch + 1] int32
    kKvIndices,         // [pages used] int32
    kKvLastPageLens,    // [batch] int32
    kWorkMetaData,      // [2 or more] uint64, persistent only
    kWorkIndptr,        // [workgroups + 1] int32, persistent only
    kWorkInfoSet,       // [rows, 8] int32, persistent only
    kNumKvSplitsIndptr, // [batch + 1] int32, split only
    kQScale,            // [1] float32
    kKvScale,           // [1] float32
    kFinalLse,          // [total_q, heads] float32, written; absent without LSE
    kGlobalKvIndptr,    // [batch + 1] int32, context parallel only
    kArgumentCount,
};

/// Names of the tensors, for messages.
extern const char* const kArgumentNames[kArgumentCount];

/// A launch as asked for. The tensors are already folded: q has the heads of the kernel, the index tensors its batches.
struct Stage1 {
    TensorView tensors[kArgumentCount];
    HipStream stream;
    std::int64_t batch; // entries of the index tensors
    std::int64_t heads; // of the problem, before a fold
    std::int64_t q_len;
    std::int64_t cp_world_size;
    std::int64_t cp_rank;
    float softmax_scale;
    bool causal;
    bool ragged;
    bool sparse;
};

/// Device that all tensors are on. AMLA_MIXED_DEVICES names the one that is elsewhere.
Code check_devices(const Hip& hip, const Stage1& stage1, int& device, Status& status);

/// The problem the arguments pose on `arch`; AMLA_ARGUMENT_INVALID for dtypes and modes that make none.
Code make_problem(const Stage1& stage1, int arch, Problem& problem, Status& status);

/// Shapes, dtypes and strides against the kernel that will run.
Code check_tensors(const Stage1& stage1, const Problem& problem, const table::KernelRow& kernel, Status& status);

/// Looks the problem up, checks, packs and launches on the tensors' device and the given stream.
/// Nothing is launched on any error, except one of restoring the device that was current, which happens after the launch.
Code launch_stage1(const Stage1& stage1, Status& status);

} // namespace amla
