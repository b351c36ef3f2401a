"""Number formats against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from build_tools.prove import numbers


@pytest.mark.parametrize(("dtype", "pattern", "value"), [
    ("e4m3fn", 0x7E, 448.0), ("e4m3fn", 0x01, 2.0**-9), ("e4m3fn", 0x38, 1.0), ("e4m3fn", 0xB8, -1.0), ("e4m3fn", 0x08, 2.0**-6),
    ("e4m3fnuz", 0x7F, 240.0), ("e4m3fnuz", 0x01, 2.0**-10), ("e4m3fnuz", 0x40, 1.0), ("e4m3fnuz", 0xC0, -1.0), ("e4m3fnuz", 0x08, 2.0**-7),
    ("bf16", 0x3F80, 1.0), ("bf16", 0xC000, -2.0), ("bf16", 0x0001, 2.0**-133),
])  # fmt: skip
def test_a_pattern_has_its_value(dtype: str, pattern: int, value: float) -> None:
    assert numbers.decode(np.array([pattern], numbers.storage(dtype)), dtype)[0] == value


@pytest.mark.parametrize(("dtype", "patterns"), [("e4m3fn", [0x7F, 0xFF]), ("e4m3fnuz", [0x80])])
def test_the_only_nans_are_those_of_the_format(dtype: str, patterns: list[int]) -> None:
    values = numbers.decode(np.arange(256, dtype=np.uint8), dtype)
    assert np.flatnonzero(np.isnan(values)).tolist() == patterns


@pytest.mark.parametrize("dtype", numbers.DTYPES)
def test_every_finite_number_comes_back(dtype: str) -> None:
    count = 65536 if dtype == "bf16" else 256
    bits = np.arange(count).astype(numbers.storage(dtype))
    values = numbers.decode(bits, dtype)
    kept = np.isfinite(values) & (values != 0)
    assert (numbers.encode(values[kept], dtype) == bits[kept]).all()


@pytest.mark.parametrize("dtype", numbers.DTYPES)
def test_encoding_takes_the_nearest_number(dtype: str) -> None:
    values = np.random.default_rng(1).standard_normal(2000) * np.exp2(np.random.default_rng(2).integers(-8, 7, 2000))
    everything = numbers.decode(np.arange(65536 if dtype == "bf16" else 256).astype(numbers.storage(dtype)), dtype)
    everything = everything[np.isfinite(everything)]
    got = numbers.decode(numbers.encode(values, dtype), dtype)
    for value, found in zip(values[:200], got[:200], strict=True):
        assert abs(found - value) == np.abs(everything - value).min()


@pytest.mark.parametrize("dtype", numbers.DTYPES)
def test_numbers_beyond_the_format_are_its_largest(dtype: str) -> None:
    got = numbers.decode(numbers.encode(np.array([1e39, -1e39]), dtype), dtype)
    assert got.tolist() == [numbers.LARGEST[dtype], -numbers.LARGEST[dtype]]


def test_small_negative_numbers_are_not_nan_where_there_is_no_negative_zero() -> None:
    assert numbers.encode(np.array([-1e-9]), "e4m3fnuz").tolist() == [0]
