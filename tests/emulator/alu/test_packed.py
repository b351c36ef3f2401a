"""Packed operations: halves picked and negated one by one, pairs of floats, mixed precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.alu.machine import Machine, constant, sgpr, vgpr
from tests.emulator.alu.test_integers import clamp, signed

Function = Callable[..., int]
PACKED: dict[str, tuple[int, Function]] = {
    "v_pk_mul_lo_u16": (2, lambda a, b: a * b),
    "v_pk_add_i16": (2, lambda a, b: a + b),
    "v_pk_sub_i16": (2, lambda a, b: a - b),
    "v_pk_add_u16": (2, lambda a, b: a + b),
    "v_pk_sub_u16": (2, lambda a, b: a - b),
    "v_pk_lshlrev_b16": (2, lambda a, b: b << (a & 15)),
    "v_pk_lshrrev_b16": (2, lambda a, b: b >> (a & 15)),
    "v_pk_ashrrev_i16": (2, lambda a, b: signed(b, 16) >> (a & 15)),
    "v_pk_max_i16": (2, lambda a, b: max(signed(a, 16), signed(b, 16))),
    "v_pk_min_i16": (2, lambda a, b: min(signed(a, 16), signed(b, 16))),
    "v_pk_max_u16": (2, max),
    "v_pk_min_u16": (2, min),
    "v_pk_mad_i16": (3, lambda a, b, c: a * b + c),
    "v_pk_mad_u16": (3, lambda a, b, c: a * b + c),
}


def half(x: int, high: int) -> int:
    return x >> 16 if high else x & 0xFFFF


@pytest.mark.parametrize(("op_sel", "op_sel_hi"), [(0, 7), (7, 0), (0, 0), (5, 2)])
@pytest.mark.parametrize("name", PACKED)
def test_packed_integers(machine: Machine, name: str, op_sel: int, op_sel_hi: int) -> None:
    count, function = PACKED[name]
    rows = np.random.default_rng(1).integers(0, 1 << 32, (count, 64), dtype=np.uint32)
    machine.v[10 : 10 + count] = rows
    machine.run(name, vgpr(2), [vgpr(10 + n) for n in range(count)], fmt="vop3p", op_sel=op_sel, op_sel_hi=op_sel_hi)
    wanted = []
    for lane in rows.T.tolist():
        low = function(*(half(x, op_sel >> n & 1) for n, x in enumerate(lane))) & 0xFFFF
        high = function(*(half(x, op_sel_hi >> n & 1) for n, x in enumerate(lane))) & 0xFFFF
        wanted.append(low | high << 16)
    assert machine.v[2].tolist() == wanted


@pytest.mark.parametrize(
    ("name", "sign", "low", "high"),
    [
        ("v_pk_add_i16", 1, -32768, 32767),
        ("v_pk_sub_i16", -1, -32768, 32767),
        ("v_pk_add_u16", 1, 0, 65535),
        ("v_pk_sub_u16", -1, 0, 65535),
    ],
)
def test_packed_integers_saturate(machine: Machine, name: str, sign: int, low: int, high: int) -> None:
    rows = np.random.default_rng(2).integers(0, 1 << 32, (2, 64), dtype=np.uint32)
    machine.v[10:12] = rows
    machine.run(name, vgpr(2), [vgpr(10), vgpr(11)], fmt="vop3p", clamp=True)

    def value(x: int, upper: int) -> int:
        return signed(half(x, upper), 16) if low else half(x, upper)

    for lane, (a, b) in enumerate(rows.T.tolist()):
        wanted = [clamp(value(a, upper) + sign * value(b, upper), low, high) & 0xFFFF for upper in (0, 1)]
        assert int(machine.v[2, lane]) == wanted[0] | wanted[1] << 16


@pytest.mark.parametrize(("neg", "neg_hi", "op_sel", "op_sel_hi"), [(0, 0, 0, 7), (1, 2, 0, 7), (7, 7, 3, 4), (0, 5, 7, 0)])
@pytest.mark.parametrize("name", ["v_pk_add_f16", "v_pk_mul_f16", "v_pk_fma_f16", "v_pk_min_f16", "v_pk_max_f16"])
def test_packed_halves(machine: Machine, name: str, neg: int, neg_hi: int, op_sel: int, op_sel_hi: int) -> None:
    rng = np.random.default_rng(3)
    values = (rng.standard_normal((3, 64, 2)) * 8).astype(np.float16)
    machine.v[10:13] = values.view(np.uint32)[..., 0]
    count = 3 if "fma" in name else 2
    machine.run(
        name, vgpr(2), [vgpr(10 + n) for n in range(count)], fmt="vop3p", neg=neg, neg_hi=neg_hi, op_sel=op_sel, op_sel_hi=op_sel_hi
    )
    got = machine.v[2].copy().view(np.float16).reshape(64, 2)
    functions: dict[str, Callable[..., np.ndarray[tuple[int, ...], np.dtype[np.float64]]]] = {
        "add": np.add,
        "mul": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
        "fma": lambda a, b, c: a * b + c,
    }
    for part, (select, negate) in enumerate(((op_sel, neg), (op_sel_hi, neg_hi))):
        sources = [values[n, :, select >> n & 1].astype(np.float64) * (-1 if negate >> n & 1 else 1) for n in range(count)]
        assert np.array_equal(got[:, part], functions[name.split("_")[2]](*sources).astype(np.float16))


@pytest.mark.parametrize(("neg", "neg_hi", "op_sel", "op_sel_hi"), [(0, 0, 0, 7), (1, 2, 0, 7), (3, 3, 2, 5), (0, 4, 7, 0)])
@pytest.mark.parametrize("name", ["v_pk_add_f32", "v_pk_mul_f32", "v_pk_fma_f32"])
def test_packed_floats(machine: Machine, name: str, neg: int, neg_hi: int, op_sel: int, op_sel_hi: int) -> None:
    rng = np.random.default_rng(4)
    values = rng.standard_normal((3, 2, 64)).astype(np.float32)
    for n in range(3):
        machine.v[10 + 2 * n : 12 + 2 * n] = values[n].view(np.uint32)
    count = 3 if "fma" in name else 2
    machine.run(
        name, vgpr(2), [vgpr(10 + 2 * n) for n in range(count)], fmt="vop3p", neg=neg, neg_hi=neg_hi, op_sel=op_sel, op_sel_hi=op_sel_hi
    )
    for part, (select, negate) in enumerate(((op_sel, neg), (op_sel_hi, neg_hi))):
        sources = [values[n, select >> n & 1].astype(np.longdouble) * (-1 if negate >> n & 1 else 1) for n in range(count)]
        wanted = sources[0] + sources[1] if "add" in name else sources[0] * sources[1] + (sources[2] if count == 3 else 0)
        assert np.array_equal(machine.v[2 + part].view(np.float32), wanted.astype(np.float32))


def test_packed_float_sources_may_overlap_the_destination(machine: Machine) -> None:
    values = np.random.default_rng(5).standard_normal((2, 64)).astype(np.float32)
    machine.v[10:12] = values.view(np.uint32)
    machine.run("v_pk_mul_f32", vgpr(10), [vgpr(10), vgpr(10)], fmt="vop3p", op_sel=0, op_sel_hi=1)
    assert np.array_equal(machine.v[10].view(np.float32), values[0] * values[0])
    assert np.array_equal(machine.v[11].view(np.float32), values[1] * values[0])


def test_packed_floats_take_scalar_pairs(machine: Machine) -> None:
    machine.s[20:22] = np.array([2, 4], np.float32).view(np.uint32)
    machine.v[10:12] = np.ones((2, 64), np.float32).view(np.uint32)
    machine.run("v_pk_mul_f32", vgpr(2), [vgpr(10), sgpr(20)], fmt="vop3p")
    assert machine.v[2:4, 0].copy().view(np.float32).tolist() == [2, 4]
    machine.run("v_pk_mul_f32", vgpr(2), [vgpr(10), constant(0x40000000)], fmt="vop3p", op_sel_hi=1)
    assert machine.v[2:4, 0].copy().view(np.float32).tolist() == [2, 2]


def test_packed_moves_pick_words(machine: Machine) -> None:
    machine.v[10:14] = np.arange(4, dtype=np.uint32)[:, None]
    for op_sel in range(4):
        machine.run("v_pk_mov_b32", vgpr(2), [vgpr(10), vgpr(12)], fmt="vop3p", op_sel=op_sel)
        assert machine.v[2:4, 0].tolist() == [op_sel & 1, 2 + (op_sel >> 1)]


@pytest.mark.parametrize("name", ["v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"])
@pytest.mark.parametrize("op_sel", range(8))
@pytest.mark.parametrize("halves", range(8))
def test_mixed_precision_multiply_add(machine: Machine, name: str, op_sel: int, halves: int) -> None:
    rng = np.random.default_rng(6)
    pairs = rng.standard_normal((3, 64, 2)).astype(np.float16)
    singles = rng.standard_normal((3, 64)).astype(np.float32)
    sources = []
    for n in range(3):
        if halves >> n & 1:
            machine.v[10 + n] = pairs[n].view(np.uint32)[:, 0]
            value = pairs[n, :, op_sel >> n & 1].astype(np.longdouble)
        else:
            machine.v[10 + n] = singles[n].view(np.uint32)
            value = singles[n].astype(np.longdouble)
        sources.append(-np.abs(value) if n == 1 else value)
    machine.v[2] = 0x1111_2222
    machine.run(name, vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], fmt="vop3p", op_sel=op_sel, op_sel_hi=halves, neg=2, abs_=2)
    wanted = (sources[0] * sources[1] + sources[2]).astype(np.float32)
    if name == "v_fma_mix_f32":
        assert np.array_equal(machine.v[2].view(np.float32), wanted)
    else:
        bits = wanted.astype(np.float16).view(np.uint16).astype(np.uint32)
        assert np.array_equal(machine.v[2], bits | 0x11110000 if "lo" in name else bits << np.uint32(16) | np.uint32(0x2222))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_float_dot_products_add_in_order(machine: Machine, kind: str) -> None:
    rng = np.random.default_rng(7)
    singles = rng.standard_normal((2, 64, 2)).astype(np.float32)
    c = rng.standard_normal(64).astype(np.float32)
    if kind == "f16":
        halves = singles.astype(np.float16)
        words, values = halves.view(np.uint32)[..., 0], halves.astype(np.float32)
    else:
        bits = singles.view(np.uint32) & np.uint32(0xFFFF0000)
        words, values = bits[..., 0] >> np.uint32(16) | bits[..., 1], bits.view(np.float32)
    machine.v[10:12], machine.v[12] = words, c.view(np.uint32)
    wanted = c + values[0, :, 0] * values[1, :, 0] + values[0, :, 1] * values[1, :, 1]
    machine.run(f"v_dot2_f32_{kind}", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], fmt="vop3p", arch=950)
    assert np.array_equal(machine.v[2].view(np.float32), wanted)
    machine.v[2] = c.view(np.uint32)
    machine.run(f"v_dot2c_f32_{kind}", vgpr(2), [vgpr(10), vgpr(11)], fmt="vop2", enc="e32", arch=950)
    assert np.array_equal(machine.v[2].view(np.float32), wanted)
