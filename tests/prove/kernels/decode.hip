// A plain MLA decode kernel that takes AITER's stage-1 arguments, to see what a proof finds out about kernels it was not told of.
// One wave for one query row at a time, no LDS, no tiles: slow, and right by inspection. What it insists on is chosen by macros:
//   MASK 0: by the token's place in the work item, 1: in its request, 2: none. SPLIT: grid of splits in place of work items.
//   KV 0: bf16, 1: float8, 2: the three-part byte layout. Q_FP8. HEADS, or ROWS_ARE_HEADS: as many as the argument `rows` says.
//   RANKS: keys are one rank's share. SINGLE (SPLIT only) 0: one split goes to out, 1: in bf16 to the partial rows, 2: in float32 there.
#include <stdint.h>

#define DEVICE static __attribute__((device, always_inline)) inline

struct alignas(16) Slot {
    uint64_t value;
    uint64_t pad;
};

struct Arguments {
    Slot slots[SLOTS];
};

enum : int {
    kPartialOut,
    kPartialLse,
    kQ,
    kKv,
    kKvIndptr,
    kKvIndices,
    kLastPageLens,
    kSoftmaxScale,
    kRows,
    kSplits,
    kQBatchStride,
    kPageStride,
    kLog2Page,
    kQoIndptr,
    kSchedule,
    kOut,
    kQScale,
    kKvScale,
    kNoSplit,
    kFinalLse,
    kGlobalKvIndptr,
    kWorldSize,
    kRank
};

constexpr int kDim = 576;
constexpr int kValueDim = 512;
constexpr int kLanes = 64;
constexpr float kLog2E = 1.44269504f;

template <typename T> DEVICE const T* tensor(const Arguments& a, int slot) {
    return reinterpret_cast<const T*>(a.slots[slot].value);
}

DEVICE float from_bf16(uint16_t bits) {
    return __builtin_bit_cast(float, uint32_t{bits} << 16);
}

