"""Number formats of the kernels in plain Python: bf16 and both kinds of float8 e4m3, and rows of them."""

from __future__ import annotations

import math
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

BIAS: Final = {"float8_e4m3fnuz": 8, "float8_e4m3fn": 7}
"""Exponent bias of each float8."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """Numbers as a format holds them: the bytes, and the exact values these stand for."""

    content: bytes
    values: list[float]


def rounded(numbers: Iterable[float], dtype: str) -> Rounded:
    """Numbers rounded to ``bfloat16`` or a float8."""
    if dtype == "bfloat16":
        patterns = array("H", map(_bf16_pattern, numbers))
        return Rounded(patterns.tobytes(), bf16_values(patterns.tobytes()))
    table = [_float8_value(code, dtype) for code in range(128)]
    codes = bytes(_float8_pattern(number, dtype) for number in numbers)
    return Rounded(codes, [table[code] if code < 128 else -table[code - 128] for code in codes])


def bf16_values(content: bytes) -> list[float]:
    """The values of bf16 bytes."""
    halves = array("H", content)
    words = array("I", [pattern << 16 for pattern in halves])
    return list(array("f", words.tobytes()))


def _bf16_pattern(number: float) -> int:
    word: int = struct.unpack("<I", struct.pack("<f", number))[0]
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16


def _float8_value(code: int, dtype: str) -> float:
    exponent, mantissa = code >> 3, code & 7
    return math.ldexp(8 + mantissa if exponent else mantissa, max(exponent, 1) - BIAS[dtype] - 3)


@cache
def _ladder(dtype: str) -> list[float]:
    # The largest code of e4m3fn is NaN; one code less of both loses nothing here.
    return [_float8_value(code, dtype) for code in range(127)]


def _float8_pattern(number: float, dtype: str) -> int:
    ladder = _ladder(dtype)
    size = min(abs(number), ladder[-1])
    above = bisect_left(ladder, size)
    code = above - 1 if above > 0 and size - ladder[above - 1] < ladder[above] - size else above
    # e4m3fnuz has no negative zero: its pattern is NaN.
    return code | 0x80 if number < 0 and code else code
