"""The C structs of the planner, as ``csrc/planner/abi.h`` declares them."""

from __future__ import annotations

import ctypes
from typing import Final

_P = ctypes.c_void_p
_I32 = ctypes.c_int32
_I64 = ctypes.c_int64
_U8 = ctypes.c_uint8


class Error(ctypes.Structure):
    """What was wrong."""

    _fields_ = [("argument", ctypes.c_char_p), ("expected", ctypes.c_char_p), ("got", _I64), ("index", _I64)]


class ScheduleRequest(ctypes.Structure):
    """Everything that a schedule depends on apart from the index tensors."""

    _fields_ = [
        *((name, _I32) for name in ("batch", "q_len", "heads", "kernel_heads", "kernel_tokens", "min_tokens", "page_size")),
        *((name, _I32) for name in ("kv_granularity", "workgroups", "max_split_per_batch", "top_k", "item_cost")),
        *((name, _U8) for name in ("causal", "mask", "one_token_items", "virtual_batches", "kv_in_tokens", "partial_always")),
        ("context_parallel", _U8),
        ("reserved", _U8),
    ]


class Sizes(ctypes.Structure):
    """Lengths that hold any schedule of a request."""

    _fields_ = [
        (name, _I64)
        for name in (
            "work_metadata",
            "work_indptr",
            "work_info_rows",
            "reduce_indptr",
            "reduce_final_rows",
            "reduce_partial_map",
            "partial_rows",
        )
    ]


class IndexTensors(ctypes.Structure):
    """The index tensors of a request."""

    _fields_ = [("qo_indptr", _P), ("kv_indptr", _P), ("kv_last_page_lens", _P)]


class ScheduleTensors(ctypes.Structure):
    """The six tensors and their lengths."""

    _fields_ = [
        *(
            (name, _P)
            for name in ("work_metadata", "work_indptr", "work_info_set", "reduce_indptr", "reduce_final_map", "reduce_partial_map")
        ),
        *(
            (name, _I64)
            for name in ("work_indptr_size", "work_info_rows", "reduce_indptr_size", "reduce_final_rows", "reduce_partial_size")
        ),
    ]


class Counts(ctypes.Structure):
    """What a schedule holds."""

    _fields_ = [(name, _I64) for name in ("items", "parts", "blocks", "workgroups")]


class MergeOutput(ctypes.Structure):
    """Where merged rows go."""

    _fields_ = [("out", _P), ("lse", _P), ("tokens", _I64), ("heads", _I32), ("head_dim", _I32), ("dtype", _I32), ("reserved", _I32)]


class ReduceRequest(ctypes.Structure):
    """Merge of a schedule's parts."""

    _fields_ = [
        *((name, _P) for name in ("partial_out", "partial_lse", "reduce_indptr", "reduce_final_map", "reduce_partial_map")),
        *((name, _I64) for name in ("partial_rows", "tiles", "partial_map_size")),
        *((name, _I32) for name in ("kernel_heads", "head_groups", "least_parts", "reserved")),
        ("output", MergeOutput),
    ]


class SplitRequest(ctypes.Structure):
    """Merge of split mode's partial results."""

    _fields_ = [
        *((name, _P) for name in ("partial_out", "partial_lse", "num_kv_splits_indptr")),
        ("index", IndexTensors),
        *((name, _I32) for name in ("batch", "splits", "kernel_heads", "page_size", "least_keys", "reserved")),
        ("output", MergeOutput),
    ]


class EmptyRequest(ctypes.Structure):
    """Query tokens that see no key."""

    _fields_ = [
        ("index", IndexTensors),
        ("global_kv_indptr", _P),
        *((name, _I32) for name in ("batch", "page_size", "cp_world_size", "cp_rank")),
        ("causal", _U8),
        ("reserved", _U8 * 7),
        ("output", MergeOutput),
    ]


BY_NUMBER: Final = (ScheduleRequest, Sizes, ScheduleTensors, ReduceRequest, SplitRequest, EmptyRequest)
"""In the order of the AMLA_PLANNER_* numbers of amla_planner_struct_size."""
