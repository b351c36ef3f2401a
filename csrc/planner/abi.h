/* C interface of the host planner and reduce: the reference that the device versions equal bit for bit.
 *
 * Words: a request is one sequence of the batch; a tile is the query rows that one work item of the kernel holds; a piece is
 * a tile's share of one workgroup; a part is a piece whose result goes to the partial buffers. Rows count in the kernel's
 * view of q and o: [total_q * head_groups, kernel_heads, dim]. No function allocates, throws, aborts or prints, and each
 * checks all it was given before its first write. docs/planner.md tells how a schedule is made.
 */
#ifndef AMLA_PLANNER_ABI_H
#define AMLA_PLANNER_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AMLA_PLANNER_ABI_VERSION 1u
#define AMLA_PLANNER_EXPORT __attribute__((visibility("default")))

enum {
    AMLA_PLANNER_OK = 0,
    AMLA_PLANNER_INVALID = 1,  /* an argument or a value in an index tensor is not what it must be */
    AMLA_PLANNER_TOO_SMALL = 2 /* an output tensor has no room for what must be written */
};

/* What was wrong. The texts live forever. */
typedef struct amla_planner_error {
    const char* argument;
    const char* expected;
    int64_t got;
    int64_t index; /* of the value in an index tensor, else -1 */
} amla_planner_error;

/* Where a kernel takes a query token's place from, to know which keys it sees. */
enum {
    AMLA_MASK_ITEM = 0,    /* its place in the work item */
    AMLA_MASK_REQUEST = 1, /* its place in the request, by qo_indptr */
    AMLA_MASK_NONE = 2     /* nowhere: every token sees all of the item's keys */
};

/* Everything that a schedule depends on apart from the index tensors. */
typedef struct amla_schedule_request {
    int32_t batch;               /* requests */
    int32_t q_len;               /* largest number of query tokens of a request */
    int32_t heads;               /* query heads */
    int32_t kernel_heads;        /* heads of one work item; heads are padded up to a multiple of it */
    int32_t kernel_tokens;       /* most query tokens of one work item */
    int32_t min_tokens;          /* fewest query tokens of one work item */
    int32_t page_size;           /* tokens of a KV page, a power of two */
    int32_t kv_granularity;      /* pages of a block, a power of two: a request's keys are cut at blocks only */
    int32_t workgroups;          /* workgroups that will be launched */
    int32_t max_split_per_batch; /* -1, or: no more workgroups than this many a virtual batch get work */
    int32_t top_k;               /* -1, or sparse: keys in the KV list of each query token */
    int32_t item_cost;           /* what starting a work item costs, in blocks */
    uint8_t causal;
    uint8_t mask;             /* AMLA_MASK_* */
    uint8_t one_token_items;  /* every work item holds one query token */
    uint8_t virtual_batches;  /* the batch of a work item is its first row, not its request */
    uint8_t kv_in_tokens;     /* work items count keys, not pages */
    uint8_t partial_always;   /* every piece is a part, so that the reduce sees every LSE */
    uint8_t context_parallel; /* the KV is this rank's share: the kernel finds the last visible key itself */
    uint8_t reserved;
} amla_schedule_request;

/* Lengths that hold any schedule of a request, whatever the index tensors say. */
typedef struct amla_schedule_sizes {
    int64_t work_metadata;      /* uint64 */
    int64_t work_indptr;        /* int32 */
    int64_t work_info_rows;     /* rows of 8 int32 */
    int64_t reduce_indptr;      /* int32 */
    int64_t reduce_final_rows;  /* rows of 2 int32 */
    int64_t reduce_partial_map; /* int32 */
    int64_t partial_rows;       /* rows of the partial buffers, each kernel_heads heads */
} amla_schedule_sizes;

/* The index tensors of a request. */
typedef struct amla_index_tensors {
    const int32_t* qo_indptr;         /* [batch + 1] query tokens */
    const int32_t* kv_indptr;         /* [batch + 1] pages */
    const int32_t* kv_last_page_lens; /* [batch] tokens, 1..page_size; not read, and may be null, at page size 1 */
} amla_index_tensors;

/* The six tensors and their lengths, which may exceed those needed. */
typedef struct amla_schedule_tensors {
    uint64_t* work_metadata; /* [2] */
    int32_t* work_indptr;
    int32_t* work_info_set;
    int32_t* reduce_indptr;
    int32_t* reduce_final_map;
    int32_t* reduce_partial_map;
    int64_t work_indptr_size;
    int64_t work_info_rows;
    int64_t reduce_indptr_size;
    int64_t reduce_final_rows;
    int64_t reduce_partial_size;
} amla_schedule_tensors;

typedef struct amla_schedule_counts {
    int64_t items;      /* rows of work_info_set written */
    int64_t parts;      /* entries of reduce_partial_map written */
    int64_t blocks;     /* KV blocks of all items */
    int64_t workgroups; /* workgroups that may have work */
} amla_schedule_counts;

enum { AMLA_REDUCE_BF16 = 0, AMLA_REDUCE_FP16 = 1, AMLA_REDUCE_FP32 = 2 };

