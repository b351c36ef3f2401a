"""DS instructions: every width, two-offset forms, transposing reads, lane moves, atomics."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.emulator.machine.device import assemble
from tests.emulator.machine.hip import Hip

Words = npt.NDArray[np.uint32]
LANES = np.arange(64, dtype=np.uint32)
PROLOGUE = """
s_load_dwordx4 s[4:7], s[0:1], 0
v_lshlrev_b32 v1, 4, v0
v_lshlrev_b32 v2, 2, v0
s_waitcnt lgkmcnt(0)
global_load_dwordx4 v[4:7], v1, s[4:5]
v_mov_b32 v8, -1
v_mov_b32 v9, -1
v_mov_b32 v10, -1
v_mov_b32 v11, -1
s_waitcnt vmcnt(0)
"""
EPILOGUE = """
s_waitcnt lgkmcnt(0)
global_store_dwordx4 v1, v[8:11], s[6:7]
s_endpgm
"""


def run(hip: Hip, kernels: Path, body: str, data: Words, *, arch: str = "gfx942", lds: int = 4096) -> Words:
    """Four input dwords of each lane are in v[4:7]; v[8:11], all ones before, is the result. v1 = 16 * lane, v2 = 4 * lane."""
    hip.devices(arch)
    inputs = hip.upload(data)
    outputs = hip.buffer([64, 4], np.uint32)
    image = assemble(PROLOGUE + body + EPILOGUE, arch, kernels, lds=lds)
    hip.run_assembly(image, struct.pack("<QQ", inputs.address, outputs.address))
    return np.array(outputs.array)


@pytest.fixture
def data() -> Words:
    return np.random.default_rng(3).integers(0, 1 << 32, (64, 4), dtype=np.uint32)


@pytest.mark.parametrize("dwords", [1, 2, 3, 4])
def test_wide_writes_and_reads_move_whole_registers(hip: Hip, kernels: Path, data: Words, dwords: int) -> None:
    registers = {1: ("v4", "v8"), 2: ("v[4:5]", "v[8:9]"), 3: ("v[4:6]", "v[8:10]"), 4: ("v[4:7]", "v[8:11]")}[dwords]
    bits = 32 * dwords
    out = run(hip, kernels, f"ds_write_b{bits} v1, {registers[0]} offset:16\nds_read_b{bits} {registers[1]}, v1 offset:16", data)
    assert (out[:, :dwords] == data[:, :dwords]).all()
    assert (out[:, dwords:] == 0xFFFFFFFF).all()


def test_two_offset_forms_count_elements(hip: Hip, kernels: Path, data: Words) -> None:
    body = "ds_write2_b32 v2, v4, v5 offset0:1 offset1:65\nds_read_b32 v8, v2 offset:4\nds_read_b32 v9, v2 offset:260"
    body += "\nds_read2_b32 v[10:11], v2 offset0:65 offset1:1"
    out = run(hip, kernels, body, data)
    assert (out == data[:, [0, 1, 1, 0]]).all()


def test_strided_two_offset_forms_count_64_elements(hip: Hip, kernels: Path, data: Words) -> None:
    body = "v_lshlrev_b32 v3, 3, v0\nds_write2st64_b64 v3, v[4:5], v[6:7] offset0:1 offset1:3\nds_read_b64 v[8:9], v3 offset:512"
    body += "\nds_read2st64_b64 v[8:11], v3 offset0:3 offset1:1"
    assert (run(hip, kernels, body, data) == data[:, [2, 3, 0, 1]]).all()


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("ds_read_u8 v8, v1", lambda x: x & 0xFF),
        ("ds_read_i8 v8, v1", lambda x: (x & 0xFF).astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32)),
        ("ds_read_u16 v8, v1 offset:2", lambda x: x >> 16),
        ("ds_read_i16 v8, v1 offset:2", lambda x: (x.view(np.int32) >> 16).view(np.uint32)),
        ("ds_read_u8_d16 v8, v1", lambda x: 0xFFFF0000 | (x & 0xFF)),
        ("ds_read_u8_d16_hi v8, v1", lambda x: 0xFFFF | (x & 0xFF) << 16),
        ("ds_read_u16_d16 v8, v1", lambda x: 0xFFFF0000 | (x & 0xFFFF)),
        ("ds_read_u16_d16_hi v8, v1", lambda x: 0xFFFF | x << 16),
    ],
)
def test_narrow_reads_extend_or_keep_the_other_half(
    hip: Hip, kernels: Path, data: Words, instruction: str, expected: Callable[[Words], Words]
) -> None:
    out = run(hip, kernels, f"ds_write_b32 v1, v4\n{instruction}", data)
    assert (out[:, 0] == expected(data[:, 0].copy())).all()


def test_narrow_writes_leave_their_neighbours(hip: Hip, kernels: Path, data: Words) -> None:
    body = "ds_write_b32 v1, v4\nds_write_b8 v1, v5 offset:1\nds_write_b16_d16_hi v1, v6 offset:2\nds_read_b32 v8, v1"
    want = (data[:, 0] & 0xFF) | (data[:, 1] & 0xFF) << 8 | (data[:, 2] & 0xFFFF0000)
    assert (run(hip, kernels, body, data)[:, 0] == want).all()


def test_inactive_lanes_keep_registers_and_memory(hip: Hip, kernels: Path, data: Words) -> None:
    body = "ds_write_b32 v1, v4\ns_mov_b32 exec_lo, 0x0f0f0f0f\ns_mov_b32 exec_hi, 1\nds_write_b32 v1, v5\n"
    body += "ds_read_b32 v9, v1\ns_waitcnt lgkmcnt(0)"
    body += "\ns_mov_b64 exec, -1\nds_read_b32 v8, v1"
    out = run(hip, kernels, body, data)
    active = ((0x10F0F0F0F >> LANES.astype(np.uint64)) & 1).astype(bool)
    assert (out[:, 0] == np.where(active, data[:, 1], data[:, 0])).all()
    assert (out[:, 1] == np.where(active, data[:, 1], 0xFFFFFFFF)).all()


@pytest.mark.parametrize("bits", [4, 8, 16])
def test_transposing_reads_give_columns_of_sixteen_lanes(hip: Hip, kernels: Path, data: Words, bits: int) -> None:
    body = f"v_lshlrev_b32 v3, 3, v0\nds_write_b64 v3, v[4:5]\nds_read_b64_tr_b{bits} v[8:9], v3"
    out = run(hip, kernels, body, data, arch="gfx950")

    def elements(rows: Words) -> npt.NDArray[np.uint64]:
        words = rows[:, 0].astype(np.uint64) | rows[:, 1].astype(np.uint64) << np.uint64(32)
        shifts = np.arange(64 // bits, dtype=np.uint64) * np.uint64(bits)
        return np.asarray((words[:, None] >> shifts) & np.uint64((1 << bits) - 1))

    tiles = elements(data).reshape(4, 64 // bits, 16)  # group, row, column
    assert (elements(out).reshape(4, 16, 64 // bits) == tiles.transpose(0, 2, 1)).all()


def test_transposing_read_of_six_bit_elements(hip: Hip, kernels: Path, data: Words) -> None:
    body = "v_mul_u32_u24 v3, 12, v0\nds_write_b96 v3, v[4:6]\nds_read_b96_tr_b6 v[8:10], v3"
    out = run(hip, kernels, body, data, arch="gfx950")

    def elements(rows: Words) -> npt.NDArray[np.uint8]:
        bits = np.unpackbits(np.ascontiguousarray(rows[:, :3]).view(np.uint8), axis=1, bitorder="little")
        return np.asarray(np.packbits(bits.reshape(64, 16, 6), axis=2, bitorder="little")[:, :, 0])

    assert (elements(out).reshape(4, 16, 16) == elements(data).reshape(4, 16, 16).transpose(0, 2, 1)).all()


def test_bpermute_reads_from_lanes_and_permute_writes_to_them(hip: Hip, kernels: Path, data: Words) -> None:
    body = (
        "v_mul_u32_u24 v3, 20, v0\nds_bpermute_b32 v8, v3, v4\nds_permute_b32 v9, v3, v4\ns_mov_b32 exec_lo, 0xffff\ns_mov_b32 exec_hi, 0"
    )
    body += "\nds_bpermute_b32 v10, v3, v4\ns_mov_b64 exec, -1"
    out = run(hip, kernels, body, data)
    lanes = 5 * np.arange(64) % 64
    assert (out[:, 0] == data[lanes, 0]).all()
    want = np.empty(64, np.uint32)
    want[lanes] = data[:, 0]
    assert (out[:, 1] == want).all()
    assert (out[:16, 2] == np.where(lanes < 16, data[lanes, 0], 0)[:16]).all()
    assert (out[16:, 2] == 0xFFFFFFFF).all()


@pytest.mark.parametrize(
    ("offset", "source"),
    [
        (0x8000 | 0b00_01_10_11, lambda i: (i & ~3) | 3 - (i & 3)),
        (0x041F, lambda i: i ^ 1),
        (0x0010 | 3 << 5, lambda i: (i & 32) | (i & 0x10) | 3),
        (0xC000 | 4 << 5, lambda i: (i & 32) | (i + 4) % 32),
        (0xC000 | 1 << 10 | 4 << 5, lambda i: (i & 32) | (i - 4) % 32),
    ],
)
def test_swizzle_modes(hip: Hip, kernels: Path, data: Words, offset: int, source: Callable[[int], int]) -> None:
    out = run(hip, kernels, f"ds_swizzle_b32 v8, v4 offset:{offset}", data)
    assert (out[:, 0] == data[[source(i) for i in range(64)], 0]).all()


Atomic = Callable[[int, int, int], int]
M = 0xFFFFFFFF


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


ATOMICS: dict[str, Atomic] = {
    "add_rtn_u32": lambda old, a, b: (old + a) & M,
    "sub_rtn_u32": lambda old, a, b: (old - a) & M,
    "rsub_rtn_u32": lambda old, a, b: (a - old) & M,
    "inc_rtn_u32": lambda old, a, b: 0 if old >= a else old + 1,
    "dec_rtn_u32": lambda old, a, b: a if old == 0 or old > a else old - 1,
    "min_rtn_i32": lambda old, a, b: old if _signed(old) < _signed(a) else a,
    "max_rtn_i32": lambda old, a, b: old if _signed(old) > _signed(a) else a,
    "min_rtn_u32": lambda old, a, b: min(old, a),
    "max_rtn_u32": lambda old, a, b: max(old, a),
    "and_rtn_b32": lambda old, a, b: old & a,
    "or_rtn_b32": lambda old, a, b: old | a,
    "xor_rtn_b32": lambda old, a, b: old ^ a,
    "wrxchg_rtn_b32": lambda old, a, b: a,
    "mskor_rtn_b32": lambda old, a, b: (old & ~a) | b,
    "cmpst_rtn_b32": lambda old, a, b: b if old == a else old,
    "wrap_rtn_b32": lambda old, a, b: (old - a if old >= a else old + b) & M,
}


@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_return_the_old_value(hip: Hip, kernels: Path, data: Words, name: str) -> None:
    data[::2, 1] = data[::2, 0]  # let half of the comparisons hold
    two = name.startswith(("mskor", "cmpst", "wrap"))
    operands = "v5, v6" if two else "v5"
    out = run(hip, kernels, f"ds_write_b32 v1, v4\nds_{name} v8, v1, {operands}\nds_read_b32 v9, v1", data)
    assert (out[:, 0] == data[:, 0]).all()
    assert [int(x) for x in out[:, 1]] == [ATOMICS[name](int(o), int(a), int(b)) for o, a, b, _ in data]


def test_atomics_of_lanes_on_one_address_add_up(hip: Hip, kernels: Path, data: Words) -> None:
    body = "v_mov_b32 v3, 0\nds_write_b32 v3, v3\nv_mov_b32 v4, 1.0\nv_mov_b32 v5, 3\nds_write_b32 v3, v3 offset:8\n"
    body += "ds_add_u32 v3, v5\nds_add_f32 v3, v4 offset:8"
    body += "\nds_read_b32 v8, v3\nds_read_b32 v9, v3 offset:8"
    out = run(hip, kernels, body, data)
    assert (out[:, 0] == 192).all()
    assert (out[:, 1].view(np.float32) == 64.0).all()


def test_addressing_by_m0_and_lane(hip: Hip, kernels: Path, data: Words) -> None:
    body = "s_mov_b32 m0, 64\nds_write_addtid_b32 v4 offset:8\nds_read_b32 v8, v2 offset:72\nds_read_addtid_b32 v9 offset:8"
    assert (run(hip, kernels, body, data)[:, :2] == data[:, [0, 0]]).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_append_and_consume_count_active_lanes(hip: Hip, kernels: Path, data: Words, arch: str) -> None:
    body = "v_mov_b32 v3, 1000\nds_write_b32 v2, v3 offset:512\ns_mov_b32 m0, 0x10200\ns_mov_b64 exec, 0xf0\nds_append v8\n"
    body += "ds_consume v9\ns_mov_b64 exec, 7\nds_consume v10 offset:4\ns_mov_b64 exec, -1\nv_mov_b32 v3, 512\nds_read_b32 v11, v3 offset:4"
    out = run(hip, kernels, body, data, arch=arch)
    assert (out[4:8, :2] == [1000, 1004]).all()
    assert (out[0:3, 2] == 1000).all()
    assert (out[8:, :2] == 0xFFFFFFFF).all()
    assert (out[:, 3] == 997).all()
