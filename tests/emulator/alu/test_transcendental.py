"""Approximations within one unit in the last place, rounding to integers, exponents, division, and one result on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.alu.machine import Machine, Operand, agpr, constant, sgpr, vgpr
from tests.emulator.alu.numbers import F16, F32, F64, Format, edges, flush, samples, to_words

M32 = 0xFFFFFFFF
getcontext().prec = 60


def arc_tangent(inverse: int, unit: int) -> int:
    """atan(1 / inverse) in units of 1 / unit."""
    total, power, n = 0, unit // inverse, 0
    while power:
        total += (-power if n & 1 else power) // (2 * n + 1)
        power //= inverse * inverse
        n += 1
    return total


def pi_in(unit: int) -> int:
    """Pi in units of 1 / unit, short of a few units; by Machin's formula."""
    return 4 * (4 * arc_tangent(5, unit) - arc_tangent(239, unit))


PI = Decimal(pi_in(10**58)) / Decimal(10**58)


def sine(angle: Decimal) -> Decimal:
    """The series; arguments are a few turns at most."""
    total, term, n = Decimal(0), angle, 1
    while abs(term) > Decimal(10) ** -50:
        total += term
        term = -term * angle * angle / ((n + 1) * (n + 2))
        n += 2
    return total


FUNCTIONS: dict[str, Callable[[Decimal], Decimal]] = {
    "exp": lambda x: (x * Decimal(2).ln()).exp(),
    "log": lambda x: x.ln() / Decimal(2).ln(),
    "rcp": lambda x: 1 / x,
    "rsq": lambda x: 1 / x.sqrt(),
    "sqrt": lambda x: x.sqrt(),
    "sin": lambda x: sine(2 * PI * x),
    "cos": lambda x: sine(2 * PI * x + PI / 2),
}


