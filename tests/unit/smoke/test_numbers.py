"""Numbers of the smoke requests: each format rounds to the nearest value it has, and says exactly what its bytes mean."""

from __future__ import annotations

import random

import pytest
import torch

from aiter_mla_aot.smoke.numbers import bf16_values, rounded

FORMATS = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz"]


@pytest.mark.parametrize("dtype", FORMATS)
def test_values_are_those_that_torch_reads_from_the_bytes(dtype: str) -> None:
    chance = random.Random(5)
    numbers = [chance.gauss(0, 1) * scale for scale in (1e-3, 0.02, 1, 30) for _ in range(500)] + [0.0, -0.0, 1.0, -1.0]
    made = rounded(numbers, dtype)
    read = torch.frombuffer(bytearray(made.content), dtype=getattr(torch, dtype)).double().tolist()
    assert made.values == read
    rounded_by_torch = torch.tensor(numbers, dtype=torch.float64).float().to(getattr(torch, dtype)).double().tolist()
    assert max(abs(a - b) - abs(c - b) for a, b, c in zip(read, numbers, rounded_by_torch, strict=True)) < 1e-9


@pytest.mark.parametrize("dtype", FORMATS[1:])
def test_what_is_too_large_becomes_the_largest(dtype: str) -> None:
    values = rounded([1e9, -1e9], dtype).values
    assert values[0] == -values[1] > 200


def test_bytes_that_are_no_number_are_read_as_none() -> None:
    (value,) = bf16_values(b"\xff\xff")
    assert value != value
