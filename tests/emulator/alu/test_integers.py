"""Integer and bit operations against Python integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.alu.machine import ALL_LANES, Machine, sgpr, vgpr

M32, M64 = 0xFFFFFFFF, ALL_LANES
EDGES = [
    0,
    1,
    2,
    31,
    32,
    33,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFF,
    0x800000,
    0xFFFFFF,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    M32,
]


def words(rng: np.random.Generator) -> list[int]:
    """Edges, small numbers and random bits."""
    random = rng.integers(0, 1 << 32, 64)
    return [EDGES[int(x) % len(EDGES)] if x % 3 == 0 else int(x) % 70 if x % 3 == 1 else int(x) for x in random]


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(high, x))


def bytes_of(x: int) -> list[int]:
    return [x >> s & 0xFF for s in (0, 8, 16, 24)]


def sad(a: int, b: int, masked: bool = False) -> int:
    return sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b), strict=True) if not (masked and y == 0))


def leading(x: int) -> int:
    return 32 - x.bit_length() if x else M32


def perm(a: int, b: int, select: int) -> int:
    data = a << 32 | b

    def pick(s: int) -> int:
        if s >= 13:
            return 0xFF
        if s == 12:
            return 0
        return 0xFF * (data >> (16 * (s - 8) + 15) & 1) if s >= 8 else data >> (8 * s) & 0xFF

    return sum(pick(s) << (8 * n) for n, s in enumerate(bytes_of(select)))


def bfe_signed(a: int, b: int, c: int) -> int:
    width = c & 31
    return signed((signed(a) >> (b & 31)) & ((1 << width) - 1), width) if width else 0


def middle(*x: int) -> int:
    return sorted(x)[1]


def lerp(a: int, b: int, c: int) -> int:
    return sum(((x + y + (z & 1)) >> 1) << (8 * n) for n, (x, y, z) in enumerate(zip(bytes_of(a), bytes_of(b), bytes_of(c), strict=True)))


def pack_saturated(a: int, b: int, low: int, high: int) -> int:
    return (clamp(a, low, high) & 0xFFFF) | (clamp(b, low, high) & 0xFFFF) << 16


Function = Callable[..., int]
WORDS: dict[str, tuple[int, Function]] = {
    "v_mov_b32": (1, lambda a: a),
    "v_not_b32": (1, lambda a: ~a),
    "v_bfrev_b32": (1, lambda a: int(f"{a:032b}"[::-1], 2)),
    "v_ffbh_u32": (1, leading),
    "v_ffbl_b32": (1, lambda a: (a & -a).bit_length() - 1),
    "v_ffbh_i32": (1, lambda a: leading(a ^ M32 if a >> 31 else a)),
    "v_prng_b32": (1, lambda a: a << 1 ^ (197 if a >> 31 else 0)),
    "v_and_b32": (2, lambda a, b: a & b),
    "v_or_b32": (2, lambda a, b: a | b),
    "v_xor_b32": (2, lambda a, b: a ^ b),
    "v_xnor_b32": (2, lambda a, b: ~(a ^ b)),
    "v_lshlrev_b32": (2, lambda a, b: b << (a & 31)),
    "v_lshrrev_b32": (2, lambda a, b: b >> (a & 31)),
    "v_ashrrev_i32": (2, lambda a, b: signed(b) >> (a & 31)),
    "v_min_i32": (2, lambda a, b: min(signed(a), signed(b))),
    "v_max_i32": (2, lambda a, b: max(signed(a), signed(b))),
    "v_min_u32": (2, min),
    "v_max_u32": (2, max),
    "v_bcnt_u32_b32": (2, lambda a, b: a.bit_count() + b),
    "v_bfm_b32": (2, lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    "v_add_u32": (2, lambda a, b: a + b),
    "v_sub_u32": (2, lambda a, b: a - b),
    "v_subrev_u32": (2, lambda a, b: b - a),
    "v_add_i32": (2, lambda a, b: a + b),
    "v_sub_i32": (2, lambda a, b: a - b),
    "v_mul_i32_i24": (2, lambda a, b: signed(a, 24) * signed(b, 24)),
    "v_mul_u32_u24": (2, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "v_mul_hi_i32_i24": (2, lambda a, b: signed(a, 24) * signed(b, 24) >> 32),
    "v_mul_hi_u32_u24": (2, lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32),
    "v_mul_lo_u32": (2, lambda a, b: a * b),
    "v_mul_hi_u32": (2, lambda a, b: a * b >> 32),
    "v_mul_hi_i32": (2, lambda a, b: signed(a) * signed(b) >> 32),
    "v_cvt_pk_u16_u32": (2, lambda a, b: pack_saturated(a, b, 0, 0xFFFF)),
    "v_cvt_pk_i16_i32": (2, lambda a, b: pack_saturated(signed(a), signed(b), -0x8000, 0x7FFF)),
    "v_mad_i32_i24": (3, lambda a, b, c: signed(a, 24) * signed(b, 24) + c),
    "v_mad_u32_u24": (3, lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    "v_mad_u32_u16": (3, lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c),
    "v_mad_i32_i16": (3, lambda a, b, c: signed(a, 16) * signed(b, 16) + c),
    "v_add3_u32": (3, lambda a, b, c: a + b + c),
    "v_xad_u32": (3, lambda a, b, c: (a ^ b) + c),
    "v_lshl_add_u32": (3, lambda a, b, c: (a << (b & 31)) + c),
    "v_add_lshl_u32": (3, lambda a, b, c: (a + b) << (c & 31)),
    "v_lshl_or_b32": (3, lambda a, b, c: (a << (b & 31)) | c),
    "v_and_or_b32": (3, lambda a, b, c: a & b | c),
    "v_or3_b32": (3, lambda a, b, c: a | b | c),
    "v_bfi_b32": (3, lambda a, b, c: a & b | ~a & c),
    "v_bfe_u32": (3, lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1)),
    "v_bfe_i32": (3, bfe_signed),
    "v_alignbit_b32": (3, lambda a, b, c: (a << 32 | b) >> (c & 31)),
    "v_alignbyte_b32": (3, lambda a, b, c: (a << 32 | b) >> (8 * (c & 3))),
    "v_perm_b32": (3, perm),
    "v_min3_i32": (3, lambda *x: min(map(signed, x))),
    "v_max3_i32": (3, lambda *x: max(map(signed, x))),
    "v_min3_u32": (3, min),
    "v_max3_u32": (3, max),
    "v_med3_i32": (3, lambda *x: middle(*map(signed, x))),
    "v_med3_u32": (3, middle),
    "v_sad_u8": (3, lambda a, b, c: sad(a, b) + c),
    "v_msad_u8": (3, lambda a, b, c: sad(a, b, True) + c),
    "v_sad_hi_u8": (3, lambda a, b, c: (sad(a, b) << 16) + c),
    "v_sad_u16": (3, lambda a, b, c: abs((a & 0xFFFF) - (b & 0xFFFF)) + abs((a >> 16) - (b >> 16)) + c),
    "v_sad_u32": (3, lambda a, b, c: abs(a - b) + c),
    "v_lerp_u8": (3, lerp),
}
HALVES: dict[str, tuple[int, Function, bool]] = {
    "v_add_u16": (2, lambda a, b: a + b, False),
    "v_sub_u16": (2, lambda a, b: a - b, False),
    "v_subrev_u16": (2, lambda a, b: b - a, False),
    "v_mul_lo_u16": (2, lambda a, b: a * b, False),
    "v_lshlrev_b16": (2, lambda a, b: b << (a & 15), False),
    "v_lshrrev_b16": (2, lambda a, b: b >> (a & 15), False),
    "v_ashrrev_i16": (2, lambda a, b: signed(b, 16) >> (a & 15), False),
    "v_max_u16": (2, max, False),
    "v_min_u16": (2, min, False),
    "v_max_i16": (2, lambda a, b: max(signed(a, 16), signed(b, 16)), False),
    "v_min_i16": (2, lambda a, b: min(signed(a, 16), signed(b, 16)), False),
    "v_mad_legacy_u16": (3, lambda a, b, c: a * b + c, False),
    "v_mad_legacy_i16": (3, lambda a, b, c: a * b + c, False),
    "v_mad_u16": (3, lambda a, b, c: a * b + c, True),
    "v_mad_i16": (3, lambda a, b, c: a * b + c, True),
    "v_add_i16": (2, lambda a, b: a + b, True),
    "v_sub_i16": (2, lambda a, b: a - b, True),
    "v_min3_u16": (3, min, True),
    "v_max3_u16": (3, max, True),
    "v_min3_i16": (3, lambda *x: min(signed(y, 16) for y in x), True),
    "v_max3_i16": (3, lambda *x: max(signed(y, 16) for y in x), True),
    "v_med3_u16": (3, middle, True),
    "v_med3_i16": (3, lambda *x: middle(*(signed(y, 16) for y in x)), True),
}
SATURATING: dict[str, tuple[int, Function, int, int]] = {
    "v_add_u32": (2, lambda a, b: a + b, 0, M32),
    "v_sub_u32": (2, lambda a, b: a - b, 0, M32),
    "v_add_i32": (2, lambda a, b: signed(a) + signed(b), -(1 << 31), (1 << 31) - 1),
    "v_sub_i32": (2, lambda a, b: signed(a) - signed(b), -(1 << 31), (1 << 31) - 1),
    "v_mad_u32_u24": (3, lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c, 0, M32),
    "v_mad_i32_i24": (3, lambda a, b, c: signed(a, 24) * signed(b, 24) + signed(c), -(1 << 31), (1 << 31) - 1),
}


def fill(machine: Machine, rng: np.random.Generator, count: int) -> list[list[int]]:
    inputs = [words(rng) for _ in range(count)]
    for n, values in enumerate(inputs):
        machine.v[10 + n] = np.array(values, np.uint32)
    return inputs


@pytest.mark.parametrize("name", WORDS)
def test_word_operations(machine: Machine, name: str) -> None:
    count, function = WORDS[name]
    rng = np.random.default_rng(len(name))
    for _ in range(6):
        inputs = fill(machine, rng, count)
        assert machine.run(name, vgpr(2), [vgpr(10 + n) for n in range(count)]) == 0
        assert machine.v[2].tolist() == [function(*lane) & M32 for lane in zip(*inputs, strict=True)]


@pytest.mark.parametrize("name", SATURATING)
def test_clamp_saturates_integers(machine: Machine, name: str) -> None:
    count, function, low, high = SATURATING[name]
    inputs = fill(machine, np.random.default_rng(3), count)
    machine.run(name, vgpr(2), [vgpr(10 + n) for n in range(count)], clamp=True)
    assert machine.v[2].tolist() == [clamp(function(*lane), low, high) & M32 for lane in zip(*inputs, strict=True)]


@pytest.mark.parametrize("op_sel", range(16))
@pytest.mark.parametrize("name", HALVES)
def test_half_operations_pick_halves_and_keep_or_clear_the_other(machine: Machine, name: str, op_sel: int) -> None:
    count, function, keeps = HALVES[name]
    inputs = fill(machine, np.random.default_rng(op_sel), count)
    machine.v[2] = 0xABCD1234
    machine.run(name, vgpr(2), [vgpr(10 + n) for n in range(count)], op_sel=op_sel)
    wanted = []
    for lane in zip(*inputs, strict=True):
        value = function(*(x >> 16 if op_sel >> n & 1 else x & 0xFFFF for n, x in enumerate(lane))) & 0xFFFF
        wanted.append(value << 16 | 0x1234 if op_sel & 8 else value | (0xABCD0000 if keeps else 0))
    assert machine.v[2].tolist() == wanted


def test_wide_shifts_and_sums(machine: Machine) -> None:
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(0, 1 << 64, 64, dtype=np.uint64) for _ in range(3))
    for n, x in enumerate((a, b, c)):
        machine.v[10 + 2 * n], machine.v[11 + 2 * n] = (x & np.uint64(M32)).astype(np.uint32), (x >> np.uint64(32)).astype(np.uint32)
    cases: dict[str, tuple[list[int], Function]] = {
        "v_lshlrev_b64": ([10, 12], lambda x, y, z: y << (x & 63)),
        "v_lshrrev_b64": ([10, 12], lambda x, y, z: y >> (x & 63)),
        "v_ashrrev_i64": ([10, 12], lambda x, y, z: signed(y, 64) >> (x & 63)),
        "v_lshl_add_u64": ([10, 12, 14], lambda x, y, z: (x << (y & 7)) + z),
        "v_mov_b64": ([12], lambda x, y, z: y),
    }
    for name, (sources, function) in cases.items():
        machine.run(name, vgpr(2), [vgpr(n) for n in sources])
        got = [int(x) | int(y) << 32 for x, y in zip(machine.v[2], machine.v[3], strict=True)]
        assert got == [function(*map(int, lane)) & M64 for lane in zip(a, b, c, strict=True)], name


@pytest.mark.parametrize("is_signed", [False, True])
def test_wide_multiply_add_carries_out(machine: Machine, is_signed: bool) -> None:
    rng = np.random.default_rng(6)
    a, b, low, high = fill(machine, rng, 4)
    machine.set_pair(20, 0)
    machine.run("v_mad_i64_i32" if is_signed else "v_mad_u64_u32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], sdst=sgpr(20))
    for lane in range(64):
        addend = low[lane] | high[lane] << 32
        total = signed(a[lane]) * signed(b[lane]) + signed(addend, 64) if is_signed else a[lane] * b[lane] + addend
        assert int(machine.v[2, lane]) | int(machine.v[3, lane]) << 32 == total & M64
        assert machine.pair(20) >> lane & 1 == total >> 64 & 1


@pytest.mark.parametrize("name", ["v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32", "v_addc_co_u32", "v_subb_co_u32", "v_subbrev_co_u32"])
def test_carries_chain_through_lane_masks(machine: Machine, name: str) -> None:
    rng = np.random.default_rng(11)
    a, b = fill(machine, rng, 2)
    carry = int(rng.integers(0, 1 << 63)) * 2 + 1
    exec_mask = int(rng.integers(0, 1 << 63)) * 2
    machine.set_pair(30, carry)
    machine.v[2] = 77
    with_carry = "addc" in name or "subb" in name
    machine.run(name, vgpr(2), [vgpr(10), vgpr(11)] + ([sgpr(30)] if with_carry else []), sdst=sgpr(20), exec_mask=exec_mask)
    for lane in range(64):
        bit = carry >> lane & 1 if with_carry else 0
        x, y = (b[lane], a[lane]) if "rev" in name else (a[lane], b[lane])
        total = x + y + bit if "add" in name else x - y - bit
        active = exec_mask >> lane & 1
        assert int(machine.v[2, lane]) == (total & M32 if active else 77)
        assert machine.pair(20) >> lane & 1 == (total >> 32 & 1 if active else 0)


def test_selection_by_a_lane_mask(machine: Machine) -> None:
    rng = np.random.default_rng(12)
    a, b = fill(machine, rng, 2)
    mask = int(rng.integers(0, 1 << 63))
    machine.set_pair(106, mask)
    machine.run("v_cndmask_b32", vgpr(2), [vgpr(10), vgpr(11), sgpr(106)], fmt="vop2", enc="e32")
    assert machine.v[2].tolist() == [y if mask >> lane & 1 else x for lane, (x, y) in enumerate(zip(a, b, strict=True))]
    machine.run("v_cndmask_b32", vgpr(2), [vgpr(10), vgpr(11), sgpr(106)], neg=1)
    assert machine.v[2].tolist() == [y if mask >> lane & 1 else x ^ 1 << 31 for lane, (x, y) in enumerate(zip(a, b, strict=True))]


def test_masked_counts_number_the_lanes(machine: Machine) -> None:
    a, b = fill(machine, np.random.default_rng(13), 2)
    for name, first in (("v_mbcnt_lo_u32_b32", 0), ("v_mbcnt_hi_u32_b32", 32)):
        machine.run(name, vgpr(2), [vgpr(10), vgpr(11)])
        assert machine.v[2].tolist() == [((a[n] & ((1 << n) - 1 >> first)).bit_count() + b[n]) & M32 for n in range(64)]


@pytest.mark.parametrize("table", [0, 1, 0x96, 0xE8, 0xCA, 0xFF])
def test_bitop3_is_its_truth_table(machine: Machine, table: int) -> None:
    inputs = fill(machine, np.random.default_rng(14), 3)

    def value(a: int, b: int, c: int) -> int:
        return sum((table >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1)) & 1) << n for n in range(32))

    machine.run("v_bitop3_b32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], imm=table, arch=950)
    assert machine.v[2].tolist() == [value(*lane) for lane in zip(*inputs, strict=True)]
    machine.v[2] = 0x55550000
    machine.run("v_bitop3_b16", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], imm=table, op_sel=2, arch=950)
    assert machine.v[2].tolist() == [0x55550000 | value(a, b >> 16, c) & 0xFFFF for a, b, c in zip(*inputs, strict=True)]


@pytest.mark.parametrize(("name", "masked"), [("v_qsad_pk_u16_u8", False), ("v_mqsad_pk_u16_u8", True)])
def test_four_sums_of_differences(machine: Machine, name: str, masked: bool) -> None:
    low, high, b, c0, c1 = fill(machine, np.random.default_rng(15), 5)
    machine.run(name, vgpr(2), [vgpr(10), vgpr(12), vgpr(13)])
    for lane in range(64):
        a, sums = low[lane] | high[lane] << 32, c0[lane] | c1[lane] << 32
        wanted = sum((sad(a >> (8 * n) & M32, b[lane], masked) + (sums >> (16 * n) & 0xFFFF) & 0xFFFF) << (16 * n) for n in range(4))
        assert int(machine.v[2, lane]) | int(machine.v[3, lane]) << 32 == wanted


def test_wide_masked_sums_of_differences(machine: Machine) -> None:
    low, high, b, *sums = fill(machine, np.random.default_rng(16), 7)
    machine.run("v_mqsad_u32_u8", vgpr(2), [vgpr(10), vgpr(12), vgpr(13)])
    for lane in range(64):
        a = low[lane] | high[lane] << 32
        assert machine.v[2:6, lane].tolist() == [(sad(a >> (8 * n) & M32, b[lane], True) + sums[n][lane]) & M32 for n in range(4)]


DOTS = [
    (16, "v_dot2_i32_i16", True),
    (16, "v_dot2_u32_u16", False),
    (8, "v_dot4_i32_i8", True),
    (8, "v_dot4_u32_u8", False),
    (4, "v_dot8_i32_i4", True),
    (4, "v_dot8_u32_u4", False),
]


@pytest.mark.parametrize(("bits", "name", "is_signed"), DOTS)
def test_integer_dot_products(machine: Machine, bits: int, name: str, is_signed: bool) -> None:
    inputs = fill(machine, np.random.default_rng(17), 3)

    def total(a: int, b: int, c: int) -> int:
        mask = (1 << bits) - 1
        parts = [(a >> n & mask, b >> n & mask) for n in range(0, 32, bits)]
        return sum(signed(x, bits) * signed(y, bits) for x, y in parts) + signed(c) if is_signed else sum(x * y for x, y in parts) + c

    machine.run(name, vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], fmt="vop3p")
    assert machine.v[2].tolist() == [total(*lane) & M32 for lane in zip(*inputs, strict=True)]
    machine.run(name, vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], fmt="vop3p", clamp=True)
    low, high = (-(1 << 31), (1 << 31) - 1) if is_signed else (0, M32)
    assert machine.v[2].tolist() == [clamp(total(*lane), low, high) & M32 for lane in zip(*inputs, strict=True)]


def test_saturating_byte_packs(machine: Machine) -> None:
    a, b, c = fill(machine, np.random.default_rng(18), 3)
    machine.v[2] = 0x99990000
    for name, low, high in (("v_ashr_pk_i8_i32", -128, 127), ("v_ashr_pk_u8_i32", 0, 255)):
        machine.run(name, vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], arch=950)
        for lane in range(64):
            shift = c[lane] & 31
            packed = clamp(signed(a[lane]) >> shift, low, high) & 0xFF | (clamp(signed(b[lane]) >> shift, low, high) & 0xFF) << 8
            assert int(machine.v[2, lane]) == 0x99990000 | packed
    machine.run("v_sat_pk_u8_i16", vgpr(2), [vgpr(10)])
    assert machine.v[2].tolist() == [clamp(signed(x, 16), 0, 255) | clamp(signed(x >> 16, 16), 0, 255) << 8 for x in a]