def arguments(name: str, rng: np.random.Generator, half: bool) -> NDArray[np.float32]:
    if name == "exp":
        return rng.uniform(-13 if half else -125, 15 if half else 127, 64).astype(np.float32)
    if name in ("sin", "cos"):
        return rng.uniform(-3, 3, 64).astype(np.float32)
    spread = rng.integers(-8, 8, 64) if half else rng.integers(-60, 60, 64)
    values = (np.abs(rng.standard_normal(64)) + 0.01) * 2.0**spread
    values[:16] = 1 + rng.uniform(-0.01, 0.01, 16)  # where a logarithm loses digits
    return values.astype(np.float32)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_approximations_are_within_one_unit(machine: Machine, name: str, kind: str) -> None:
    rng = np.random.default_rng(1)
    fmt = F16 if kind == "f16" else F32
    for _ in range(8):
        x = arguments(name, rng, kind == "f16")
        rounded = x.astype(np.float16).astype(np.float32) if kind == "f16" else x
        machine.v[10] = x.astype(np.float16).view(np.uint16).astype(np.uint32) if kind == "f16" else x.view(np.uint32)
        machine.run(f"v_{name}_{kind}", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
        for lane in range(64):
            exact = FUNCTIONS[name](Decimal(float(rounded[lane])))
            got = fmt.value(int(machine.v[2, lane]) & (2 * fmt.sign - 1))
            assert not isinstance(got, str)
            unit = max(
                2.0 ** (math.floor(math.log2(abs(float(exact)))) - fmt.mantissa_bits) if exact else 0.0,
                2.0 ** (1 - fmt.bias - fmt.mantissa_bits),
            )
            tolerance = 2.0**-22 if name in ("sin", "cos") else 0.0
            assert abs(float(Decimal(got.numerator) / Decimal(got.denominator) - exact)) <= max(0.51 * unit, tolerance), float(
                rounded[lane]
            )


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "v_exp_f32": [
        (0, 1),
        (-0.0, 1),
        (np.inf, np.inf),
        (-np.inf, 0),
        (128, np.inf),
        (-126.5, 0),
        (-150, 0),
        (1, 2),
        (10, 1024),
        (-3, 0.125),
    ],
    "v_log_f32": [(0, -np.inf), (-0.0, -np.inf), (np.inf, np.inf), (-1, np.nan), (1e-40, -np.inf), (1, 0), (8, 3), (0.25, -2)],
    "v_rcp_f32": [(0, np.inf), (-0.0, -np.inf), (np.inf, 0), (-np.inf, -0.0), (1e-40, np.inf), (3e38, 0), (2, 0.5)],
    "v_rsq_f32": [(0, np.inf), (-0.0, -np.inf), (np.inf, 0), (-1, np.nan), (4, 0.5)],
    "v_sqrt_f32": [(0, 0), (-0.0, -0.0), (np.inf, np.inf), (-1, np.nan), (9, 3)],
    "v_sin_f32": [(0, 0), (0.25, 1), (-0.25, -1), (np.inf, np.nan), (1000, 0)],
    "v_cos_f32": [(0, 1), (0.5, -1), (np.inf, np.nan), (1000, 1)],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_arguments(machine: Machine, name: str) -> None:
    for argument, wanted in SPECIAL[name]:
        machine.v[10] = np.float32(argument).view(np.uint32)
        machine.run(name, vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
        got = machine.v[2, 0].view(np.float32)
        assert np.isnan(got) if np.isnan(wanted) else (got == wanted and np.signbit(got) == np.signbit(np.float32(wanted))), argument
    machine.v[10] = 0xFFA00001
    machine.run(name, vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
    assert machine.v[2, 0] == 0xFFE00001


def integral(name: str, value: Fraction) -> Fraction:
    functions: dict[str, Callable[[Fraction], int]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rndne": round}
    return Fraction(functions[name](value))


@pytest.mark.parametrize(("kind", "fmt"), [("f16", F16), ("f32", F32), ("f64", F64)])
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rndne", "fract"])
def test_rounding_to_integers(machine: Machine, name: str, kind: str, fmt: Format) -> None:
    rng = np.random.default_rng(2)
    halves = [fmt.round(Fraction(n, 2)) for n in range(-5, 6)] + [fmt.round(Fraction(1, 2) - Fraction(1, 1 << fmt.mantissa_bits + 1))]
    row = (edges(fmt) + halves + samples(fmt, rng, 64))[:64]
    machine.v[10], machine.v[11] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
    machine.run(f"v_{name}_{kind}", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
    for lane, bits in enumerate(row):
        got = int(machine.v[2, lane]) | (int(machine.v[3, lane]) << 32 if kind == "f64" else 0)
        value = fmt.value(bits)
        if isinstance(value, str):
            assert fmt.is_nan(got) if value == "nan" or name == "fract" else got == bits
        elif name == "fract":
            exact = value - math.floor(value)
            below_one = fmt.value((fmt.bias << fmt.mantissa_bits) - 1)
            rounded = fmt.value(fmt.round(exact))
            assert not isinstance(below_one, str)
            assert not isinstance(rounded, str)
            assert fmt.value(got) == min(rounded, below_one), hex(bits)
        else:
            assert fmt.value(got) == integral(name, value), hex(bits)
            assert got & fmt.sign == bits & fmt.sign


@pytest.mark.parametrize(("kind", "fmt", "integer"), [("f32", F32, "i32"), ("f64", F64, "i32"), ("f16", F16, "i16")])
def test_exponents_and_mantissas(machine: Machine, kind: str, fmt: Format, integer: str) -> None:
    row = (edges(fmt) + samples(fmt, np.random.default_rng(3), 64))[:64]
    machine.v[10], machine.v[11] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
    machine.run(f"v_frexp_exp_{integer}_{kind}", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
    machine.run(f"v_frexp_mant_{kind}", vgpr(4), [vgpr(10)], fmt="vop1", enc="e32")
    for lane, bits in enumerate(row):
        value = fmt.value(bits)
        exponent = int(machine.v[2, lane])
        exponent -= (1 << (16 if integer == "i16" else 32)) if exponent >> (15 if integer == "i16" else 31) else 0
        mantissa = fmt.value(int(machine.v[4, lane]) | (int(machine.v[5, lane]) << 32 if kind == "f64" else 0))
        if isinstance(value, str):
            assert exponent == 0
            assert mantissa == value
        else:
            assert not isinstance(mantissa, str)
            assert mantissa * Fraction(2) ** exponent == value
            assert value == 0 or Fraction(1, 2) <= abs(mantissa) < 1


@pytest.mark.parametrize(("kind", "fmt"), [("f32", F32), ("f64", F64), ("f16", F16)])
def test_ldexp_rounds_once(machine: Machine, kind: str, fmt: Format) -> None:
    rng = np.random.default_rng(4)
    row = samples(fmt, rng, 64)
    span = 40 if kind == "f16" else 300 if kind == "f32" else 2200
    exponents = [int(x) for x in rng.integers(-span, span, 64)]
    machine.v[10], machine.v[11] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
    machine.v[12] = to_words([x & M32 for x in exponents])
    machine.run(f"v_ldexp_{kind}", vgpr(2), [vgpr(10), vgpr(12)])
    for lane, bits in enumerate(row):
        got = int(machine.v[2, lane]) | (int(machine.v[3, lane]) << 32 if kind == "f64" else 0)
        value = fmt.value(bits)
        if isinstance(value, str):
            assert fmt.is_nan(got) if value == "nan" else got == bits
        else:
            assert got == fmt.round(value * Fraction(2) ** exponents[lane], bits & fmt.sign != 0), (hex(bits), exponents[lane])


def divide(machine: Machine, kind: str, numerators: list[int], denominators: list[int]) -> list[int]:
    """The sequence that a compiler emits for a division, with denormals on."""
    wide = kind == "f64"
    for base, row in ((10, numerators), (12, denominators)):
        machine.v[base], machine.v[base + 1] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
    n, d, one = vgpr(10), vgpr(12), constant(0, 0x3FF00000) if wide else constant(0x3F800000)

    def run(name: str, to: int, *sources: Operand, neg: int = 0, sdst: Operand | None = None) -> None:
        machine.run(f"v_{name}_{kind}", vgpr(to), sources, neg=neg, sdst=sdst)

    run("div_scale", 20, d, d, n, sdst=sgpr(30))
    run("div_scale", 22, n, d, n, sdst=sgpr(106))
    run("rcp", 24, vgpr(20))
    for _ in range(2 if wide else 1):
        run("fma", 26, vgpr(20), vgpr(24), one, neg=1)
        run("fma", 24, vgpr(26), vgpr(24), vgpr(24))
    run("mul", 28, vgpr(22), vgpr(24))
    run("fma", 30, vgpr(20), vgpr(28), vgpr(22), neg=1)
    if not wide:
        run("fma", 28, vgpr(30), vgpr(24), vgpr(28))
        run("fma", 30, vgpr(20), vgpr(28), vgpr(22), neg=1)
    run("div_fmas", 32, vgpr(30), vgpr(24), vgpr(28))
    run("div_fixup", 34, vgpr(32), d, n)
    return [int(x) | (int(y) << 32 if wide else 0) for x, y in zip(machine.v[34], machine.v[35], strict=True)]


@pytest.mark.parametrize(("kind", "fmt"), [("f32", F32), ("f64", F64)])
def test_the_division_sequence_divides(machine: Machine, kind: str, fmt: Format) -> None:
    rng = np.random.default_rng(5)
    for _ in range(8):
        n, d = samples(fmt, rng, 64), samples(fmt, rng, 64)
        got = divide(machine, kind, n, d)
        for lane in range(64):
            x, y, bits = fmt.value(n[lane]), fmt.value(d[lane]), got[lane]
            sign = (n[lane] ^ d[lane]) & fmt.sign
            if "nan" in (x, y) or (x == 0 and y == 0) or (isinstance(x, str) and isinstance(y, str)):
                assert fmt.is_nan(bits)
            elif isinstance(x, str) or y == 0:
                assert bits == sign | fmt.infinity
            elif isinstance(y, str) or x == 0:
                assert bits == sign
            else:
                wanted = fmt.round(x / y, sign != 0)
                assert abs(bits - wanted) <= (1 if wanted & (fmt.sign - 1) < 1 << fmt.mantissa_bits else 0), (
                    hex(n[lane]),
                    hex(d[lane]),
                    hex(bits),
                    hex(wanted),
                )


def test_division_fixup_signs_its_nans(machine: Machine) -> None:
    machine.v[10] = 0
    machine.run("v_div_fixup_f32", vgpr(2), [vgpr(10), vgpr(10), vgpr(10)])
    assert machine.v[2, 0] == 0xFFC00000


def test_trig_preop_gives_53_bits_of_two_over_pi(machine: Machine) -> None:
    machine.v[10], machine.v[11] = 0, 0x3FF00000
    machine.v[12] = np.arange(64, dtype=np.uint32) % 16
    machine.run("v_trig_preop_f64", vgpr(2), [vgpr(10), vgpr(12)])
    bits = (2 << 1201 + 1300) // (pi_in(1 << 1300))
    for lane in range(16):
        shift = 53 * lane
        part = bits >> (1201 - 53 - shift) & ((1 << 53) - 1)
        got = F64.value(int(machine.v[2, lane]) | int(machine.v[3, lane]) << 32)
        assert got == part * Fraction(2) ** (-53 - shift)


def test_legacy_product_and_cube_coordinates(machine: Machine) -> None:
    machine.v[10], machine.v[11] = 0, 0x7F800000
    machine.run("v_mul_legacy_f32", vgpr(2), [vgpr(10), vgpr(11)])
    assert machine.v[2, 0] == 0
    for point, wanted in (
        ((1, 2, -3), (5, -1, -2, -6)),
        ((1, -3, 2), (3, 1, -2, -6)),
        ((3, 1, 2), (0, -2, -1, 6)),
        ((-3, 1, 2), (1, 2, -1, -6)),
        ((1, 2, 3), (4, 1, -2, 6)),
    ):
        for n, x in enumerate(point):
            machine.v[10 + n] = np.float32(x).view(np.uint32)
        for name, value in zip(("id", "sc", "tc", "ma"), wanted, strict=True):
            machine.run(f"v_cube{name}_f32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)])
            assert machine.v[2, 0].view(np.float32) == value, (point, name)


def test_ieee_2019_extremes_propagate_nan(machine: Machine) -> None:
    machine.v[10], machine.v[11], machine.v[12] = 0x3F800000, 0x40000000, 0xC0000000
    machine.run("v_minimum3_f32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)], arch=950)
    machine.run("v_maximum3_f32", vgpr(3), [vgpr(10), vgpr(11), vgpr(12)], arch=950)
    assert machine.v[2, 0] == 0xC0000000
    assert machine.v[3, 0] == 0x40000000
    machine.v[11] = 0x7FC00000
    machine.run("v_maximum3_f32", vgpr(3), [vgpr(10), vgpr(11), vgpr(12)], arch=950)
    assert machine.v[3, 0] == 0x7FC00000


LEVEL_CASES = [
    *((f"v_{name}_f32", 1) for name in FUNCTIONS),
    *((name, 3) for name in ("v_fma_f32", "v_fma_f64", "v_fma_f16", "v_div_fmas_f32", "v_div_fmas_f64", "v_med3_f32")),
    *(
        (name, 2)
        for name in (
            "v_add_f32",
            "v_mul_f32",
            "v_add_f64",
            "v_mul_f64",
            "v_cvt_pk_fp8_f32",
            "v_cvt_pk_bf16_f32",
            "v_max_f32",
            "v_pk_mul_f32",
        )
    ),
]


@pytest.mark.parametrize(("name", "count"), LEVEL_CASES)
def test_every_level_gives_the_same_bits(machine: Machine, baseline: Machine, name: str, count: int) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        rows = [samples(F64 if "f64" in name else F32, rng, 64) for _ in range(3)]
        results = []
        for each in (machine, baseline):
            for n, row in enumerate(rows):
                each.v[10 + 2 * n], each.v[11 + 2 * n] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
            each.set_pair(106, 0xFFFF0000FFFF0000)
            each.v[2:4] = 0
            each.run(
                name, vgpr(2), [vgpr(10 + 2 * n) for n in range(count)], fmt="vop3p" if "_pk_" in name and "cvt" not in name else "vop3"
            )
            results.append(each.v[2:4].copy())
        assert np.array_equal(results[0], results[1])


@pytest.mark.parametrize(
    "name",
    [
        "v_mfma_f32_16x16x16_bf16",
        "v_mfma_f32_16x16x32_fp8_fp8",
        "v_mfma_f32_32x32x2_f32",
        "v_mfma_f32_16x16x128_f8f6f4",
        "v_mfma_f64_16x16x4_f64",
    ],
)
def test_every_level_gives_the_same_matrices(machine: Machine, baseline: Machine, name: str) -> None:
    rng = np.random.default_rng(7)
    state = rng.integers(0, 1 << 32, (512, 64), dtype=np.uint32)
    results = []
    for each in (machine, baseline):
        each.v[:] = state
        each.run(name, vgpr(100), [agpr(10), vgpr(20), vgpr(100)], fmt="mai", arch=950)
        results.append(each.v[100:116].copy())
    assert np.array_equal(results[0], results[1])


def test_flushing_uses_the_mode_of_the_format(machine: Machine) -> None:
    machine.v[10], machine.v[11] = 0x80000001, 0
    machine.run("v_add_f32", vgpr(2), [vgpr(10), vgpr(10)], denorm32=0, denorm16=3)
    assert machine.v[2, 0] == flush(F32, 0x80000001, False)
    machine.run("v_add_f32", vgpr(2), [vgpr(10), vgpr(11)], denorm32=3, denorm16=0)
    assert machine.v[2, 0] == 0x80000001
