/* C interface of the dispatch extension: plain structs and functions that callers without Python may bind with dlsym.
 *
 * A caller checks amla_abi_version() == AMLA_ABI_VERSION and, for each struct it passes, amla_struct_size(). The version
 * changes whenever a struct or the meaning of a function does. No function throws, aborts or prints.
 */
#ifndef AMLA_ABI_H
#define AMLA_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AMLA_ABI_VERSION 1u
#define AMLA_EXPORT __attribute__((visibility("default")))
#define AMLA_MAX_DETAILS 4
#define AMLA_DETAIL_BYTES 512

/* Stable codes of errors: the number of the MLAnnn code of the Python error class. Positional details in brackets. */
enum {
    AMLA_OK = 0,
    AMLA_INVALID_PROBLEM = 101,    /* [field, expected, got] */
    AMLA_REFUSED = 102,            /* [refusal code] */
    AMLA_FILE_MISSING = 201,       /* [path, reason] */
    AMLA_HIP_NOT_FOUND = 301,      /* [what was tried, reason] */
    AMLA_HIP_ERROR = 302,          /* [call, number, name, text] */
    AMLA_DEVICE_UNSUPPORTED = 303, /* [device, what it is, what is needed] */
    AMLA_NEEDS_NEWER_ROCM = 304,   /* [file, version needed, version found] */
    AMLA_OTHER_ARCH = 305,         /* [file or call, its arch, arch of the device] */
    AMLA_TARGET_ID_MISMATCH = 306, /* [file, feature it was built for, target id of the device] */
    AMLA_HASH_MISMATCH = 307,      /* [file, SHA-256 compiled in, SHA-256 of the bytes] */
    AMLA_MIXED_DEVICES = 308,      /* [argument, its device, device of q] */
    AMLA_USED_AFTER_FORK = 309,    /* [process that opened HIP, this process] */
    AMLA_ARGUMENT_INVALID = 310,   /* [argument, expected, got] */
    AMLA_MODULE_NOT_PREPARED = 311 /* [device, why it cannot be loaded now] */
};

/* One answer to "what went wrong". Only the first `details` texts are set, each NUL-terminated and cut to fit. */
typedef struct amla_status {
    int32_t code;
    int32_t details;
    char detail[AMLA_MAX_DETAILS][AMLA_DETAIL_BYTES];
} amla_status;

/* amla_problem.arch of an arch that this binary has no kernels for; the others have the number amla_arch_number gives. */
enum { AMLA_ARCH_OTHER = -1 };

/* Values of amla_problem.mode and of its dtype fields. */
enum { AMLA_MODE_PERSISTENT = 0, AMLA_MODE_SPLIT = 1 };

enum { AMLA_DTYPE_BF16 = 0, AMLA_DTYPE_FP8 = 1, AMLA_DTYPE_BYTE = 2 };

enum { AMLA_OUT_BF16 = 0, AMLA_OUT_FP16 = 1, AMLA_OUT_FP32 = 2 };

/* Everything the host knows of a decode request; the fields of aiter_mla_aot.problem.Problem. */
typedef struct amla_problem {
    int64_t kv_bytes;
    double logit_cap;
    int32_t arch;
    int32_t mode;
    int32_t q_dtype;
    int32_t kv_dtype;
    int32_t out_dtype;
    int32_t heads;
    int32_t q_len;
    int32_t page_size;
    int32_t cp_world_size;
    int32_t batch;
    int32_t qk_head_dim;
    int32_t v_head_dim;
    uint8_t causal;
    uint8_t lse;
    uint8_t ragged;
    uint8_t sparse;
    uint8_t reserved[4];
} amla_problem;

/* How a served problem is launched. `leaf` is the value in the decision diagram; a refused problem has bit 15 set in it
 * (the rest is the index of the refusal's text) and the other fields are 0. */
typedef struct amla_plan {
    uint16_t leaf;
    uint16_t kernel;            /* row of the kernel table */
    uint16_t padded_heads;      /* heads after rounding up to a multiple of the kernel's heads */
    uint16_t head_groups;       /* virtual batches a request's heads are folded into */
    uint16_t tokens_per_item;   /* query tokens one work item holds at most */
    uint16_t items_per_request; /* head_groups * items of the query tokens */
    uint32_t rows_per_item;     /* the kernel argument s_MQA */
} amla_plan;

enum { AMLA_STRUCT_STATUS = 0, AMLA_STRUCT_PROBLEM = 1, AMLA_STRUCT_PLAN = 2 };

/* Version of this interface. */
AMLA_EXPORT uint32_t amla_abi_version(void);

/* sizeof of the struct named by AMLA_STRUCT_*, or 0 for an unknown number. */
AMLA_EXPORT uint32_t amla_struct_size(uint32_t which);

/* Number of an arch such as "gfx942", or AMLA_ARCH_OTHER. */
AMLA_EXPORT int32_t amla_arch_number(const char* name);

/* Answers `problem` in `plan`. Returns AMLA_OK (served or refused, see plan->leaf) or AMLA_INVALID_PROBLEM with `status` set,
 * or AMLA_ARGUMENT_INVALID for a null pointer.
 * Pure: needs no device, allocates nothing, callable from any thread. */
AMLA_EXPORT int32_t amla_lookup(const amla_problem* problem, amla_plan* plan, amla_status* status);

/* Text of the refusal of a leaf with bit 15 set, or a null pointer for any other value. The text lives forever. */
AMLA_EXPORT const char* amla_refusal_text(uint16_t leaf);

#ifdef __cplusplus
}
#endif
#endif
