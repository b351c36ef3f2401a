"""Conversions against exact arithmetic: every code of the small formats, edges and random values of the large ones."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tests.emulator.alu.machine import Machine, vgpr
from tests.emulator.alu.numbers import BF6, BF8, BF16, F16, F32, F64, FP4, FP6, FP8, Format, edges, floor_log2, samples, to_words

M32 = 0xFFFFFFFF


def rounded(fmt: Format, source: Format, bits: int, *, saturate: bool = False, scale: int = 0) -> int | None:
    """Nearest code of a value times 2^-scale; None where any NaN will do."""
    value = source.value(bits)
    negative = fmt.sign if bits & source.sign else 0
    overflow = {"ieee": fmt.infinity, "nan": fmt.sign - 1, "fnuz": fmt.sign, "none": fmt.greatest}[fmt.top]
    if value == "nan":
        return fmt.greatest | negative if fmt.top == "none" else None
    if isinstance(value, str):
        return overflow | negative
    magnitude = fmt.round(abs(value) / Fraction(2) ** scale)
    if magnitude > fmt.greatest:
        magnitude = fmt.greatest if saturate else overflow
    return magnitude if fmt.top == "fnuz" and magnitude == 0 else magnitude | negative


def near_boundaries(fmt: Format, scale: int = 0) -> list[int]:
    """Floats at and next to every value of a small format and every midpoint between two."""
    floats = []
    finite = sorted({v for bits in range(fmt.sign) if not isinstance(v := fmt.value(bits), str)})
    step = finite[-1] - finite[-2]
    for low, high in zip(finite, [*finite[1:], finite[-1] + step], strict=True):
        for value in (low, (low + high) / 2):
            bits = F32.round(value * Fraction(2) ** scale)
            floats += [bits, bits + 1, max(bits - 1, 0)]
    return floats + [bits | F32.sign for bits in floats]


def in_rows(values: list[int]) -> list[list[int]]:
    return [(values[n : n + 64] + [0] * 64)[:64] for n in range(0, len(values), 64)]


def is_nan_code(fmt: Format, code: int) -> bool:
    return fmt.is_nan(code & (2 * fmt.sign - 1))


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("arch", [942, 950])
@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_floats_are_rounded_to_eight_bits(machine: Machine, kind: str, arch: int, saturate: bool) -> None:
    fmt = (FP8 if kind == "fp8" else BF8)[arch]
    values = near_boundaries(fmt) + edges(F32) + samples(F32, np.random.default_rng(1), 640)
    for row in in_rows(values):
        machine.v[10], machine.v[11] = to_words(row), to_words(row[::-1])
        for op_sel in (0, 8):
            machine.v[2] = 0x55AA33CC
            machine.run(f"v_cvt_pk_{kind}_f32", vgpr(2), [vgpr(10), vgpr(11)], arch=arch, clamps=saturate, op_sel=op_sel)
            for lane in range(64):
                got = int(machine.v[2, lane])
                kept, pair = (got & 0xFFFF, got >> 16) if op_sel else (got >> 16, got & 0xFFFF)
                assert kept == (0x33CC if op_sel else 0x55AA)
                for code, bits in ((pair & 0xFF, row[lane]), (pair >> 8, row[63 - lane])):
                    wanted = rounded(fmt, F32, bits, saturate=saturate)
                    assert is_nan_code(fmt, code) if wanted is None else code == wanted, hex(bits)


def test_out_of_range_becomes_nan_in_e4m3(machine: Machine) -> None:
    machine.v[10] = np.float32(1e6).view(np.uint32)
    for arch in (942, 950):
        machine.run("v_cvt_pk_fp8_f32", vgpr(2), [vgpr(10), vgpr(10)], arch=arch)
        assert is_nan_code(FP8[arch], int(machine.v[2, 0]) & 0xFF)


@pytest.mark.parametrize("arch", [942, 950])
@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_every_eight_bit_code_widens_exactly(machine: Machine, kind: str, arch: int) -> None:
    fmt = (FP8 if kind == "fp8" else BF8)[arch]
    for first in range(0, 256, 64):
        codes = list(range(first, first + 64))
        machine.v[10] = to_words([c | (c ^ 0x5A) << 8 | (255 - c) << 16 | (c * 7 & 0xFF) << 24 for c in codes])

        def check(bits: int, code: int) -> None:
            assert F32.is_nan(bits) if fmt.is_nan(code) else F32.value(bits) == fmt.value(code), (code, hex(bits))

        for byte in range(4):
            machine.run(f"v_cvt_f32_{kind}", vgpr(2), [vgpr(10)], fmt="vop1", arch=arch, sdwa=(6, 0, byte, 6, False, False))
            for lane in range(64):
                check(int(machine.v[2, lane]), int(machine.v[10, lane]) >> 8 * byte & 0xFF)
        for word in (4, 5):
            machine.run(f"v_cvt_pk_f32_{kind}", vgpr(2), [vgpr(10)], fmt="vop1", arch=arch, sdwa=(6, 0, word, 6, False, False))
            for lane in range(64):
                pair = int(machine.v[10, lane]) >> 16 * (word - 4)
                check(int(machine.v[2, lane]), pair & 0xFF)
                check(int(machine.v[3, lane]), pair >> 8 & 0xFF)


@pytest.mark.parametrize("keep", [0, 3])
def test_every_half_widens_exactly(machine: Machine, keep: int) -> None:
    for first in range(0, 1 << 16, 64):
        codes = np.arange(first, first + 64, dtype=np.uint32)
        machine.v[10] = codes
        machine.run("v_cvt_f32_f16", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32", denorm16=keep)
        flushed = np.where((codes & 0x7FFF) < 0x400, codes & 0x8000, codes) if keep == 0 else codes
        wanted = flushed.astype(np.uint16).view(np.float16).astype(np.float32)
        got = machine.v[2].view(np.float32)
        assert np.array_equal(got, wanted, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.parametrize(("name", "fmt"), [("v_cvt_f16_f32", F16), ("v_cvt_pk_f16_f32", F16), ("v_cvt_pk_bf16_f32", BF16)])
def test_floats_are_rounded_to_sixteen_bits(machine: Machine, name: str, fmt: Format) -> None:
    rng = np.random.default_rng(2)
    near = []
    for code in rng.integers(fmt.sign >> 8, fmt.infinity - 1, 300):
        value = fmt.value(int(code))
        assert isinstance(value, Fraction)
        midpoint = F32.round(value + Fraction(2) ** (floor_log2(value) - fmt.mantissa_bits - 1))
        near += [midpoint - 1, midpoint, midpoint + 1]
    for row in in_rows(
        near + edges(F32) + samples(F32, rng, 640) + [0x33000000, 0x33000001, 0x33800000, 0x38800000, 0x387FFFFF, 0x477FEFFF, 0x477FF000]
    ):
        machine.v[10], machine.v[11] = to_words(row), to_words(row[::-1])
        packed = "pk" in name
        machine.run(name, vgpr(2), [vgpr(10), vgpr(11)] if packed else [vgpr(10)], arch=950)
        for lane in range(64):
            for code, bits in ((int(machine.v[2, lane]) & 0xFFFF, row[lane]), (int(machine.v[2, lane]) >> 16, row[63 - lane]))[
                : 2 if packed else 1
            ]:
                wanted = rounded(fmt, F32, bits)
                assert fmt.is_nan(code) if wanted is None else code == wanted, hex(bits)


def test_pkrtz_rounds_toward_zero(machine: Machine) -> None:
    row = samples(F32, np.random.default_rng(3), 64)
    machine.v[10] = to_words(row)
    machine.run("v_cvt_pkrtz_f16_f32", vgpr(2), [vgpr(10), vgpr(10)])
    for lane, bits in enumerate(row):
        code, value = int(machine.v[2, lane]) & 0xFFFF, F32.value(bits)
        if value == "nan":
            assert F16.is_nan(code)
        elif isinstance(value, str):
            assert code & 0x7FFF == 0x7C00
        else:
            got = F16.value(code)
            assert not isinstance(got, str)
            assert abs(got) <= abs(value)
            assert code >> 15 == bits >> 31
            following = F16.value((code & 0x7FFF) + 1)
            assert isinstance(following, str) or following > abs(value)


def truncated(value: Fraction | str, low: int, high: int) -> int:
    if value == "nan":
        return 0
    if isinstance(value, str):
        return high if value == "inf" else low
    return max(low, min(high, int(value)))


INTEGERS: dict[str, tuple[Format, int, Callable[[Fraction | str], int]]] = {
    "v_cvt_i32_f32": (F32, 32, lambda v: truncated(v, -(1 << 31), (1 << 31) - 1)),
    "v_cvt_u32_f32": (F32, 32, lambda v: truncated(v, 0, M32)),
    "v_cvt_i32_f64": (F64, 32, lambda v: truncated(v, -(1 << 31), (1 << 31) - 1)),
    "v_cvt_u32_f64": (F64, 32, lambda v: truncated(v, 0, M32)),
    "v_cvt_i16_f16": (F16, 16, lambda v: truncated(v, -(1 << 15), (1 << 15) - 1)),
    "v_cvt_u16_f16": (F16, 16, lambda v: truncated(v, 0, 0xFFFF)),
    "v_cvt_flr_i32_f32": (F32, 32, lambda v: truncated(v if isinstance(v, str) else Fraction(v.__floor__()), -(1 << 31), (1 << 31) - 1)),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_floats_become_integers_toward_zero_with_limits(machine: Machine, name: str) -> None:
    fmt, width, function = INTEGERS[name]
    rng = np.random.default_rng(4)
    limits = [
        fmt.round(sign * (Fraction(2) ** n + delta)) for n in (15, 16, 31, 32) for delta in (-1, Fraction(-1, 2), 0, 1) for sign in (1, -1)
    ]
    for row in in_rows(edges(fmt) + limits + samples(fmt, rng, 640)):
        machine.v[10], machine.v[11] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
        machine.run(name, vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
        assert machine.v[2].tolist() == [function(fmt.value(x)) & ((1 << width) - 1) for x in row]


def test_integers_become_floats_with_one_rounding(machine: Machine) -> None:
    rng = np.random.default_rng(5)
    row = [int(x) >> int(s) for x, s in zip(rng.integers(0, 1 << 32, 58), rng.integers(0, 20, 58), strict=True)] + [
        0,
        1,
        0x7FFFFFFF,
        0x80000000,
        M32,
        0xFFFFFF7F,
    ]
    machine.v[10] = to_words(row)
    signed = [x - (1 << 32) if x >> 31 else x for x in row]
    for name, values, fmt in (
        ("v_cvt_f32_u32", row, F32),
        ("v_cvt_f32_i32", signed, F32),
        ("v_cvt_f64_u32", row, F64),
        ("v_cvt_f64_i32", signed, F64),
    ):
        machine.run(name, vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
        got = [int(x) | (int(y) << 32 if fmt is F64 else 0) for x, y in zip(machine.v[2], machine.v[3], strict=True)]
        assert got == [fmt.round(Fraction(v)) for v in values], name
    for byte in range(4):
        machine.run(f"v_cvt_f32_ubyte{byte}", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
        assert machine.v[2].view(np.float32).tolist() == [float(x >> 8 * byte & 0xFF) for x in row]
    for name, low in (("v_cvt_f16_u16", False), ("v_cvt_f16_i16", True)):
        machine.run(name, vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
        halves = [(x & 0xFFFF) - (1 << 16 if low and x >> 15 & 1 else 0) for x in row]
        assert machine.v[2].tolist() == [min(F16.round(Fraction(h)) & 0x7FFF, 0x7C00) | (0x8000 if h < 0 else 0) for h in halves]


def test_doubles_and_floats(machine: Machine) -> None:
    row = edges(F64) + samples(F64, np.random.default_rng(6), 34) + [F64.round(Fraction(2) ** -140), F64.round(Fraction(2) ** -149 * 3 / 2)]
    row = (row * 2)[:64]
    machine.v[10], machine.v[11] = to_words([x & M32 for x in row]), to_words([x >> 32 for x in row])
    machine.run("v_cvt_f32_f64", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
    for lane, bits in enumerate(row):
        wanted = rounded(F32, F64, bits)
        got = int(machine.v[2, lane])
        assert F32.is_nan(got) if wanted is None else got == wanted
    row = (edges(F32) + samples(F32, np.random.default_rng(7), 64))[:64]
    machine.v[10] = to_words(row)
    machine.run("v_cvt_f64_f32", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
    for lane, bits in enumerate(row):
        got = int(machine.v[2, lane]) | int(machine.v[3, lane]) << 32
        assert F64.is_nan(got) if F32.is_nan(bits) else F64.value(got) == F32.value(bits) and got >> 63 == bits >> 31


def test_normalised_integers(machine: Machine) -> None:
    values = np.array([0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan, 1e-5, 0.3, -0.7] + [0.1] * 51, np.float32)
    machine.v[10] = values.view(np.uint32)
    clean = np.nan_to_num(values.astype(np.float64), nan=0, posinf=1, neginf=-1)
    machine.run("v_cvt_pknorm_i16_f32", vgpr(2), [vgpr(10), vgpr(10)])
    assert (machine.v[2] & 0xFFFF).astype(np.uint16).view(np.int16).tolist() == np.rint(np.clip(clean, -1, 1) * 32767).tolist()
    machine.run("v_cvt_pknorm_u16_f32", vgpr(2), [vgpr(10), vgpr(10)])
    assert (machine.v[2] >> 16).tolist() == np.rint(np.clip(clean, 0, 1) * 65535).tolist()


def test_bytes_are_packed_into_a_place(machine: Machine) -> None:
    machine.v[10] = np.array([-5.0, 0.99, 254.9, 300.0] * 16, np.float32).view(np.uint32)
    machine.v[11] = np.arange(64, dtype=np.uint32) // 4
    machine.v[12] = 0x11223344
    machine.run("v_cvt_pk_u8_f32", vgpr(2), [vgpr(10), vgpr(11), vgpr(12)])
    for lane in range(64):
        shift = lane // 4 % 4 * 8
        assert int(machine.v[2, lane]) == 0x11223344 & ~(0xFF << shift) | [0, 0, 254, 255][lane % 4] << shift


def test_offset_table_of_four_bits(machine: Machine) -> None:
    machine.v[10] = np.arange(64, dtype=np.uint32)
    machine.run("v_cvt_off_f32_i4", vgpr(2), [vgpr(10)], fmt="vop1", enc="e32")
    assert machine.v[2].view(np.float32).tolist() == [((n % 16) - (16 if n % 16 > 7 else 0)) / 16 for n in range(64)]


@pytest.mark.parametrize("arch", [942, 950])
@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_stochastic_rounding_brackets_the_value(machine: Machine, kind: str, arch: int) -> None:
    fmt = (FP8 if kind == "fp8" else BF8)[arch]
    rng = np.random.default_rng(8)
    values = (rng.standard_normal(64) * 2.0 ** rng.integers(-12, 5, 64)).astype(np.float32)
    machine.v[10] = values.view(np.uint32)
    for random, up in ((0, False), (M32, True)):
        machine.v[11] = random
        for byte in range(4):
            machine.v[2] = 0x01020304
            machine.run(f"v_cvt_sr_{kind}_f32", vgpr(2), [vgpr(10), vgpr(11)], arch=arch, op_sel=4 * byte)
            for lane in range(64):
                code = int(machine.v[2, lane]) >> 8 * byte & 0xFF
                got, exact = fmt.value(code), abs(Fraction(float(values[lane])))
                assert not isinstance(got, str)
                beside = fmt.value((code & fmt.sign - 1) + (-1 if up and abs(got) != exact and code & fmt.sign - 1 else 1))
                assert not isinstance(beside, str)
                low, high = sorted((abs(got), beside))
                assert low <= exact <= high, (float(exact), float(abs(got)))
                assert int(machine.v[2, lane]) & ~(0xFF << 8 * byte) & M32 == 0x01020304 & ~(0xFF << 8 * byte) & M32


WIDE = {"f32": F32, "f16": F16, "bf16": BF16}
SMALL = {"fp8": FP8[950], "bf8": BF8[950], "fp6": FP6, "bf6": BF6, "fp4": FP4}


def join(machine: Machine, base: int, words: int, lane: int) -> int:
    return sum(int(machine.v[base + n, lane]) << 32 * n for n in range(words))


@pytest.mark.parametrize(("small", "wide"), [(s, w) for s in SMALL for w in WIDE])
def test_scaled_widening(machine: Machine, small: str, wide: str) -> None:
    fmt, out = SMALL[small], WIDE[wide]
    rng = np.random.default_rng(9)
    many = small in ("fp6", "bf6")
    count = 32 if many else 2
    machine.v[10:16] = rng.integers(0, 1 << 32, (6, 64), dtype=np.uint32)
    exponents = rng.integers(120, 135, 64)
    machine.v[20] = (exponents.astype(np.uint32) << np.uint32(23)) | np.uint32(0x12345)
    for select in range(1 if many else 4 if small == "fp4" else 2):
        machine.run(f"v_cvt_scalef32_pk{'32' if many else ''}_{wide}_{small}", vgpr(40), [vgpr(10), vgpr(20)], arch=950, op_sel=select)
        start = 0 if many else (8 if small == "fp4" else 16) * select
        for lane in range(64):
            codes, results = join(machine, 10, 6, lane) >> start, join(machine, 40, count * out.width // 32, lane)
            for n in range(count):
                value = fmt.value(codes >> n * fmt.width & (2 * fmt.sign - 1))
                got = results >> n * out.width & (2 * out.sign - 1)
                if isinstance(value, str):
                    assert out.is_nan(got) if value == "nan" else out.value(got) == value
                else:
                    exact = value * Fraction(2) ** int(exponents[lane] - 127)
                    assert got & (out.sign - 1) == out.round(abs(exact))


NARROWING = [
    *((f"v_cvt_scalef32_pk_{s}_{w}", s, w, 2) for s in ("fp8", "bf8", "fp4") for w in WIDE),
    *((f"v_cvt_scalef32_pk32_{s}_{w}", s, w, 32) for s in ("fp6", "bf6") for w in ("f16", "bf16")),
    *((f"v_cvt_scalef32_2xpk16_{s}_f32", s, "f32", 32) for s in ("fp6", "bf6")),
]


@pytest.mark.parametrize(("name", "small", "wide", "count"), NARROWING)
def test_scaled_narrowing_rounds_once(machine: Machine, name: str, small: str, wide: str, count: int) -> None:
    fmt, source = SMALL[small], WIDE[wide]
    rng = np.random.default_rng(10)
    separate = wide == "f32"
    values = [[source.round(Fraction(float(x))) for x in rng.standard_normal(count) * 2.0 ** rng.integers(-4, 6, count)] for _ in range(64)]
    values[0][:2] = [source.round(Fraction(0)), source.infinity]
    exponents = rng.integers(123, 131, 64)
    machine.v[80] = exponents.astype(np.uint32) << np.uint32(23)
    per_source = count // 2 if separate else count
    for lane in range(64):
        for n, group in enumerate([values[lane][0::2], values[lane][1::2]] if separate else [values[lane]]):
            whole = sum(bits << source.width * k for k, bits in enumerate(group))
            for word in range(per_source * source.width // 32):
                machine.v[10 + 32 * n + word, lane] = whole >> 32 * word & M32
    bits = count * fmt.width
    machine.v[2] = 0xCCCCCCCC
    op_sel = {16: 8, 8: 12}.get(bits, 0)
    machine.run(name, vgpr(2), [vgpr(10), vgpr(42), vgpr(80)] if separate else [vgpr(10), vgpr(80)], arch=950, op_sel=op_sel)
    place = {16: 16, 8: 24}.get(bits, 0)
    for lane in range(64):
        whole = join(machine, 2, max(bits // 32, 1), lane) >> place
        for n in range(count):
            wanted = rounded(fmt, source, values[lane][n], scale=int(exponents[lane] - 127))
            assert whole >> n * fmt.width & (2 * fmt.sign - 1) == wanted, (lane, n)
        assert bits >= 32 or int(machine.v[2, lane]) & ((1 << place) - 1) == 0xCCCCCCCC & ((1 << place) - 1)


@pytest.mark.parametrize(
    "name", ["v_cvt_scalef32_sr_fp8_f32", "v_cvt_scalef32_sr_bf8_f16", "v_cvt_scalef32_sr_pk_fp4_bf16", "v_cvt_scalef32_sr_pk32_fp6_f32"]
)
def test_scaled_stochastic_rounding_without_randomness_cuts_off(machine: Machine, name: str) -> None:
    small, wide = name.split("_")[-2:]
    fmt, source = SMALL[small], WIDE[wide]
    value = fmt.value(3)
    assert not isinstance(value, str)
    bits = source.round(value * Fraction(9, 8))
    machine.v[10:42] = bits if source.width == 32 else bits | bits << 16
    machine.v[50], machine.v[51] = 0, 127 << 23
    machine.v[2] = 0
    machine.run(name, vgpr(2), [vgpr(10), vgpr(50), vgpr(51)], arch=950)
    assert int(machine.v[2, 0]) & (fmt.sign - 1) == 3
