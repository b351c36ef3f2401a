#include "stage1.hpp"

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace amla {

const char* const kArgumentNames[kArgumentCount] = {
    "q",
    "kv_buffer",
    "o",
    "split_data",
    "split_lse",
    "qo_indptr",
    "kv_indptr",
    "kv_indices",
    "kv_last_page_lens",
    "work_meta_data",
    "work_indptr",
    "work_info_set",
    "num_kv_splits_indptr",
    "q_scale",
    "kv_scale",
    "lse",
    "g_kv_indptr",
};

namespace {

constexpr std::int64_t kAny = -1; // axis of any length
constexpr int kMaxAxes = 4;
constexpr std::int64_t kMaxRows = INT32_MAX;

struct NamedDtype {
    DlDtype dtype;
    const char* name;
};

constexpr NamedDtype kDtypeNames[] = {
    {kInt32, "int32"},       {kUint8, "uint8"},
    {kUint64, "uint64"},     {kFloat32, "float32"},
    {kBfloat16, "bfloat16"}, {kFloat8E4m3fn, "float8_e4m3fn"},
    {{0, 64, 1}, "int64"},   {kFloat8E4m3fnuz, "float8_e4m3fnuz"},
    {{2, 16, 1}, "float16"},
};

struct Text {
    char text[160];
};

Text dtype_text(DlDtype dtype) {
    Text out = {};
    for (const NamedDtype& known : kDtypeNames) {
        if (same(known.dtype, dtype)) {
            snprintf(out.text, sizeof(out.text), "%s", known.name);
            return out;
        }
    }
    snprintf(out.text, sizeof(out.text), "DLPack dtype %d/%d/%d", dtype.code, dtype.bits, dtype.lanes);
    return out;
}

/// "[4, 16, 576] bfloat16"; axes of any length are written as n.
Text shape_text(const std::int64_t* shape, int ndim, DlDtype dtype) {
    Text out = {};
    std::size_t used = 0;
    const auto append = [&](const char* format, auto value) {
        if (used < sizeof(out.text)) {
            const int wrote = snprintf(out.text + used, sizeof(out.text) - used, format, value);
            used += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
        }
    };
    append("%s", "[");
    for (int axis = 0; axis < ndim && axis < 8; ++axis) {
        append("%s", axis == 0 ? "" : ", ");
        if (shape[axis] == kAny) {
            append("%s", "n");
        } else {
            append("%lld", static_cast<long long>(shape[axis]));
        }
    }
    append("] %s", dtype_text(dtype).text);
    return out;
}

bool contiguous(const DlTensor& tensor) {
    std::int64_t stride = 1;
    for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != stride) {
            return false;
        }
        stride *= tensor.shape[axis];
    }
    return true;
}

/// What one argument must look like.
struct Want {
    Argument argument;
    DlDtype dtype;
    int ndim;
    std::int64_t shape[kMaxAxes];
    std::int64_t least; // smallest length of the first axis
};

Code refuse(Status& status, Argument argument, const char* expected, const char* got) {
    return fail3(status, AMLA_ARGUMENT_INVALID, kArgumentNames[argument], expected, got);
}

Code check_one(const Stage1& stage1, const Want& want, Status& status) {
    const TensorView& view = stage1.tensors[want.argument];
    const auto expected = [&want] { return shape_text(want.shape, want.ndim, want.dtype); };
    if (!view.present) {
        return refuse(status, want.argument, expected().text, "None");
    }
    const DlTensor& tensor = view.dl;
    bool fits = tensor.ndim == want.ndim && same(tensor.dtype, want.dtype);
    for (int axis = 0; fits && axis < want.ndim; ++axis) {
        const bool length = want.shape[axis] == kAny ? tensor.shape[axis] <= kMaxRows : tensor.shape[axis] == want.shape[axis];
        fits = length && tensor.shape[axis] >= 0;
    }
    if (!fits) {
        return refuse(status, want.argument, expected().text, shape_text(tensor.shape, tensor.ndim, tensor.dtype).text);
    }
    if (tensor.ndim > 0 && tensor.shape[0] < want.least) {
        fail(status, AMLA_ARGUMENT_INVALID);
        detail(status, "%s", kArgumentNames[want.argument]);
        detail(status, "%lld or more rows", static_cast<long long>(want.least));
        return detail(status, "%s", shape_text(tensor.shape, tensor.ndim, tensor.dtype).text);
    }
    if (view.count() == 0) {
        return AMLA_OK;
    }
    if (tensor.strides == nullptr || !contiguous(tensor)) {
        return refuse(status, want.argument, "contiguous memory", "other strides");
    }
    if (tensor.data == nullptr) {
        return refuse(status, want.argument, "a tensor with memory", "a null data pointer (a fake or released tensor)");
    }
    return AMLA_OK;
}

