"""Sparse matrix instructions: two of every four k, as the index says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.emulator.alu.machine import Machine, vgpr
from tests.emulator.alu.numbers import BF8, FP8
from tests.emulator.alu.test_matrix import FORMATS, Shape, bits_for, pack, values_of

SPARSE_HALVES = ((16, 32), (32, 16), (16, 64), (32, 32))
SPARSE_BYTES = ((16, 64), (32, 32), (16, 128), (32, 64))
SPARSE = [
    *((f"v_smfmac_f32_{m}x{m}x{k}_{kind}", m, k, kind) for kind in ("f16", "bf16") for m, k in SPARSE_HALVES),
    *((f"v_smfmac_f32_{m}x{m}x{k}_{x}_{y}", m, k, f"{x}_{y}") for x in ("fp8", "bf8") for y in ("fp8", "bf8") for m, k in SPARSE_BYTES),
    *((f"v_smfmac_i32_{m}x{m}x{k}_i8", m, k, "i8") for m, k in SPARSE_BYTES),
]


@pytest.mark.parametrize(("name", "m", "k", "kind"), SPARSE)
def test_sparse_products_take_two_of_four(machine: Machine, name: str, m: int, k: int, kind: str) -> None:
    rng = np.random.default_rng(k)
    per_lane, groups = m * k // 128, 64 // m
    sets = 32 // (2 * per_lane)
    chosen = sets - 1
    integer = kind == "i8"
    pairs = FORMATS.get(kind) or tuple(FP8[950] if x == "fp8" else BF8[950] for x in (kind if not integer else "fp8_fp8").split("_"))
    lanes = [
        rng.integers(0, 256, (64, n), dtype=np.uint32) if integer else bits_for(fmt, rng, n, False)
        for n, fmt in zip((per_lane, 2 * per_lane), pairs, strict=True)
    ]
    for base, fmt, elements in zip((10, 20), pairs, lanes, strict=True):
        words = pack(elements, fmt.width)
        machine.v[base : base + len(words)] = words
    index = rng.integers(0, 1 << 32, 64, dtype=np.uint32)
    machine.v[40] = index
    count = m * m // 64
    c = (
        rng.integers(0, 1 << 32, (count, 64), dtype=np.uint32)
        if integer
        else rng.standard_normal((count, 64)).astype(np.float32).view(np.uint32)
    )
    machine.v[100 : 100 + count] = c
    machine.run(name, vgpr(100), [vgpr(10), vgpr(20), vgpr(40)], fmt="mai", arch=950, abid=chosen)
    wide: list[NDArray[np.float64]] = [
        x.astype(np.uint8).view(np.int8).astype(np.float64) if integer else values_of(fmt, x).astype(np.float64)
        for fmt, x in zip(pairs, lanes, strict=True)
    ]
    for i in range(m):
        total = np.zeros(m, np.float32) if not integer else np.zeros(m, np.int64)
        places = [Shape(m, k).place_out(0, i, j) for j in range(m)]
        raw = np.array([c[word, lane] for word, lane in places], np.uint32)
        total = raw.astype(np.int64) if integer else raw.view(np.float32).copy()
        for group in range(groups):
            lane = m * group + i
            bits = int(index[lane]) >> (chosen * 2 * per_lane)
            for element in range(per_lane):
                at = 4 * (element // 2) + (bits >> (2 * element) & 3)
                column = wide[1][m * group : m * group + m, at]
                step = wide[0][lane, element] * column
                total = total + step.astype(np.int64) if integer else total + step.astype(np.float32)
        got = np.array([machine.v[100 + word, lane] for word, lane in places], np.uint32)
        assert np.array_equal(got, total.astype(np.uint64).astype(np.uint32) if integer else total.view(np.uint32))
