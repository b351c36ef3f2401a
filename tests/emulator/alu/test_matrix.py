"""Matrix instructions against element-by-element sums in the documented order, with layouts written down independently."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.alu.machine import Machine, Operand, agpr, constant, sgpr, vgpr
from tests.emulator.alu.numbers import BF6, BF8, BF16, F16, F32, FP4, FP6, FP8, Format

Floats = NDArray[np.float32]
FORMATS: dict[str, tuple[Format, Format]] = {"f16": (F16, F16), "bf16": (BF16, BF16), "f32": (F32, F32)}
NARROW = [FP8[950], BF8[950], FP6, BF6, FP4]


@dataclass(frozen=True)
class Shape:
    """M x N x K in blocks; `per_lane` elements of A in a lane."""

    m: int
    k: int
    blocks: int = 1

    @property
    def per_lane(self) -> int:
        return self.m * self.k * self.blocks // 64

    def place_in(self, block: int, row: int, k: int) -> tuple[int, int]:
        """Lane and element of A[row][k]; B[k][column] is the same with its column."""
        group = block if self.blocks > 1 else k // self.per_lane
        return self.m * group + row, k % self.per_lane if self.blocks == 1 else k

    def place_out(self, block: int, row: int, column: int) -> tuple[int, int]:
        """Register and lane of D[row][column]."""
        if self.m == 4:
            return row, 4 * block + column
        quad, within = divmod(row, 4)
        groups = 64 // self.m
        return block * (self.m * self.m // 64) + quad // groups * 4 + within, quad % groups * self.m + column


def table(fmt: Format) -> NDArray[np.float64]:
    """Every value of a format of at most 16 bits."""
    special = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
    values = [fmt.value(bits) for bits in range(1 << fmt.width)]
    numbers = [special[v] if isinstance(v, str) else float(v) for v in values]
    return np.array([-0.0 if v == 0 and bits & fmt.sign else v for bits, v in enumerate(numbers)])


TABLES: dict[Format, NDArray[np.float64]] = {}


def values_of(fmt: Format, bits: NDArray[np.uint32]) -> Floats:
    if fmt == F32:
        return bits.view(np.float32)
    if fmt not in TABLES:
        TABLES[fmt] = table(fmt)
    return TABLES[fmt][bits].astype(np.float32)


def pack(lanes: NDArray[np.uint32], width: int) -> NDArray[np.uint32]:
    """Elements of the 64 lanes, as registers."""
    count = lanes.shape[1]
    words = np.zeros(((width * count + 31) // 32, 64), np.uint32)
    for lane in range(64):
        whole = sum(int(x) << (width * n) for n, x in enumerate(lanes[lane]))
        for word in range(len(words)):
            words[word, lane] = whole >> (32 * word) & 0xFFFFFFFF
    return words


def bits_for(fmt: Format, rng: np.random.Generator, count: int, special: bool) -> NDArray[np.uint32]:
    if fmt == F32:
        return (rng.standard_normal((64, count)) * 2.0 ** rng.integers(-20, 20, (64, count))).astype(np.float32).view(np.uint32)
    bits = rng.integers(0, 1 << fmt.width, (64, count), dtype=np.uint32)
    if fmt.width == 16 and not special:  # moderate exponents, so that sums mean something
        bits = np.array([[fmt.round(Fraction(float(x))) for x in row] for row in rng.standard_normal((64, count))], np.uint32)
    elif not special:
        nan = np.array([isinstance(fmt.value(x), str) for x in range(1 << fmt.width)])
        bits = np.where(nan[bits], 0, bits).astype(np.uint32)
    return bits


def fma(a: Floats, b: Floats, c: Floats, fused: bool) -> Floats:
    """One step; in extended precision where the step is fused (exact product, one more rounding that random data do not meet)."""
    with np.errstate(all="ignore"):
        if fused:
            return (a.astype(np.longdouble) * b + c).astype(np.float32)
        return a * b + c


def product(shape: Shape, a: Floats, b: Floats, c: Floats, fused: bool = False) -> Floats:
    """D of one block: a[row][k], b[k][column]."""
    total = c.copy()
    for k in range(a.shape[1]):
        total = fma(a[:, k : k + 1], b[k : k + 1], total, fused)
    return total


def same(got: Floats, wanted: Floats) -> bool:
    nan = np.isnan(wanted)
    return bool(np.array_equal(got.view(np.uint32)[~nan], wanted.view(np.uint32)[~nan]) and np.all(got.view(np.uint32)[nan] == 0x7FC00000))


@dataclass
class Setup:
    """Operands in registers and as matrices per block."""

    shape: Shape
    a: list[Floats]
    b: list[Floats]
    c: list[Floats]

    def result(self, machine: Machine, base: int) -> list[Floats]:
        m = self.shape.m
        out = [np.zeros((m, m), np.float32) for _ in range(self.shape.blocks)]
        for block in range(self.shape.blocks):
            for i in range(m):
                for j in range(m):
                    word, lane = self.shape.place_out(block, i, j)
                    out[block][i, j] = machine.v[base + word, lane].view(np.float32)
        return out


def prepare(
    machine: Machine, shape: Shape, formats: tuple[Format, Format], seed: int, special: bool, base_a: int, base_b: int, base_c: int
) -> Setup:
    rng = np.random.default_rng(seed)
    lanes = [bits_for(fmt, rng, shape.per_lane, special) for fmt in formats]
    for base, fmt, elements in zip((base_a, base_b), formats, lanes, strict=True):
        words = pack(elements, fmt.width)
        machine.v[base : base + len(words)] = words
    m, count = shape.m, shape.m * shape.m * shape.blocks // 64
    c_words = rng.standard_normal((count, 64)).astype(np.float32)
    machine.v[base_c : base_c + count] = c_words.view(np.uint32)
    a = [np.zeros((m, shape.k), np.float32) for _ in range(shape.blocks)]
    b = [np.zeros((shape.k, m), np.float32) for _ in range(shape.blocks)]
    c = [np.zeros((m, m), np.float32) for _ in range(shape.blocks)]
    wide = [values_of(fmt, elements) for fmt, elements in zip(formats, lanes, strict=True)]
    for block in range(shape.blocks):
        for i in range(m):
            for k in range(shape.k):
                lane, element = shape.place_in(block, i, k)
                a[block][i, k] = wide[0][lane, element]
                b[block][k, i] = wide[1][lane, element]
            for j in range(m):
                word, lane = shape.place_out(block, i, j)
                c[block][i, j] = c_words[word, lane]
    return Setup(shape, a, b, c)


HALF_SHAPES = ((32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1), (32, 16, 1), (16, 32, 1))
SINGLE_SHAPES = ((32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1))


def named(m: int, k: int, blocks: int, kind: str) -> tuple[str, Shape, str]:
    return f"v_mfma_f32_{m}x{m}x{k}{f'_{blocks}b' if blocks > 1 else ''}_{kind}", Shape(m, k, blocks), kind


FLOAT_CASES = [
    *(named(*shape, kind) for kind in ("f16", "bf16") for shape in HALF_SHAPES),
    *(named(*shape, "f32") for shape in SINGLE_SHAPES),
]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize(("name", "shape", "kind"), FLOAT_CASES)
def test_float_matrix_products(machine: Machine, name: str, shape: Shape, kind: str, special: bool) -> None:
    setup = prepare(machine, shape, FORMATS[kind], len(name), special, 256 + 10, 20, 100)
    assert machine.run(name, vgpr(100), [agpr(10), vgpr(20), vgpr(100)], fmt="mai", exec_mask=0, denorm32=0) == 0
    for block, got in enumerate(setup.result(machine, 100)):
        assert same(got, product(shape, setup.a[block], setup.b[block], setup.c[block], kind == "f32")), block


@pytest.mark.parametrize("arch", [942, 950])
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("kinds", ["fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"])
@pytest.mark.parametrize("shape", [Shape(16, 32), Shape(32, 16)])
def test_eight_bit_matrix_products(machine: Machine, shape: Shape, kinds: str, special: bool, arch: int) -> None:
    first, second = (FP8[arch] if kind == "fp8" else BF8[arch] for kind in kinds.split("_"))
    setup = prepare(machine, shape, (first, second), 3, special, 10, 256 + 20, 256 + 100)
    machine.run(f"v_mfma_f32_{shape.m}x{shape.m}x{shape.k}_{kinds}", agpr(60), [vgpr(10), agpr(20), agpr(100)], fmt="mai", arch=arch)
    assert same(setup.result(machine, 256 + 60)[0], product(shape, setup.a[0], setup.b[0], setup.c[0]))


def mixed(machine: Machine, m: int, first: int, second: int, special: bool, seed: int) -> Setup:
    """Operands of an f8f6f4 product: two formats of 8 bits interleave their halves of k, the others do not."""
    shape = Shape(m, 2048 // m)
    rng = np.random.default_rng(seed)
    setup = Setup(shape, [np.zeros((m, shape.k), np.float32)], [np.zeros((shape.k, m), np.float32)], [np.zeros((m, m), np.float32)])
    for base, code, out in ((10, first, setup.a[0]), (30, second, setup.b[0].T)):
        elements = bits_for(NARROW[code], rng, 32, special)
        words = pack(elements, NARROW[code].width)
        machine.v[base : base + len(words)] = words
        values = values_of(NARROW[code], elements)
        for lane in range(64):
            for element in range(32):
                group = lane // m
                interleaved = first < 2 and second < 2
                k = 16 * group + element % 16 + shape.k // 2 * (element // 16) if interleaved else 32 * group + element
                out[lane % m, k] = values[lane, element]
    words = rng.standard_normal((m * m // 64, 64)).astype(np.float32)
    machine.v[100 : 100 + len(words)] = words.view(np.uint32)
    for i in range(m):
        for j in range(m):
            word, lane = shape.place_out(0, i, j)
            setup.c[0][i, j] = words[word, lane]
    return setup


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("second", range(5))
@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("m", [16, 32])
def test_products_of_mixed_narrow_formats(machine: Machine, m: int, first: int, second: int, special: bool) -> None:
    setup = mixed(machine, m, first, second, special, 4)
    machine.run(
        f"v_mfma_f32_{m}x{m}x{setup.shape.k}_f8f6f4",
        vgpr(100),
        [vgpr(10), vgpr(30), vgpr(100)],
        fmt="mai",
        arch=950,
        cbsz=first,
        blgp=second,
    )
    assert same(setup.result(machine, 100)[0], product(setup.shape, setup.a[0], setup.b[0], setup.c[0]))


def test_a_format_code_that_does_not_exist_is_a_fault(machine: Machine) -> None:
    assert machine.run("v_mfma_f32_16x16x128_f8f6f4", vgpr(100), [vgpr(10), vgpr(30), vgpr(100)], fmt="mai", arch=950, cbsz=5) != 0


@pytest.mark.parametrize(("first", "second"), [(0, 0), (4, 4), (0, 4), (2, 3)])
@pytest.mark.parametrize("m", [16, 32])
@pytest.mark.parametrize("byte", range(4))
def test_scales_multiply_the_sum_of_32_products(machine: Machine, m: int, first: int, second: int, byte: int) -> None:
    setup = mixed(machine, m, first, second, False, 5)
    rng = np.random.default_rng(byte)
    scales = rng.integers(120, 135, (2, 4, 64), dtype=np.uint32)
    scales[0, byte, 3] = 255
    for n in range(2):
        machine.v[50 + n] = scales[n, 0] | scales[n, 1] << 8 | scales[n, 2] << 16 | scales[n, 3] << 24
    name = f"v_mfma_scale_f32_{m}x{m}x{setup.shape.k}_f8f6f4"
    both = 3 if byte & 1 else 0, 3 if byte & 2 else 0
    machine.run(
        name,
        vgpr(100),
        [vgpr(10), vgpr(30), vgpr(100), vgpr(50), vgpr(51)],
        fmt="mai",
        arch=950,
        cbsz=first,
        blgp=second,
        op_sel=both[0],
        op_sel_hi=both[1],
    )
    total = setup.c[0].copy()
    for group in range(64 // m):
        part = product(
            setup.shape, setup.a[0][:, 32 * group : 32 * group + 32], setup.b[0][32 * group : 32 * group + 32], np.zeros_like(total)
        )
        left, right = (scales[n, byte, m * group : m * group + m].astype(np.int64) for n in range(2))
        factor = 2.0 ** (left[:, None] + right[None, :] - 254)
        factor[left == 255] = np.nan
        total = total + (part.astype(np.float64) * factor).astype(np.float32)
    assert same(setup.result(machine, 100)[0], total)


@pytest.mark.parametrize(
    ("m", "k", "blocks", "tail"),
    [(32, 4, 2, "_2b"), (16, 4, 4, "_4b"), (4, 4, 16, "_16b"), (32, 16, 1, ""), (16, 32, 1, ""), (32, 32, 1, ""), (16, 64, 1, "")],
)
def test_byte_matrix_products_wrap(machine: Machine, m: int, k: int, blocks: int, tail: str) -> None:
    shape = Shape(m, k, blocks)
    rng = np.random.default_rng(k)
    lanes = rng.integers(0, 256, (2, 64, shape.per_lane), dtype=np.uint32)
    for n in range(2):
        words = pack(lanes[n], 8)
        machine.v[10 + 10 * n : 10 + 10 * n + len(words)] = words
    count = m * m * blocks // 64
    machine.v[100 : 100 + count] = rng.integers(0, 1 << 32, (count, 64), dtype=np.uint32)
    c = machine.v[100 : 100 + count].copy()
    machine.run(f"v_mfma_i32_{m}x{m}x{k}{tail}_i8", vgpr(140), [vgpr(10), vgpr(20), vgpr(100)], fmt="mai", arch=950)
    values = lanes.astype(np.uint8).view(np.int8)
    for block in range(blocks):
        for i in range(m):
            for j in range(m):
                word, lane = shape.place_out(block, i, j)
                total = int(c[word, lane])
                for kk in range(k):
                    (la, ea), (lb, eb) = shape.place_in(block, i, kk), shape.place_in(block, j, kk)
                    total += int(values[0, la, ea]) * int(values[1, lb, eb])
                assert int(machine.v[140 + word, lane]) == total & 0xFFFFFFFF


@pytest.mark.parametrize(("cbsz", "abid"), [(1, 0), (1, 1), (2, 0), (2, 3)])
def test_blocks_of_a_are_broadcast(machine: Machine, cbsz: int, abid: int) -> None:
    shape = Shape(16, 4, 4)
    setup = prepare(machine, shape, (F16, F16), 6, False, 10, 20, 100)
    machine.run("v_mfma_f32_16x16x4_4b_f16", vgpr(100), [vgpr(10), vgpr(20), vgpr(100)], fmt="mai", cbsz=cbsz, abid=abid)
    for block, got in enumerate(setup.result(machine, 100)):
        source = (block >> cbsz << cbsz) + abid
        assert same(got, product(shape, setup.a[source], setup.b[block], setup.c[block]))


@pytest.mark.parametrize("blgp", range(8))
def test_lanes_of_b_are_rearranged(machine: Machine, blgp: int) -> None:
    shape = Shape(16, 4, 4)
    setup = prepare(machine, shape, (F16, F16), 7, False, 10, 20, 100)
    machine.run("v_mfma_f32_16x16x4_4b_f16", vgpr(100), [vgpr(10), vgpr(20), vgpr(100)], fmt="mai", blgp=blgp)
    sources = {0: [0, 1, 2, 3], 1: [0, 1, 0, 1], 2: [2, 3, 2, 3], 3: [1, 2, 3, 0], 4: [0] * 4, 5: [1] * 4, 6: [2] * 4, 7: [3] * 4}[blgp]
    for block, got in enumerate(setup.result(machine, 100)):
        assert same(got, product(shape, setup.a[block], setup.b[sources[block]], setup.c[block]))


@pytest.mark.parametrize(("c", "value"), [(constant(0), 0.0), (constant(0x3F800000), 1.0), (sgpr(9), 2.5)])
def test_the_addend_may_be_a_constant(machine: Machine, c: Operand, value: float) -> None:
    shape = Shape(16, 16)
    setup = prepare(machine, shape, (BF16, BF16), 8, False, 10, 20, 100)
    machine.s[9] = np.float32(2.5).view(np.uint32)
    machine.run("v_mfma_f32_16x16x16_bf16", vgpr(100), [vgpr(10), vgpr(20), c], fmt="mai")
    assert same(setup.result(machine, 100)[0], product(shape, setup.a[0], setup.b[0], np.full((16, 16), value, np.float32)))


@pytest.mark.parametrize("shape", [Shape(16, 8), Shape(32, 4)])
def test_xf32_rounds_its_operands_to_ten_bits(machine: Machine, shape: Shape) -> None:
    setup = prepare(machine, shape, (F32, F32), 9, False, 10, 20, 100)

    def cut(x: Floats) -> Floats:
        bits = x.view(np.uint32)
        return (bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1)) & np.uint32(0xFFFFE000)).view(np.float32)

    machine.run(f"v_mfma_f32_{shape.m}x{shape.m}x{shape.k}_xf32", vgpr(100), [vgpr(10), vgpr(20), vgpr(100)], fmt="mai")
    assert same(setup.result(machine, 100)[0], product(shape, cut(setup.a[0]), cut(setup.b[0]), setup.c[0]))


@pytest.mark.parametrize("neg", [0, 1, 2, 4, 7])
def test_double_matrix_products(machine: Machine, neg: int) -> None:
    rng = np.random.default_rng(10)
    a, b = rng.standard_normal((2, 64))
    c = rng.standard_normal((4, 64))
    for base, rows in ((10, [a]), (20, [b]), (30, c)):
        for n, row in enumerate(rows):
            machine.v[base + 2 * n], machine.v[base + 2 * n + 1] = (
                row.view(np.uint64).astype(np.uint32),
                (row.view(np.uint64) >> np.uint64(32)).astype(np.uint32),
            )

    def read(word: int, lane: int) -> float:
        return float(np.uint64(int(machine.v[60 + 2 * word, lane]) | int(machine.v[61 + 2 * word, lane]) << 32).view(np.float64))

    signs = [-1.0 if neg >> n & 1 else 1.0 for n in range(3)]
    machine.run("v_mfma_f64_16x16x4_f64", vgpr(60), [vgpr(10), vgpr(20), vgpr(30)], fmt="mai", neg=neg)
    for i in range(16):
        for j in range(16):
            word, lane = i // 4, 16 * (i % 4) + j
            total = np.longdouble(signs[2] * c[word, lane])
            for k in range(4):
                total = np.longdouble(float(np.longdouble(signs[0] * a[16 * k + i]) * np.longdouble(signs[1] * b[16 * k + j]) + total))
            assert read(word, lane) == pytest.approx(float(total), rel=1e-13)
    machine.run("v_mfma_f64_4x4x4_4b_f64", vgpr(60), [vgpr(10), vgpr(20), vgpr(30)], fmt="mai", neg=neg)
    for block in range(4):
        for i in range(4):
            for j in range(4):
                lane = 16 * i + 4 * block + j
                total = signs[2] * c[0, lane] + sum(
                    signs[0] * a[16 * k + 4 * block + i] * signs[1] * b[16 * k + 4 * block + j] for k in range(4)
                )
                assert read(0, lane) == pytest.approx(float(total), rel=1e-13)