Code absent(const Stage1& stage1, Argument argument, const char* when, Status& status) {
    return stage1.tensors[argument].present ? refuse(status, argument, when, "a tensor") : Code{AMLA_OK};
}

bool is_fnuz(int arch) {
    return table_view().archs[arch].fp8 == table::Fp8::e4m3fnuz;
}

} // namespace

Code check_devices(const Hip& hip, const Stage1& stage1, int& device, Status& status) {
    const TensorView* first = nullptr;
    for (int index = 0; index < kArgumentCount; ++index) {
        const TensorView& view = stage1.tensors[index];
        if (!view.present) {
            continue;
        }
        const DlDevice where = view.dl.device;
        const bool host = where.type == kDlCpu && hip.takes_host_memory;
        if (where.type != kDlCuda && where.type != kDlRocm && !host) {
            fail(status, AMLA_ARGUMENT_INVALID);
            detail(status, "%s", kArgumentNames[index]);
            detail(status, "a tensor on an AMD GPU");
            return detail(status, "a tensor on %s", where.type == kDlCpu ? "the CPU" : "another kind of device");
        }
        if (first == nullptr) {
            first = &view;
        } else if (where.type != first->dl.device.type || where.id != first->dl.device.id) {
            fail(status, AMLA_MIXED_DEVICES);
            detail(status, "%s", kArgumentNames[index]);
            detail(status, "%d:%d", where.type, where.id);
            return detail(status, "%d:%d", first->dl.device.type, first->dl.device.id);
        }
    }
    device = first != nullptr ? first->dl.device.id : 0;
    return AMLA_OK;
}

Code make_problem(const Stage1& stage1, int arch, Problem& problem, Status& status) {
    const TensorView& q = stage1.tensors[kQ];
    const TensorView& kv = stage1.tensors[kKv];
    for (const Argument argument : {kQ, kKv}) {
        const int ndim = argument == kQ ? 3 : 4;
        if (!stage1.tensors[argument].present || stage1.tensors[argument].dl.ndim != ndim) {
            return refuse(status, argument, argument == kQ ? "3 axes" : "4 axes", "another number of axes or None");
        }
    }
    const bool persistent = stage1.tensors[kWorkMetaData].present;
    if (persistent == stage1.tensors[kNumKvSplitsIndptr].present) {
        return refuse(status, kNumKvSplitsIndptr, "exactly one of work_meta_data and num_kv_splits_indptr",
                      persistent ? "both" : "neither");
    }
    const bool fnuz = is_fnuz(arch);
    const DlDtype fp8 = fnuz ? kFloat8E4m3fnuz : kFloat8E4m3fn;
    if (!same(q.dl.dtype, kBfloat16) && !same(q.dl.dtype, fp8)) {
        return refuse(status, kQ, fnuz ? "bfloat16 or float8_e4m3fnuz" : "bfloat16 or float8_e4m3fn", dtype_text(q.dl.dtype).text);
    }
    if (!same(kv.dl.dtype, kBfloat16) && !same(kv.dl.dtype, fp8) && !same(kv.dl.dtype, kUint8)) {
        return refuse(status, kKv, fnuz ? "bfloat16, float8_e4m3fnuz or uint8" : "bfloat16, float8_e4m3fn or uint8",
                      dtype_text(kv.dl.dtype).text);
    }
    const auto clamp = [](std::int64_t value) {
        return static_cast<std::int32_t>(value < 0 ? 0 : (value > INT32_MAX ? INT32_MAX : value));
    };
    problem = {};
    problem.arch = arch;
    problem.mode = persistent ? AMLA_MODE_PERSISTENT : AMLA_MODE_SPLIT;
    problem.q_dtype = same(q.dl.dtype, kBfloat16) ? AMLA_DTYPE_BF16 : AMLA_DTYPE_FP8;
    problem.kv_dtype = same(kv.dl.dtype, kBfloat16) ? AMLA_DTYPE_BF16 : (same(kv.dl.dtype, kUint8) ? AMLA_DTYPE_BYTE : AMLA_DTYPE_FP8);
    problem.out_dtype = AMLA_OUT_BF16;
    problem.heads = clamp(stage1.heads);
    problem.q_len = clamp(stage1.q_len);
    problem.page_size = clamp(kv.dl.shape[1]);
    problem.cp_world_size = clamp(stage1.cp_world_size);
    problem.batch = clamp(stage1.batch);
    problem.qk_head_dim = clamp(q.dl.shape[2]);
    problem.v_head_dim = stage1.tensors[kOut].present && stage1.tensors[kOut].dl.ndim == 3 ? clamp(stage1.tensors[kOut].dl.shape[2]) : 512;
    problem.kv_bytes = kv.count() * (kv.dl.dtype.bits / 8);
    problem.causal = stage1.causal;
    problem.lse = stage1.tensors[kFinalLse].present;
    problem.ragged = stage1.ragged;
    problem.sparse = stage1.sparse;
    return AMLA_OK;
}

