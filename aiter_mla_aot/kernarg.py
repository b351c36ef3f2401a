"""The argument block of AITER's MLA stage-1 kernels: 16-byte slots, the value in the first bytes of its slot."""

from __future__ import annotations

import struct
from typing import Final

SLOTS: Final = (
    "partial_out",
    "partial_lse",
    "q",
    "kv",
    "kv_indptr",
    "kv_indices",
    "last_page_lens",
    "softmax_scale",
    "rows",
    "kv_split",
    "q_batch_stride",
    "page_stride",
    "log2_page",
    "qo_indptr",
    "schedule",
    "out",
    "q_scale",
    "kv_scale",
    "out_16_nosplit",
    "final_lse",
    "global_kv_indptr",
    "cp_world_size",
    "cp_rank",
)
"""In order; ``csrc/dispatch/kernarg.hpp`` numbers them the same way."""

CAPACITY: Final = 384
"""Bytes of the largest argument segment."""


def pack(size: int, values: dict[str, int | float]) -> bytes:
    """The first ``size`` bytes of the block; what is not given is 0."""
    block = bytearray(CAPACITY)
    for name, value in values.items():
        struct.pack_into("<f" if isinstance(value, float) else "<Q", block, 16 * SLOTS.index(name), value)
    return bytes(block[:size])
