"""Float, half and double arithmetic against exact rational arithmetic rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from tests.emulator.alu.machine import UNSUPPORTED, Machine, vgpr
from tests.emulator.alu.numbers import DEFAULT_NAN, F16, F32, F64, QUIET, Format, Number, flush, samples

Exact = Callable[..., Number]
INFINITIES = {"inf": 1, "-inf": -1}


def sign_of(fmt: Format, bits: int) -> int:
    return -1 if bits & fmt.sign else 1


def multiply(fmt: Format, a: int, b: int) -> tuple[Number, int]:
    """Exact product and its sign."""
    x, y, sign = fmt.value(a), fmt.value(b), sign_of(fmt, a) * sign_of(fmt, b)
    if isinstance(x, str) or isinstance(y, str):
        if x == 0 or y == 0:
            return "nan", 1
        return ("inf" if sign > 0 else "-inf"), sign
    return x * y, sign


def add(x: tuple[Number, int], y: tuple[Number, int]) -> tuple[Number, int]:
    """Exact sum; the sign of a zero is negative only if both are."""
    a, b = x[0], y[0]
    if isinstance(a, str) or isinstance(b, str):
        if isinstance(a, str) and isinstance(b, str) and a != b:
            return "nan", 1
        special = a if isinstance(a, str) else b
        return special, INFINITIES.get(str(special), 1)
    total = a + b
    return total, (-1 if total < 0 or (total == 0 and x[1] < 0 and y[1] < 0) else 1)


def expected(fmt: Format, inputs: Sequence[int], compute: Callable[[list[int]], tuple[Number, int]], keep_in: bool, keep_out: bool) -> int:
    """The bits of the result: NaN operands first, then the exact value, rounded."""
    operands = [flush(fmt, bits, keep_in) for bits in inputs]
    for bits in operands:
        if fmt.is_nan(bits):
            return bits | QUIET[fmt.width]
    number, sign = compute(operands)
    if isinstance(number, str):
        return DEFAULT_NAN[fmt.width] if number == "nan" else fmt.infinity | (fmt.sign if number == "-inf" else 0)
    return flush(fmt, fmt.round(number, sign < 0), keep_out)


def pair(fmt: Format, bits: int) -> tuple[Number, int]:
    return fmt.value(bits), sign_of(fmt, bits)


def negated(fmt: Format, bits: int) -> int:
    return bits ^ fmt.sign


OPERATIONS: dict[str, tuple[int, Callable[[Format, list[int]], tuple[Number, int]]]] = {
    "add": (2, lambda f, x: add(pair(f, x[0]), pair(f, x[1]))),
    "sub": (2, lambda f, x: add(pair(f, x[0]), pair(f, negated(f, x[1])))),
    "subrev": (2, lambda f, x: add(pair(f, x[1]), pair(f, negated(f, x[0])))),
    "mul": (2, lambda f, x: multiply(f, x[0], x[1])),
    "fma": (3, lambda f, x: add(multiply(f, x[0], x[1]), pair(f, x[2]))),
}
CASES = [
    *((f"v_{name}_f32", F32, name) for name in OPERATIONS),
    *((f"v_{name}_f16", F16, name) for name in OPERATIONS),
    ("v_add_f64", F64, "add"),
    ("v_mul_f64", F64, "mul"),
    ("v_fma_f64", F64, "fma"),
]


def load(machine: Machine, register: int, fmt: Format, values: Sequence[int]) -> None:
    machine.v[register] = np.array([value & 0xFFFFFFFF for value in values], np.uint32)
    if fmt.width == 64:
        machine.v[register + 1] = np.array([value >> 32 for value in values], np.uint32)


def read(machine: Machine, register: int, fmt: Format) -> list[int]:
    low = [int(x) for x in machine.v[register]]
    if fmt.width == 64:
        return [x | int(y) << 32 for x, y in zip(low, machine.v[register + 1], strict=True)]
    return [x & (2 * fmt.sign - 1) for x in low]


@pytest.mark.parametrize("denormals", [0, 1, 2, 3])
@pytest.mark.parametrize(("name", "fmt", "operation"), CASES)
def test_arithmetic_is_exact_and_rounded_once(machine: Machine, name: str, fmt: Format, operation: str, denormals: int) -> None:
    rng = np.random.default_rng(len(name) * 10 + denormals)
    count, compute = OPERATIONS[operation]
    for _ in range(6):
        inputs = [samples(fmt, rng, 64) for _ in range(count)]
        for n, values in enumerate(inputs):
            load(machine, 10 + 2 * n, fmt, values)
        assert machine.run(name, vgpr(2), [vgpr(10 + 2 * n) for n in range(count)], denorm32=denormals, denorm16=denormals) == 0
        wanted = [
            expected(fmt, lane, lambda x: compute(fmt, x), denormals & 1 != 0, denormals & 2 != 0) for lane in zip(*inputs, strict=True)
        ]
        assert read(machine, 2, fmt) == wanted


def test_single_fma_is_fused_where_products_cancel(machine: Machine) -> None:
    a = F32.round(Fraction(1) + Fraction(1, 1 << 12))
    product = Fraction(1) + Fraction(1, 1 << 11)  # the exact square without its last term
    machine.v[10] = a
    machine.v[12] = F32.round(-product)
    machine.run("v_fma_f32", vgpr(2), [vgpr(10), vgpr(10), vgpr(12)])
    assert F32.value(int(machine.v[2, 0])) == Fraction(1, 1 << 24)


@pytest.mark.parametrize(("name", "fmt"), [("v_fmac_f32", F32), ("v_fmac_f64", F64)])
def test_fmac_accumulates_into_its_destination(machine: Machine, name: str, fmt: Format) -> None:
    rng = np.random.default_rng(5)
    inputs = [samples(fmt, rng, 64) for _ in range(3)]
    load(machine, 10, fmt, inputs[0])
    load(machine, 12, fmt, inputs[1])
    load(machine, 2, fmt, inputs[2])
    machine.run(name, vgpr(2), [vgpr(10), vgpr(12)], fmt="vop2", enc="e32")
    compute = OPERATIONS["fma"][1]
    assert read(machine, 2, fmt) == [expected(fmt, lane, lambda x: compute(fmt, x), True, True) for lane in zip(*inputs, strict=True)]


@pytest.mark.parametrize("ieee", [False, True])
@pytest.mark.parametrize(
    ("name", "fmt"), [(f"v_{which}_{kind}", fmt) for which in ("min", "max") for kind, fmt in (("f16", F16), ("f32", F32), ("f64", F64))]
)
def test_min_and_max_order_zeros_and_prefer_numbers(machine: Machine, name: str, fmt: Format, ieee: bool) -> None:
    rng = np.random.default_rng(7)

    def key(bits: int) -> tuple[Fraction, int]:
        value = fmt.value(bits)
        number = Fraction(2) ** 3000 * INFINITIES[value] if isinstance(value, str) else value
        return number, sign_of(fmt, bits)

    def choose(a: int, b: int) -> int:
        quiet = QUIET[fmt.width]
        if ieee and fmt.is_nan(a) and not a & quiet:
            return a | quiet
        if ieee and fmt.is_nan(b) and not b & quiet:
            return b | quiet
        if fmt.is_nan(a):
            return b
        if fmt.is_nan(b):
            return a
        return (max if "max" in name else min)([a, b], key=key)

    for _ in range(6):
        a, b = samples(fmt, rng, 64), samples(fmt, rng, 64)
        load(machine, 10, fmt, a)
        load(machine, 12, fmt, b)
        machine.run(name, vgpr(2), [vgpr(10), vgpr(12)], ieee=ieee)
        got = read(machine, 2, fmt)
        wanted = [choose(x, y) for x, y in zip(a, b, strict=True)]
        # A half that is a signalling NaN is quieted on its way through float.
        if fmt is F16:
            got, wanted = ([bits | 0x200 if fmt.is_nan(bits) else bits for bits in row] for row in (got, wanted))
        assert got == wanted


def test_max3_min3_and_med3_of_numbers(machine: Machine) -> None:
    rng = np.random.default_rng(8)
    values = rng.standard_normal((3, 64)).astype(np.float32)
    machine.v[10:13] = values.view(np.uint32)
    for name, reduce in (("v_max3_f32", np.max), ("v_min3_f32", np.min), ("v_med3_f32", np.median)):
        machine.run(name, vgpr(2), [vgpr(10), vgpr(11), vgpr(12)])
        assert np.array_equal(machine.v[2].view(np.float32), reduce(values, axis=0))


def test_med3_with_a_nan_is_the_minimum(machine: Machine) -> None:
    machine.v[10], machine.v[11], machine.v[12] = 0x7FC00000, np.float32(2).view(np.uint32), np.float32(1).view(np.uint32)
    machine.run("v_med3_f32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)])
    assert machine.v[2, 0].view(np.float32) == 1


@pytest.mark.parametrize("clamp", [False, True])
@pytest.mark.parametrize("omod", [0, 1, 2, 3])
def test_output_modifiers_scale_and_clamp_floats(machine: Machine, omod: int, clamp: bool) -> None:
    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((2, 64)).astype(np.float32)
    machine.v[10], machine.v[11] = a.view(np.uint32), b.view(np.uint32)
    machine.v[10, 0] = 0x7FC00000
    machine.run("v_mul_f32", vgpr(2), [vgpr(10), vgpr(11)], denorm32=0, omod=omod, clamp=clamp)
    wanted = a * b * np.float32({0: 1, 1: 2, 2: 4, 3: 0.5}[omod])
    got = machine.v[2].view(np.float32)
    assert np.array_equal(got[1:], np.clip(wanted, 0, 1)[1:] if clamp else wanted[1:])
    assert got[0] == 0 if clamp else np.isnan(got[0])


def test_omod_is_ignored_where_denormals_are_kept(machine: Machine) -> None:
    machine.v[10] = np.float32(3).view(np.uint32)
    machine.run("v_mul_f32", vgpr(2), [vgpr(10), vgpr(10)], denorm32=3, omod=1)
    assert machine.v[2, 0].view(np.float32) == 9


@pytest.mark.parametrize("neg", range(8))
@pytest.mark.parametrize("absolute", [0, 3, 5])
def test_source_modifiers_take_the_magnitude_then_negate(machine: Machine, neg: int, absolute: int) -> None:
    rng = np.random.default_rng(10)
    values = rng.standard_normal((3, 64)).astype(np.float32)
    machine.v[10:13] = values.view(np.uint32)
    machine.run("v_fma_f32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], neg=neg, abs_=absolute)
    sources = [np.abs(x) if absolute >> n & 1 else x for n, x in enumerate(values)]
    a, b, c = (-x if neg >> n & 1 else x for n, x in enumerate(sources))
    assert np.array_equal(machine.v[2].view(np.float32), (a.astype(np.longdouble) * b + c).astype(np.float64).astype(np.float32))


@pytest.mark.parametrize("name", ["v_add_f32", "v_add_f16", "v_add_f64", "v_pk_add_f32", "v_pk_add_f16"])
def test_rounding_modes_other_than_to_nearest_are_faults(machine: Machine, name: str) -> None:
    fmt = "vop3p" if "_pk_" in name else "vop3"
    assert machine.run(name, vgpr(2), [vgpr(10), vgpr(12)], fmt=fmt) == 0
    assert machine.run(name, vgpr(2), [vgpr(10), vgpr(12)], fmt=fmt, rounding=3) == UNSUPPORTED
