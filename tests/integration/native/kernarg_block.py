"""What a kernel must find in its arguments, by the names that code objects give them in their metadata."""

from __future__ import annotations

import struct
from typing import Final

from tests.integration.native.stage1_call import ADDRESSES, Call

SLOTS: Final = {
    ("ptr_R", "O"): 0x00,
    ("ptr_LSE", "Q"): 0x10,
    ("ptr_Q", "K"): 0x20,
    ("ptr_KV", "V"): 0x30,
    ("ptr_LTP", "BT"): 0x40,
    ("ptr_LTD", "CL"): 0x50,
    ("ptr_LTL", "KQ"): 0x60,
    ("scalar", "sclg"): 0x70,
    ("s_MQA", "mblk"): 0x80,
    ("s_kv_split", "batch"): 0x90,
    ("s_Q_Bs", "Qs"): 0xA0,
    ("s_Bs", "Bs"): 0xB0,
    ("s_log2_plen", "Cs"): 0xC0,
    ("ptr_QTP", "QT"): 0xD0,
    ("ptr_STP", "ST"): 0xE0,
    ("ptr_RP", "RP"): 0xF0,
    ("ptr_QSCALE", "DQ"): 0x100,
    ("ptr_KVSCALE", "DK"): 0x110,
    ("out_16_nosplit", "out16"): 0x120,
    ("final_lse", ""): 0x130,
    ("global_kv_indptr", ""): 0x140,
    ("cp_world_size", ""): 0x150,
    ("cp_rank", ""): 0x160,
}
"""Offset of an argument by AITER's name for it on the host and by the short name in most objects."""

OFFSETS: Final = {name: offset for names, offset in SLOTS.items() for name in names if name} | {"ptr_DQ": 0x100, "ptr_DK": 0x110}
ITEM_BYTES: Final = {"bfloat16": 2, "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "uint8": 1}


def expected_values(call: Call, recipe: str, rows: int) -> dict[int, bytes]:
    """Bytes by offset, for a call whose tensors are those of ``stage1_call``."""
    given = call.shapes()

    def pointer(name: str) -> bytes:
        return struct.pack("<Q", ADDRESSES[name] if name in given else 0)

    def word(value: int) -> bytes:
        return struct.pack("<I", value)

    q_row = call.kernel_heads * 576 * ITEM_BYTES[call.q_dtype]
    persistent = recipe.startswith("persistent")
    null_out = recipe == "split_null"
    return {
        0x00: pointer("split_data"),
        0x10: pointer("split_lse"),
        0x20: pointer("q"),
        0x30: pointer("kv_buffer"),
        0x40: pointer("kv_indptr"),
        0x50: pointer("kv_indices"),
        0x60: pointer("kv_last_page_lens"),
        0x70: struct.pack("<f", call.sm_scale),
        0x80: word(rows),
        0x90: word(call.splits),
        0xA0: word(q_row * call.q_len),
        0xB0: word(call.page_size * 576 * ITEM_BYTES[call.kv_dtype]),
        0xC0: word(call.page_size.bit_length() - 1),
        0xD0: pointer("qo_indptr"),
        0xE0: pointer("work_meta_data" if persistent else "num_kv_splits_indptr"),
        0xF0: bytes(8) if null_out else pointer("o"),
        0x100: pointer("q_scale"),
        0x110: pointer("kv_scale"),
        0x120: word(0 if null_out else call.splits),
        0x130: pointer("lse"),
        0x140: pointer("g_kv_indptr"),
        0x150: word(call.cp_world_size),
        0x160: word(call.cp_rank),
    }


def expected_block(call: Call, recipe: str, rows: int, size: int) -> bytes:
    """The whole block of ``size`` bytes: values at their offsets, zero elsewhere."""
    block = bytearray(max(size, 0x170))
    for offset, value in expected_values(call, recipe, rows).items():
        block[offset : offset + len(value)] = value
    return bytes(block[:size])
