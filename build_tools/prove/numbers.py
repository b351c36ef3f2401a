"""Number formats of the kernels: bf16 and both float8 e4m3 formats, to and from float64."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Bits = npt.NDArray[Any]

DTYPES: Final = ("bf16", "e4m3fnuz", "e4m3fn")
ITEM_BYTES: Final = {"bf16": 2, "e4m3fnuz": 1, "e4m3fn": 1}
LARGEST: Final = {"bf16": 3.3895313892515355e38, "e4m3fnuz": 240.0, "e4m3fn": 448.0}
NAN_BITS: Final = {"bf16": 0x7FC1, "e4m3fnuz": 0x80, "e4m3fn": 0x7F}


def storage(dtype: str) -> npt.DTypeLike:
    """The unsigned integer that holds one number's bits."""
    return np.uint16 if dtype == "bf16" else np.uint8


@cache
def _float8_values(dtype: str) -> Float64:
    """Value of each of the 256 patterns. e4m3fnuz: bias 8, one NaN where -0 would be. e4m3fn: bias 7, NaN where all ones."""
    bias = 8 if dtype == "e4m3fnuz" else 7
    pattern = np.arange(256)
    exponent, mantissa = pattern >> 3 & 15, pattern & 7
    normal = np.ldexp(1.0 + mantissa / 8.0, exponent - bias)
    value = np.where(exponent == 0, np.ldexp(mantissa / 8.0, 1 - bias), normal)
    value = np.where(pattern & 128, -value, value)
    value[[0x80] if dtype == "e4m3fnuz" else [0x7F, 0xFF]] = np.nan
    return value


@cache
def _float8_ladder(dtype: str) -> tuple[Float64, npt.NDArray[np.uint8]]:
    """Non-negative values in order, and their patterns."""
    value = _float8_values(dtype)[:128]
    finite = np.flatnonzero(np.isfinite(value))
    return value[finite], finite.astype(np.uint8)


def decode(bits: Bits, dtype: str) -> Float64:
    """Values of patterns."""
    if dtype == "bf16":
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return np.asarray((bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64))
    return np.asarray(_float8_values(dtype)[bits])


def encode(values: Float64, dtype: str) -> Bits:
    """Nearest patterns; ties go to even for bf16. Beyond the largest number it is that one."""
    limit = LARGEST[dtype]
    clipped = np.clip(values, -limit, limit)
    if dtype == "bf16":
        word = clipped.astype(np.float32).view(np.uint32)
        rounded = (word + 0x7FFF + (word >> 16 & 1)) >> 16
        return rounded.astype(np.uint16)
    ladder, patterns = _float8_ladder(dtype)
    size = np.abs(clipped)
    above = np.clip(np.searchsorted(ladder, size), 1, len(ladder) - 1)
    nearest = np.where(size - ladder[above - 1] <= ladder[above] - size, above - 1, above)
    found = patterns[nearest]
    # e4m3fnuz has no negative zero: its pattern is NaN.
    return np.where((clipped < 0) & (found != 0), found | np.uint8(0x80), found).astype(np.uint8)
