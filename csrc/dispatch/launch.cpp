#include "stage1.hpp"

#include "kernarg.hpp"

#include <bit>

namespace amla {

namespace {

// Keys of hipModuleLaunchKernel's `extra` list. HIP ends it with 3, unlike CUDA, which ends it with 0.
void* const kBufferPointer = reinterpret_cast<void*>(1);
void* const kBufferSize = reinterpret_cast<void*>(2);
void* const kEnd = reinterpret_cast<void*>(3);

struct Grid {
    unsigned x, y, z;
};

KernargValues values_of(const Stage1& stage1, const Problem& problem, const Plan& plan) {
    const TensorView* t = stage1.tensors;
    KernargValues v = {};
    v.partial_out = t[kSplitData].address();
    v.partial_lse = t[kSplitLse].address();
    v.q = t[kQ].address();
    v.kv = t[kKv].address();
    v.kv_indptr = t[kKvIndptr].address();
    v.kv_indices = t[kKvIndices].address();
    v.last_page_lens = t[kKvLastPageLens].address();
    v.qo_indptr = t[kQoIndptr].address();
    v.num_kv_splits_indptr = t[kNumKvSplitsIndptr].address();
    v.work_meta_data = t[kWorkMetaData].address();
    v.out = t[kOut].address();
    v.q_scale = t[kQScale].address();
    v.kv_scale = t[kKvScale].address();
    v.final_lse = t[kFinalLse].address();
    v.global_kv_indptr = t[kGlobalKvIndptr].address();
    v.softmax_scale = stage1.softmax_scale;
    v.rows = plan.rows_per_item;
    v.kv_split = static_cast<std::uint32_t>(t[kSplitData].dl.shape[1]);
    const auto token_bytes = static_cast<std::uint32_t>(t[kQ].dl.shape[1] * t[kQ].dl.shape[2] * (t[kQ].dl.dtype.bits / 8));
    v.q_batch_stride = token_bytes * static_cast<std::uint32_t>(problem.q_len);
    v.page_stride = static_cast<std::uint32_t>(problem.page_size) * 576U * (t[kKv].dl.dtype.bits / 8U);
    v.log2_page = static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint32_t>(problem.page_size)));
    v.cp_world_size = static_cast<std::uint32_t>(stage1.cp_world_size);
    v.cp_rank = static_cast<std::uint32_t>(stage1.cp_rank);
    return v;
}

Grid grid_of(const Stage1& stage1, const Problem& problem, const table::KernelRow& kernel, const KernargValues& values) {
    if (is_persistent(kernel.recipe)) {
        return {static_cast<unsigned>(stage1.tensors[kWorkIndptr].dl.shape[0] - 1), 1, 1};
    }
    const unsigned rows = static_cast<unsigned>(problem.q_len) * kernel.heads;
    return {(rows + kernel.sub_q - 1) / kernel.sub_q, static_cast<unsigned>(stage1.batch), values.kv_split};
}

/// The device's kernels, loaded now if that is allowed: not while the stream is being captured.
Code prepared_for(const Hip& hip, int device, HipStream stream, const PreparedDevice*& prepared, Status& status) {
    prepared = prepared_device(device);
    if (prepared != nullptr) {
        return AMLA_OK;
    }
    int capturing = 0;
    if (const HipError error = hip.api.stream_is_capturing(stream, &capturing); error != 0) {
        return hip_fail(hip, "hipStreamIsCapturing", error, status);
    }
    if (capturing != 0) {
        fail(status, AMLA_MODULE_NOT_PREPARED);
        detail(status, "%d", device);
        return detail(status, "the stream is being captured");
    }
    return prepare_default(hip, device, prepared, status);
}

bool is_written(int tensor) {
    return tensor == kSplitData || tensor == kSplitLse || tensor == kOut || tensor == kFinalLse;
}

/// On an emulator, where a launch may touch its own tensors and nothing else of this process.
void register_tensors(const Hip& hip, const Stage1& stage1) {
    for (int tensor = 0; hip.register_for_launch != nullptr && tensor < kArgumentCount; ++tensor) {
        const TensorView& view = stage1.tensors[tensor];
        if (view.address() != nullptr && view.extent() != 0) {
            hip.register_for_launch(view.address(), view.extent(), is_written(tensor) ? 1 : 0);
        }
    }
}

Code refused(std::uint16_t leaf, Status& status) {
    fail(status, AMLA_REFUSED);
    const char* text = amla_refusal_text(leaf);
    return detail(status, "%s", text != nullptr ? text : "unknown");
}

} // namespace

Code launch_stage1(const Stage1& stage1, Status& status) {
    const Hip* hip = nullptr;
    int device = 0;
    const PreparedDevice* prepared = nullptr;
    Problem problem;
    Plan plan;
    Code code = hip_get(hip, status);
    code = code == AMLA_OK ? check_devices(*hip, stage1, device, status) : code;
    code = code == AMLA_OK ? prepared_for(*hip, device, stage1.stream, prepared, status) : code;
    code = code == AMLA_OK ? make_problem(stage1, prepared->arch, problem, status) : code;
    code = code == AMLA_OK ? lookup(problem, plan, status) : code;
    if (code != AMLA_OK) {
        return code;
    }
    if ((plan.leaf & table::kRefusalBit) != 0) {
        return refused(plan.leaf, status);
    }
    const table::KernelRow& kernel = table_view().kernels[plan.kernel];
    code = check_tensors(stage1, problem, kernel, status);
    if (code != AMLA_OK || stage1.tensors[kQ].dl.shape[0] == 0) {
        return code; // no query token: there is nothing to write
    }
    const KernargValues values = values_of(stage1, problem, plan);
    Kernarg kernarg = pack_kernarg(kernel.recipe, values);
    std::size_t size = kernel.kernarg_size;
    void* extra[] = {kBufferPointer, kernarg.bytes, kBufferSize, &size, kEnd};
    const Grid grid = grid_of(stage1, problem, kernel, values);
    DeviceScope scope(*hip);
    if (code = scope.enter(device, status); code != AMLA_OK) {
        return code;
    }
    register_tensors(*hip, stage1);
    const HipError error = hip->api.module_launch_kernel(prepared->functions[plan.kernel], grid.x, grid.y, grid.z, kernel.workgroup, 1, 1,
                                                         0, stage1.stream, nullptr, extra);
    return error != 0 ? hip_fail(*hip, "hipModuleLaunchKernel", error, status) : scope.leave(status);
}

} // namespace amla
