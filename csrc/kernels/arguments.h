/* Arguments of the native kernels, passed by value: the kernel argument segment of each is one of these structs.
 *
 * Shared by the host, which fills them, and by the device. Every address is one of device memory. What the fields of the
 * planner's structs mean stands in csrc/planner/abi.h. The host checks what it can see; values in device memory it cannot,
 * so no kernel reads or writes outside of the tensors for any value of theirs that leads to no other tensor.
 */
#ifndef AMLA_KERNELS_ARGUMENTS_H
#define AMLA_KERNELS_ARGUMENTS_H

#include "../planner/abi.h"

/* Threads of a workgroup. A wave has 64. */
#define AMLA_PLAN_THREADS 1024
#define AMLA_MERGE_THREADS 256
#define AMLA_COPY_THREADS 256

/* Head dims of every kernel here. */
#define AMLA_QK_HEAD_DIM 576
#define AMLA_V_HEAD_DIM 512

/* amla_native_plan: the schedule of csrc/planner, bit for bit. Grid (n, 1, 1): each workgroup works out the whole line and
 * writes its share of the requests, so the answer does not depend on n. */
typedef struct amla_plan_arguments {
    amla_schedule_request request;
    amla_index_tensors index;
    amla_schedule_tensors tensors;
} amla_plan_arguments;

/* amla_native_finish: ends a persistent decode. Merges the parts of every tile (amla_reduce) and clears the query tokens that
 * see no key (amla_empty_rows); every other row is left as the decode kernel wrote it.
 * Grid (tiles, ceil(tokens of an item * kernel_heads / 4), 1): a wave merges one row of one head. */
typedef struct amla_finish_arguments {
    amla_schedule_request request;
    amla_index_tensors index;
    const float* partial_out;          /* [partial_rows, kernel_heads, 512] */
    const float* partial_lse;          /* [partial_rows, kernel_heads] */
    const int32_t* reduce_indptr;      /* [tiles + 1] or more */
    const int32_t* reduce_final_map;   /* [tiles, 2] or more */
    const int32_t* reduce_partial_map; /* [partial_map_size] */
    int64_t partial_rows;
    int64_t partial_map_size;
    amla_merge_output output;
} amla_finish_arguments;

/* amla_native_begin_split: the same number of splits for every request, and -inf where a split may leave its LSE unwritten.
 * Grid (n, 1, 1) for any n. */
typedef struct amla_begin_split_arguments {
    int32_t* num_kv_splits_indptr; /* [batch + 1] */
    float* partial_lse;            /* [lse_count] */
    int64_t lse_count;
    int32_t batch;
    int32_t splits;
} amla_begin_split_arguments;

/* amla_native_finish_split: ends a decode in split mode (amla_split_merge, amla_empty_rows).
 * Grid (batch, q_len, ceil(heads / 4)). */
typedef struct amla_finish_split_arguments {
    amla_split_request split; /* num_kv_splits_indptr is not read: every request has `splits` */
    int32_t q_len;            /* largest number of query tokens of a request */
    uint8_t causal;
    uint8_t reserved[3];
} amla_finish_split_arguments;

/* amla_native_reduce: amla_reduce as a call of its own. Grid (tiles, ceil(kernel_heads / 4), 1): a wave merges one head of
 * all rows of a tile. */
typedef struct amla_reduce_arguments {
    amla_reduce_request reduce;
} amla_reduce_arguments;

/* amla_native_pad_heads: copies q [tokens, heads, 576] to [tokens, padded_heads, 576]; the heads beyond are zero.
 * Grid (n, 1, 1) for any n. */
typedef struct amla_pad_heads_arguments {
    const void* q;
    void* padded;
    int64_t tokens;
    int32_t heads;
    int32_t padded_heads;
    int32_t row_bytes; /* 576 elements; a multiple of 16 */
    int32_t reserved;
} amla_pad_heads_arguments;

#endif