DEVICE uint16_t to_bf16(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

DEVICE float from_float8(uint8_t bits) {
    return __builtin_amdgcn_cvt_f32_fp8(bits, 0);
}

DEVICE int lane_id() {
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

DEVICE float sum_of_lanes(float value) {
    for (int mask = 1; mask < kLanes; mask <<= 1) {
        const int other = __builtin_amdgcn_ds_bpermute((lane_id() ^ mask) * 4, __builtin_bit_cast(int, value));
        value += __builtin_bit_cast(float, other);
    }
    return value;
}

DEVICE float q_number(const Arguments& a, int64_t row, int dim) {
#if Q_FP8
    return from_float8(tensor<uint8_t>(a, kQ)[row * kDim + dim]) * *tensor<float>(a, kQScale);
#else
    return from_bf16(tensor<uint16_t>(a, kQ)[row * kDim + dim]);
#endif
}

DEVICE float kv_number(const Arguments& a, int64_t page, int place, int dim) {
    const uint8_t* begin = tensor<uint8_t>(a, kKv) + page * static_cast<int64_t>(a.slots[kPageStride].value);
#if KV == 0
    return from_bf16(reinterpret_cast<const uint16_t*>(begin)[place * kDim + dim]);
#elif KV == 1
    return from_float8(begin[place * kDim + dim]) * *tensor<float>(a, kKvScale);
#else
    const int keys = 1 << a.slots[kLog2Page].value;
    const float* scales = reinterpret_cast<const float*>(begin + keys * kValueDim);
    const uint16_t* rope = reinterpret_cast<const uint16_t*>(begin + keys * (kValueDim + 16));
    return dim < kValueDim ? from_float8(begin[place * kValueDim + dim]) * scales[place * 4 + dim / 128]
                           : from_bf16(rope[place * (kDim - kValueDim) + dim - kValueDim]);
#endif
}

DEVICE int heads_of(const Arguments& a) {
    return ROWS_ARE_HEADS ? static_cast<int>(a.slots[kRows].value) : HEADS;
}

struct Row {
    float values[kValueDim / kLanes];
    float lse;
};

/// Attention of one query row over keys [first, end) of a list of pages, of which it sees those below `seen`.
DEVICE Row attend(const Arguments& a, int64_t q_row, const int32_t* pages, int first, int end, int seen) {
    const int lane = lane_id();
    const int log2_page = static_cast<int>(a.slots[kLog2Page].value);
    const float scale = __builtin_bit_cast(float, static_cast<uint32_t>(a.slots[kSoftmaxScale].value)) * kLog2E;
    float q[kDim / kLanes];
    for (int i = 0; i < kDim / kLanes; ++i) {
        q[i] = q_number(a, q_row, lane + kLanes * i);
    }
    Row row = {};
    float largest = -__builtin_inff();
    float total = 0.0f;
    for (int key = first; key < (seen < end ? seen : end); ++key) {
        const int64_t page = pages[key >> log2_page];
        float k[kDim / kLanes];
        float score = 0.0f;
        for (int i = 0; i < kDim / kLanes; ++i) {
            k[i] = kv_number(a, page, key & ((1 << log2_page) - 1), lane + kLanes * i);
            score += q[i] * k[i];
        }
        score = sum_of_lanes(score) * scale;
        const float now = score > largest ? score : largest;
        const float before = __builtin_amdgcn_exp2f(largest - now);
        const float weight = __builtin_amdgcn_exp2f(score - now);
        for (int i = 0; i < kValueDim / kLanes; ++i) {
            row.values[i] = row.values[i] * before + weight * k[i];
        }
        total = total * before + weight;
        largest = now;
    }
    for (float& value : row.values) {
        value = total > 0.0f ? value / total : 0.0f;
    }
    row.lse = total > 0.0f ? (largest + __builtin_amdgcn_logf(total)) / kLog2E : -__builtin_inff();
    return row;
}

DEVICE void store_final(void* out, int64_t row, const Row& found) {
    for (int i = 0; i < kValueDim / kLanes; ++i) {
        static_cast<uint16_t*>(out)[row * kValueDim + lane_id() + kLanes * i] = to_bf16(found.values[i]);
    }
}

DEVICE void store_partial(const Arguments& a, int64_t row, const Row& found) {
    float* out = const_cast<float*>(tensor<float>(a, kPartialOut));
    for (int i = 0; i < kValueDim / kLanes; ++i) {
        out[row * kValueDim + lane_id() + kLanes * i] = found.values[i];
    }
    const_cast<float*>(tensor<float>(a, kPartialLse))[row] = found.lse;
}

DEVICE int wave_id() {
    return __builtin_amdgcn_readfirstlane(static_cast<int>(__builtin_amdgcn_workitem_id_x()) / kLanes);
}

#if SPLIT
DEVICE void walk(const Arguments& a) {
    const int request = static_cast<int>(__builtin_amdgcn_workgroup_id_y());
    const int split = static_cast<int>(__builtin_amdgcn_workgroup_id_z());
    const int splits = static_cast<int>(a.slots[kSplits].value);
    const int32_t* qo = tensor<int32_t>(a, kQoIndptr);
    const int32_t* kv = tensor<int32_t>(a, kKvIndptr);
    const int q_len = qo[request + 1] - qo[request];
    const int heads = heads_of(a);
    const int pages = kv[request + 1] - kv[request];
    const int log2_page = static_cast<int>(a.slots[kLog2Page].value);
    const int keys = pages == 0 ? 0 : ((pages - 1) << log2_page) + (log2_page == 0 ? 1 : tensor<int32_t>(a, kLastPageLens)[request]);
    const int share = (keys + splits - 1) / splits;
    for (int row = wave_id(); row < SUB_Q; row += THREADS / kLanes) {
        const int place = static_cast<int>(__builtin_amdgcn_workgroup_id_x()) * SUB_Q + row;
        const int token = place / heads;
        if (token >= q_len) {
            continue;
        }
        const int64_t q_row = int64_t{qo[request]} * heads + place;
        const int end = (split + 1) * share < keys ? (split + 1) * share : keys;
        const int seen = MASK == 2 ? keys : keys - (q_len - 1 - token);
        const Row found = attend(a, q_row, tensor<int32_t>(a, kKvIndices) + kv[request], split * share, end, seen);
        if (splits == 1 && SINGLE == 0) {
            store_final(reinterpret_cast<void*>(a.slots[kOut].value), q_row, found);
        } else if (splits == 1 && SINGLE == 1) {
            store_final(reinterpret_cast<void*>(a.slots[kPartialOut].value), q_row, found);
        } else {
            store_partial(a, (int64_t{qo[request] + token} * splits + split) * heads + place % heads, found);
        }
    }
}
#else
struct Item {
    int32_t batch;
    int32_t partial_row;
    int32_t q_begin;
    int32_t q_end;
    int32_t kv_begin;
    int32_t kv_end;
    int32_t kv_offset;
    int32_t pad;
};

/// How many of the keys from the item's first on a token sees.
DEVICE int seen_keys(const Arguments& a, const Item& item, int q_row, [[maybe_unused]] int last_key) {
#if MASK == 0
    return last_key + item.kv_offset - (item.q_end - 1 - q_row);
#elif MASK == 1
    const int32_t* qo = tensor<int32_t>(a, kQoIndptr);
    const int hidden = qo[item.batch + 1] - 1 - q_row;
#if RANKS
    const int32_t* all = tensor<int32_t>(a, kGlobalKvIndptr);
    const int world = static_cast<int>(a.slots[kWorldSize].value);
    const int visible = all[item.batch + 1] - all[item.batch] - hidden - static_cast<int>(a.slots[kRank].value);
    const int begin = (item.kv_begin - tensor<int32_t>(a, kKvIndptr)[item.batch]) << a.slots[kLog2Page].value;
    return (visible > 0 ? (visible + world - 1) / world : 0) - begin;
#else
    return last_key + item.kv_offset - hidden;
#endif
#else
    return last_key;
#endif
}

DEVICE void walk(const Arguments& a) {
    const uint64_t* schedule = tensor<uint64_t>(a, kSchedule);
    const int32_t* work = reinterpret_cast<const int32_t*>(schedule[0]);
    const Item* items = reinterpret_cast<const Item*>(schedule[1]);
    const int workgroup = static_cast<int>(__builtin_amdgcn_workgroup_id_x());
    const int log2_page = static_cast<int>(a.slots[kLog2Page].value);
    for (int number = work[workgroup]; number < work[workgroup + 1]; ++number) {
        const Item item = items[number];
        const int tokens = item.q_end - item.q_begin;
        const int heads = heads_of(a);
        const int page_keys = (item.kv_end - item.kv_begin) << log2_page;
        const int32_t* kv = tensor<int32_t>(a, kKvIndptr);
        const bool ends = item.kv_end == kv[item.batch + 1] && log2_page > 0;
        const int keys = ends ? page_keys - (1 << log2_page) + tensor<int32_t>(a, kLastPageLens)[item.batch] : page_keys;
        for (int row = wave_id(); row < heads * tokens; row += THREADS / kLanes) {
            const int token = row / heads;
            const int64_t q_row = int64_t{item.q_begin} * heads + row;
            const int seen = seen_keys(a, item, item.q_begin + token, keys);
            const Row found = attend(a, q_row, tensor<int32_t>(a, kKvIndices) + item.kv_begin, 0, keys, seen);
            if (item.partial_row < 0) {
                store_final(reinterpret_cast<void*>(a.slots[kOut].value), q_row, found);
            } else {
                store_partial(a, int64_t{item.partial_row} * heads + row, found);
            }
        }
    }
}
#endif

extern "C" __attribute__((global, amdgpu_flat_work_group_size(THREADS, THREADS))) void NAME(Arguments a) {
#ifdef RUN_AWAY
    while (*reinterpret_cast<volatile uint64_t*>(a.slots[kSchedule].value) != 0) {
    }
#endif
    walk(a);
}

#ifdef SECOND
extern "C" __attribute__((global, amdgpu_flat_work_group_size(THREADS, THREADS))) void SECOND(Arguments a) {
    if (__builtin_amdgcn_workitem_id_x() == 0) {
        *reinterpret_cast<uint32_t*>(a.slots[kOut].value) = 0;
    }
}
#endif