/* Where merged rows go: out [tokens, heads, head_dim] and lse [tokens, heads]. */
typedef struct amla_merge_output {
    void* out;
    float* lse; /* or null */
    int64_t tokens;
    int32_t heads;    /* heads of the output; a kernel head beyond them is padding and is not written */
    int32_t head_dim; /* 1..512 */
    int32_t dtype;    /* AMLA_REDUCE_* */
    int32_t reserved;
} amla_merge_output;

/* Merge of a schedule's parts. */
typedef struct amla_reduce_request {
    const float* partial_out;          /* [partial_rows, kernel_heads, head_dim] */
    const float* partial_lse;          /* [partial_rows, kernel_heads], natural logarithm */
    const int32_t* reduce_indptr;      /* [tiles + 1] */
    const int32_t* reduce_final_map;   /* [tiles, 2], or null: all tiles have as many rows as lie between the first two parts */
    const int32_t* reduce_partial_map; /* [reduce_indptr[tiles]] */
    int64_t partial_rows;
    int64_t tiles;
    int64_t partial_map_size;
    int32_t kernel_heads;
    int32_t head_groups; /* row = token * head_groups + group */
    int32_t least_parts; /* a tile with fewer parts is left alone: 2, or 1 for a schedule made with partial_always */
    int32_t reserved;
    amla_merge_output output;
} amla_reduce_request;

/* Merge of split mode's partial results. */
typedef struct amla_split_request {
    const float* partial_out;            /* [tokens, splits, kernel_heads, head_dim] */
    const float* partial_lse;            /* [tokens, splits, kernel_heads] */
    const int32_t* num_kv_splits_indptr; /* [batch + 1] */
    amla_index_tensors index;
    int32_t batch;
    int32_t splits;
    int32_t kernel_heads;
    int32_t page_size;
    int32_t least_keys; /* a split has at least so many keys if it is not the only one, so later ones hold nothing; 0: not known */
    int32_t reserved;
    amla_merge_output output;
} amla_split_request;

/* Query tokens that see no key: output 0, LSE -inf. Written after every other step, over whatever those left there. */
typedef struct amla_empty_request {
    amla_index_tensors index;
    const int32_t* global_kv_indptr; /* [batch + 1] keys of all ranks, or null */
    int32_t batch;
    int32_t page_size;
    int32_t cp_world_size;
    int32_t cp_rank;
    uint8_t causal;
    uint8_t reserved[7];
    amla_merge_output output;
} amla_empty_request;

enum {
    AMLA_PLANNER_SCHEDULE_REQUEST = 0,
    AMLA_PLANNER_SCHEDULE_SIZES = 1,
    AMLA_PLANNER_SCHEDULE_TENSORS = 2,
    AMLA_PLANNER_REDUCE_REQUEST = 3,
    AMLA_PLANNER_SPLIT_REQUEST = 4,
    AMLA_PLANNER_EMPTY_REQUEST = 5,
    AMLA_PLANNER_SPLIT_CHOICE = 6
};

AMLA_PLANNER_EXPORT uint32_t amla_planner_abi_version(void);

/* sizeof of the struct named by AMLA_PLANNER_*_REQUEST and so on, or 0 for an unknown number. */
AMLA_PLANNER_EXPORT uint32_t amla_planner_struct_size(uint32_t which);

/* Sizes that no schedule of the request exceeds. */
AMLA_PLANNER_EXPORT int32_t amla_schedule_bounds(const amla_schedule_request* request, amla_schedule_sizes* sizes,
                                                 amla_planner_error* error);

/* Fills the six tensors. */
AMLA_PLANNER_EXPORT int32_t amla_schedule_make(const amla_schedule_request* request, const amla_index_tensors* index,
                                               const amla_schedule_tensors* tensors, amla_schedule_counts* counts,
                                               amla_planner_error* error);

/* Merges the parts of every tile in the order of reduce_partial_map. */
AMLA_PLANNER_EXPORT int32_t amla_reduce(const amla_reduce_request* request, amla_planner_error* error);

/* What the number of splits depends on. */
typedef struct amla_split_choice {
    int64_t total_keys;  /* of all requests */
    int32_t batch;       /* requests, 1 or more */
    int32_t tiles;       /* workgroups that one split of one request takes */
    int32_t workgroups;  /* that run at a time */
    int32_t most_splits; /* largest answer */
    int32_t least_keys;  /* keys of a split, at least */
    int32_t cost_keys;   /* what starting a split costs, in keys */
} amla_split_choice;

/* The number of splits of each request that ends earliest if all have the mean length, the smallest of several; 1 or more. */
AMLA_PLANNER_EXPORT int32_t amla_split_count(const amla_split_choice* choice, int32_t* splits, amla_planner_error* error);

/* Fills num_kv_splits_indptr [batch + 1] for the same number of splits everywhere. */
AMLA_PLANNER_EXPORT int32_t amla_split_indptr(int32_t batch, int32_t splits, int32_t* num_kv_splits_indptr, amla_planner_error* error);

/* Merges the splits of every query token in their order. */
AMLA_PLANNER_EXPORT int32_t amla_split_merge(const amla_split_request* request, amla_planner_error* error);

/* Writes the query tokens that see no key. */
AMLA_PLANNER_EXPORT int32_t amla_empty_rows(const amla_empty_request* request, amla_planner_error* error);

#ifdef __cplusplus
}
#endif
#endif