Code check_tensors(const Stage1& stage1, const Problem& problem, const table::KernelRow& kernel, Status& status) {
    const TensorView* t = stage1.tensors;
    const std::int64_t total_q = t[kQ].dl.shape[0];
    const std::int64_t heads = kernel.heads;
    const std::int64_t batch = stage1.batch;
    const bool persistent = problem.mode == AMLA_MODE_PERSISTENT;
    const std::int64_t splits = persistent ? 1 : kAny;
    const std::int64_t rows = persistent ? kAny : total_q;
    const Want always[] = {
        {kQ, t[kQ].dl.dtype, 3, {kAny, heads, 576}, 0},
        {kKv, t[kKv].dl.dtype, 4, {kAny, problem.page_size, 1, 576}, 0},
        {kOut, kBfloat16, 3, {total_q, heads, 512}, 0},
        {kSplitData, kFloat32, 4, {rows, splits, heads, 512}, 0},
        {kSplitLse, kFloat32, 4, {rows, splits, heads, 1}, 0},
        {kQoIndptr, kInt32, 1, {batch + 1}, 0},
        {kKvIndptr, kInt32, 1, {batch + 1}, 0},
        {kKvIndices, kInt32, 1, {kAny}, 0},
        {kKvLastPageLens, kInt32, 1, {batch}, 0},
    };
    const Want for_persistent[] = {
        {kWorkMetaData, kUint64, 1, {kAny}, 2},
        {kWorkIndptr, kInt32, 1, {kAny}, 2},
        {kWorkInfoSet, kInt32, 2, {kAny, 8}, 1},
    };
    const Want optional[] = {
        {kNumKvSplitsIndptr, kInt32, 1, {batch + 1}, 0},
        {kQScale, kFloat32, 1, {1}, 0},
        {kKvScale, kFloat32, 1, {1}, 0},
        {kFinalLse, kFloat32, 2, {total_q, heads}, 0},
        {kGlobalKvIndptr, kInt32, 1, {batch + 1}, 0},
    };
    Code code = AMLA_OK;
    for (const Want& want : always) {
        code = code == AMLA_OK ? check_one(stage1, want, status) : code;
    }
    for (const Want& want : for_persistent) {
        if (code == AMLA_OK) {
            code = persistent ? check_one(stage1, want, status) : absent(stage1, want.argument, "None with num_kv_splits_indptr", status);
        }
    }
    for (const Want& want : optional) {
        // A null scale pointer is a fault on the device, not a default of 1.
        const bool needed = (want.argument == kQScale && problem.q_dtype == AMLA_DTYPE_FP8) ||
                            (want.argument == kKvScale && problem.kv_dtype == AMLA_DTYPE_FP8) ||
                            (want.argument == kGlobalKvIndptr && problem.cp_world_size > 1);
        if (code == AMLA_OK && (needed || t[want.argument].present)) {
            code = check_one(stage1, want, status);
        }
    }
    if (code != AMLA_OK) {
        return code;
    }
    const std::int64_t split_count = t[kSplitData].dl.shape[1];
    if (split_count != t[kSplitLse].dl.shape[1] || t[kSplitData].dl.shape[0] != t[kSplitLse].dl.shape[0]) {
        return refuse(status, kSplitLse, "the rows and splits of split_data", "other rows or splits");
    }
    if (split_count < 1 || split_count > 65535) {
        return refuse(status, kSplitData, "1 to 65535 splits", "another number of splits");
    }
    if (stage1.cp_rank < 0 || stage1.cp_rank >= stage1.cp_world_size) {
        fail(status, AMLA_ARGUMENT_INVALID);
        detail(status, "cp_rank");
        detail(status, "0 to cp_world_size - 1");
        return detail(status, "%lld", static_cast<long long>(stage1.cp_rank));
    }
    return AMLA_OK;
}

} // namespace amla
