"""What the encodings do around an operation: EXEC, DPP, SDWA, scalars and constants, relative indexing, moves across lanes, comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.emulator.alu.machine import ALL_LANES, EXEC, M0, VCC, Machine, Words, agpr, constant, sgpr, vgpr

DPP_CONTROLS = [
    0x00, 0x1B, 0xB1, 0x4E, 0xFF, *range(0x101, 0x110), *range(0x111, 0x120), *range(0x121, 0x130),
    0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143, *range(0x150, 0x160),
]  # fmt: skip
PARTIAL = 0xFEDC_BA98_7654_3210


def source_lane(control: int, lane: int) -> int | None:
    """Where DPP reads, written independently as data movement within rows of 16."""
    row, place, count = lane // 16 * 16, lane % 16, control % 16
    if control < 0x100:
        return lane // 4 * 4 + (control >> 2 * (lane % 4)) % 4
    if control < 0x110:
        return row + place + count if place + count < 16 else None
    if control < 0x120:
        return row + place - count if place - count >= 0 else None
    if control < 0x130:
        return row + (place - count) % 16
    if control >= 0x150:
        return row + count
    return {
        0x130: lane + 1 if lane < 63 else None,
        0x134: (lane + 1) % 64,
        0x138: lane - 1 if lane else None,
        0x13C: (lane - 1) % 64,
        0x140: row + 15 - place,
        0x141: lane // 8 * 8 + 7 - lane % 8,
        0x142: row - 1 if row else None,
        0x143: 31 if lane >= 32 else None,
    }[control]


def random_rows(machine: Machine, seed: int, registers: range) -> None:
    rng = np.random.default_rng(seed)
    machine.v[registers.start : registers.stop] = rng.integers(0, 1 << 32, (len(registers), 64), dtype=np.uint32)


@pytest.mark.parametrize("bound_ctrl", [False, True])
@pytest.mark.parametrize("masks", [(15, 15), (5, 15), (15, 9), (0, 15)])
@pytest.mark.parametrize("exec_mask", [ALL_LANES, PARTIAL])
def test_dpp_moves_lanes_and_masks_writes(machine: Machine, exec_mask: int, masks: tuple[int, int], bound_ctrl: bool) -> None:
    random_rows(machine, 1, range(10, 12))
    a, b = (machine.v[n].copy().astype(np.int64) for n in (10, 11))
    for control in DPP_CONTROLS:
        machine.v[2] = 5
        assert (
            machine.run("v_add_u32", vgpr(2), [vgpr(10), vgpr(11)], fmt="vop2", dpp=(control, *masks, bound_ctrl), exec_mask=exec_mask) == 0
        )
        for lane in range(64):
            source = source_lane(control, lane)
            valid = source is not None and exec_mask >> source & 1
            enabled = masks[0] >> (lane // 16) & 1 and masks[1] >> (lane // 4 % 4) & 1 and exec_mask >> lane & 1
            value = (int(a[source]) if source is not None and valid else 0) + int(b[lane]) & 0xFFFFFFFF
            assert int(machine.v[2, lane]) == (value if enabled and (valid or bound_ctrl) else 5), (hex(control), lane)


def test_dpp_reads_its_source_before_it_is_overwritten(machine: Machine) -> None:
    random_rows(machine, 2, range(10, 11))
    before = machine.v[10].copy()
    machine.run("v_mov_b32", vgpr(10), [vgpr(10)], fmt="vop1", dpp=(0x121, 15, 15, False))
    assert np.array_equal(machine.v[10], before.reshape(4, 16)[:, np.arange(-1, 15)].reshape(64))


def field(x: Words, select: int) -> Words:
    return (
        x
        if select == 6
        else x >> np.uint32(8 * select) & np.uint32(0xFF)
        if select < 4
        else x >> np.uint32(16 * (select - 4)) & np.uint32(0xFFFF)
    )


@pytest.mark.parametrize("unused", [0, 1, 2])
@pytest.mark.parametrize("dst", range(7))
@pytest.mark.parametrize("src0", range(7))
def test_sdwa_selects_and_places_fields(machine: Machine, src0: int, dst: int, unused: int) -> None:
    random_rows(machine, 3, range(10, 12))
    a, b = machine.v[10].copy(), machine.v[11].copy()
    for src1 in range(7):
        for sext in (False, True):
            machine.v[2] = 0x89ABCDEF
            machine.run(
                "v_add_u32", vgpr(2), [vgpr(10), vgpr(11)], fmt="vop2", sdwa=(dst, unused, src0, src1, sext, False), exec_mask=PARTIAL
            )
            x = field(a, src0)
            if sext and src0 < 6:
                x = (
                    x.astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32)
                    if src0 < 4
                    else x.astype(np.uint16).view(np.int16).astype(np.int32).view(np.uint32)
                )
            value = x + field(b, src1)
            if dst < 6:
                width, shift = (8, 8 * dst) if dst < 4 else (16, 16 * (dst - 4))
                part = [int(v) & ((1 << width) - 1) for v in value]
                filled = [p - (1 << width) if unused == 1 and p >> (width - 1) else p for p in part]
                keep = 0x89ABCDEF & ~(((1 << width) - 1) << shift) if unused == 2 else 0
                value = np.array([(f << shift | keep) & 0xFFFFFFFF for f in filled], np.uint32)
            wanted = [int(v) if PARTIAL >> lane & 1 else 0x89ABCDEF for lane, v in enumerate(value)]
            assert machine.v[2].tolist() == wanted


def test_sdwa_float_modifiers_apply_after_selection(machine: Machine) -> None:
    machine.v[10] = 0x3C00_BC00  # halves 1 and -1
    machine.run("v_cvt_f32_f16", vgpr(2), [vgpr(10)], fmt="vop1", sdwa=(6, 0, 4, 6, False, False), abs_=1)
    assert machine.v[2, 0].view(np.float32) == 1
    machine.run("v_cvt_f32_f16", vgpr(2), [vgpr(10)], fmt="vop1", sdwa=(6, 0, 5, 6, False, False), neg=1)
    assert machine.v[2, 0].view(np.float32) == -1


@pytest.mark.parametrize("exec_mask", [0, 1, 1 << 63, PARTIAL, ALL_LANES])
def test_exec_decides_which_lanes_are_written(machine: Machine, exec_mask: int) -> None:
    random_rows(machine, 4, range(10, 12))
    machine.v[2] = 9
    machine.run("v_xor_b32", vgpr(2), [vgpr(10), vgpr(11)], exec_mask=exec_mask)
    wanted = [int(x ^ y) if exec_mask >> lane & 1 else 9 for lane, (x, y) in enumerate(zip(machine.v[10], machine.v[11], strict=True))]
    assert machine.v[2].tolist() == wanted


def test_scalars_and_constants_are_the_same_in_every_lane(machine: Machine) -> None:
    random_rows(machine, 5, range(10, 11))
    machine.s[7] = 0x12345678
    machine.run("v_add_u32", vgpr(2), [sgpr(7), vgpr(10)])
    assert np.array_equal(machine.v[2], machine.v[10] + np.uint32(0x12345678))
    machine.run("v_add_u32", vgpr(2), [constant(0xFFFFFFF0), vgpr(10)])
    assert np.array_equal(machine.v[2], machine.v[10] - np.uint32(16))
    machine.run("v_mov_b64", vgpr(2), [constant(0, 0x3FF00000)], fmt="vop1", enc="e32")
    assert machine.v[2, 5] == 0
    assert machine.v[3, 5] == 0x3FF00000
    machine.set_pair(20, 0x1122334455667788)
    machine.run("v_mov_b64", vgpr(2), [sgpr(20)], fmt="vop1", enc="e32")
    assert machine.v[2, 5] == 0x55667788
    assert machine.v[3, 5] == 0x11223344


@pytest.mark.parametrize("mask", range(16))
def test_relative_indexing_moves_the_operands_it_names(machine: Machine, mask: int) -> None:
    random_rows(machine, 6, range(40))
    before = machine.v.copy()
    machine.s[M0] = 5 | 0xFF00
    machine.run("v_add3_u32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], index_mask=mask)
    registers = [10 + n + (5 if mask >> n & 1 else 0) for n in range(3)]
    target = 2 + (5 if mask & 8 else 0)
    assert np.array_equal(machine.v[target], before[registers[0]] + before[registers[1]] + before[registers[2]])
    assert np.array_equal(machine.v[9 - target], before[9 - target])


def test_relative_indexing_beyond_the_registers_is_a_fault(machine: Machine) -> None:
    machine.s[M0] = 200
    assert machine.run("v_mov_b32", vgpr(2), [vgpr(100)], fmt="vop1", enc="e32", index_mask=1) != 0


def test_lanes_are_read_and_written(machine: Machine) -> None:
    random_rows(machine, 7, range(10, 11))
    row = machine.v[10].copy()
    machine.run("v_readfirstlane_b32", None, [vgpr(10)], fmt="vop1", enc="e32", sdst=sgpr(9), exec_mask=0xF0)
    assert machine.s[9] == row[4]
    machine.run("v_readfirstlane_b32", None, [vgpr(10)], fmt="vop1", enc="e32", sdst=sgpr(9), exec_mask=0)
    assert machine.s[9] == row[0]
    machine.run("v_readlane_b32", None, [vgpr(10), constant(37)], sdst=sgpr(9))
    assert machine.s[9] == row[37]
    machine.s[8] = 0xDEADBEEF
    machine.run("v_writelane_b32", vgpr(10), [sgpr(8), constant(64 + 3)], exec_mask=0)
    row[3] = 0xDEADBEEF
    assert np.array_equal(machine.v[10], row)


def test_registers_are_swapped_under_exec(machine: Machine) -> None:
    random_rows(machine, 8, range(10, 12))
    a, b = machine.v[10].copy(), machine.v[11].copy()
    machine.run("v_swap_b32", vgpr(10), [vgpr(11)], fmt="vop1", enc="e32", exec_mask=PARTIAL)
    active = np.array([PARTIAL >> lane & 1 for lane in range(64)], bool)
    assert np.array_equal(machine.v[10], np.where(active, b, a))
    assert np.array_equal(machine.v[11], np.where(active, a, b))


@pytest.mark.parametrize("width", [16, 32])
def test_permlane_swaps_exchange_odd_groups_with_even_ones(machine: Machine, width: int) -> None:
    random_rows(machine, 9, range(10, 12))
    a, b = machine.v[10].copy(), machine.v[11].copy()
    machine.run(f"v_permlane{width}_swap_b32", vgpr(10), [vgpr(11)], fmt="vop1", enc="e32", arch=950)
    x, y = a.reshape(-1, 2, width), b.reshape(-1, 2, width)
    assert np.array_equal(machine.v[10], np.stack([x[:, 0], y[:, 0]], 1).reshape(64))
    assert np.array_equal(machine.v[11], np.stack([x[:, 1], y[:, 1]], 1).reshape(64))


def test_accumulation_registers_are_moved(machine: Machine) -> None:
    random_rows(machine, 10, range(10, 11))
    machine.v[256 + 4] = 1
    machine.run("v_accvgpr_write_b32", agpr(4), [vgpr(10)], fmt="mai", exec_mask=PARTIAL)
    assert machine.v[260].tolist() == [int(x) if PARTIAL >> n & 1 else 1 for n, x in enumerate(machine.v[10])]
    machine.run("v_accvgpr_mov_b32", agpr(5), [agpr(4)], fmt="vop1", enc="e32")
    machine.run("v_accvgpr_read_b32", vgpr(2), [agpr(5)], fmt="mai")
    assert np.array_equal(machine.v[2], machine.v[260])
    machine.run("v_accvgpr_write_b32", agpr(4), [constant(0x3F800000)], fmt="mai")
    assert np.all(machine.v[260] == 0x3F800000)


Comparison = Callable[[Any, Any], Any]
INTEGER_TESTS: dict[str, Comparison] = {
    "f": lambda a, b: a != a,
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "ge": np.greater_equal,
    "t": lambda a, b: a == a,
}
FLOAT_TESTS: dict[str, Comparison] = {
    "f": lambda a, b: np.zeros(64, bool),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "lg": lambda a, b: (a < b) | (a > b),
    "ge": np.greater_equal,
    "o": lambda a, b: (a == a) & (b == b),
    "u": lambda a, b: (a != a) | (b != b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: a != b,
    "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, b: np.ones(64, bool),
}
TYPES = {
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}


@pytest.mark.parametrize("kind", TYPES)
def test_comparisons_write_a_mask_of_the_active_lanes(machine: Machine, kind: str) -> None:
    rng = np.random.default_rng(20)
    dtype = np.dtype(TYPES[kind])
    tests = FLOAT_TESTS if kind.startswith("f") else INTEGER_TESTS
    unsigned = np.dtype(f"u{dtype.itemsize}")
    rows = []
    for register in (10, 12):
        bits = rng.integers(0, 1 << 8 * dtype.itemsize, 64, dtype=np.uint64).astype(unsigned)
        if kind.startswith("f"):
            bits = rng.choice(np.array([0, -0.0, 1, -1, 2, np.inf, -np.inf, np.nan, 1e-7], dtype), 64).view(unsigned)
        wide = bits.astype(np.uint64)
        machine.v[register], machine.v[register + 1] = (
            (wide & np.uint64(0xFFFFFFFF)).astype(np.uint32),
            (wide >> np.uint64(32)).astype(np.uint32),
        )
        rows.append(bits.view(dtype))
    rows[1][::5] = rows[0][::5]
    wide = rows[1].view(unsigned).astype(np.uint64)
    machine.v[12], machine.v[13] = (wide & np.uint64(0xFFFFFFFF)).astype(np.uint32), (wide >> np.uint64(32)).astype(np.uint32)
    for name, function in tests.items():
        wanted = sum(int(bit) << lane for lane, bit in enumerate(function(*rows))) & PARTIAL
        machine.set_pair(20, ALL_LANES)
        machine.run(f"v_cmp_{name}_{kind}", None, [vgpr(10), vgpr(12)], fmt="vopc", sdst=sgpr(20), exec_mask=PARTIAL)
        assert machine.pair(20) == wanted, name
        assert machine.pair(EXEC.index) == PARTIAL
        machine.run(f"v_cmpx_{name}_{kind}", None, [vgpr(10), vgpr(12)], fmt="vopc", enc="e32", sdst=VCC, exec_mask=PARTIAL)
        assert machine.pair(VCC.index) == machine.pair(EXEC.index) == wanted, name


@pytest.mark.parametrize(("kind", "values"), [
    ("f16", [0x7D00, 0x7E00, 0xFC00, 0xBC00, 0x8001, 0x8000, 0x0000, 0x0001, 0x3C00, 0x7C00]),
    ("f32", [0x7FA00000, 0x7FC00000, 0xFF800000, 0xBF800000, 0x80000001, 0x80000000, 0, 1, 0x3F800000, 0x7F800000]),
    ("f64", [0x7FF4 << 48, 0x7FF8 << 48, 0xFFF0 << 48, 0xBFF0 << 48, 1 << 63 | 1, 1 << 63, 0, 1, 0x3FF0 << 48, 0x7FF0 << 48]),
])  # fmt: skip
def test_classes_of_floats(machine: Machine, kind: str, values: list[int]) -> None:
    for number, value in enumerate(values):
        machine.v[10], machine.v[11] = value & 0xFFFFFFFF, value >> 32
        machine.v[12] = np.array([1 << (lane % 10) for lane in range(64)], np.uint32)
        machine.run(f"v_cmp_class_{kind}", None, [vgpr(10), vgpr(12)], fmt="vopc", sdst=sgpr(20), denorm32=0, denorm16=0)
        assert machine.pair(20) == sum(1 << lane for lane in range(64) if lane % 10 == number)


def test_opcodes_of_these_formats_without_an_executor_are_known(machine: Machine) -> None:
    vector = [name for name in machine.names() if name.startswith("v_")]
    missing = {name for name in vector if not machine.has_executor(name)}
    assert missing == {"v_screen_partition_4se_b32"}
