"""The planner's C structs."""

from __future__ import annotations

import ctypes

P = ctypes.c_void_p
I32 = ctypes.c_int32
I64 = ctypes.c_int64
U8 = ctypes.c_uint8


class Error(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_char_p), ("expected", ctypes.c_char_p), ("got", I64), ("index", I64)]


class ScheduleRequest(ctypes.Structure):
    _fields_ = [
        *((name, I32) for name in ("batch", "q_len", "heads", "kernel_heads", "kernel_tokens", "min_tokens", "page_size")),
        *((name, I32) for name in ("kv_granularity", "workgroups", "max_split_per_batch", "top_k", "item_cost")),
        *((name, U8) for name in ("causal", "mask", "one_token_items", "virtual_batches", "kv_in_tokens", "partial_always")),
        ("context_parallel", U8),
        ("reserved", U8),
    ]


class Sizes(ctypes.Structure):
    _fields_ = [
        *((name, I64) for name in ("work_metadata", "work_indptr", "work_info_rows", "reduce_indptr", "reduce_final_rows")),
        ("reduce_partial_map", I64),
        ("partial_rows", I64),
    ]


class IndexTensors(ctypes.Structure):
    _fields_ = [("qo_indptr", P), ("kv_indptr", P), ("kv_last_page_lens", P)]


class ScheduleTensors(ctypes.Structure):
    _fields_ = [
        *(
            (name, P)
            for name in ("work_metadata", "work_indptr", "work_info_set", "reduce_indptr", "reduce_final_map", "reduce_partial_map")
        ),
        *((name, I64) for name in ("work_indptr_size", "work_info_rows", "reduce_indptr_size", "reduce_final_rows", "reduce_partial_size")),
    ]


class Counts(ctypes.Structure):
    _fields_ = [(name, I64) for name in ("items", "parts", "blocks", "workgroups")]


class MergeOutput(ctypes.Structure):
    _fields_ = [("out", P), ("lse", P), ("tokens", I64), ("heads", I32), ("head_dim", I32), ("dtype", I32), ("reserved", I32)]


class ReduceRequest(ctypes.Structure):
    _fields_ = [
        *((name, P) for name in ("partial_out", "partial_lse", "reduce_indptr", "reduce_final_map", "reduce_partial_map")),
        *((name, I64) for name in ("partial_rows", "tiles", "partial_map_size")),
        *((name, I32) for name in ("kernel_heads", "head_groups", "least_parts", "reserved")),
        ("output", MergeOutput),
    ]


class SplitRequest(ctypes.Structure):
    _fields_ = [
        *((name, P) for name in ("partial_out", "partial_lse", "num_kv_splits_indptr")),
        ("index", IndexTensors),
        *((name, I32) for name in ("batch", "splits", "kernel_heads", "page_size", "least_keys", "reserved")),
        ("output", MergeOutput),
    ]


class EmptyRequest(ctypes.Structure):
    _fields_ = [
        ("index", IndexTensors),
        ("global_kv_indptr", P),
        *((name, I32) for name in ("batch", "page_size", "cp_world_size", "cp_rank")),
        ("causal", U8),
        ("reserved", U8 * 7),
        ("output", MergeOutput),
    ]


class SplitChoice(ctypes.Structure):
    _fields_ = [
        ("total_keys", I64),
        *((name, I32) for name in ("batch", "tiles", "workgroups", "most_splits", "least_keys", "cost_keys")),
    ]


BY_NUMBER = (ScheduleRequest, Sizes, ScheduleTensors, ReduceRequest, SplitRequest, EmptyRequest, SplitChoice)
"""In the order of the AMLA_PLANNER_* numbers of amla_planner_struct_size."""
