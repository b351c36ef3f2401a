"""Random numbers that are the same on every machine and for every version of numpy: splitmix64 and exact arithmetic."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def seed_of(*parts: object) -> int:
    """A seed that names stand for."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "little")


class Stream:
    """A stream of random numbers."""

    def __init__(self, *parts: object) -> None:
        self._state = np.uint64(seed_of(*parts))
        self._used = 0

    def bits(self, count: int) -> npt.NDArray[np.uint64]:
        """The next ``count`` words of 64 bits."""
        with np.errstate(over="ignore"):
            z = self._state + _STEP * np.arange(self._used + 1, self._used + count + 1, dtype=np.uint64)
            z = (z ^ (z >> np.uint64(30))) * _FIRST
            z = (z ^ (z >> np.uint64(27))) * _SECOND
        self._used += count
        return z ^ (z >> np.uint64(31))

    def below(self, limit: int, count: int) -> npt.NDArray[np.int64]:
        """Integers from 0 to ``limit`` - 1."""
        return ((self.bits(count) >> np.uint64(32)).astype(np.int64) * limit) >> 32

    def integer(self, low: int, high: int) -> int:
        """One integer from ``low`` to ``high``, both included."""
        return low + int(self.below(high - low + 1, 1)[0])

    def places(self, limit_bits: int, shape: tuple[int, ...]) -> npt.NDArray[np.uint16]:
        """Integers of up to 16 bits, four from each word."""
        count = int(np.prod(shape))
        parts = self.bits(-(-count // 4)).view(np.uint16)[:count]
        return (parts >> np.uint16(16 - limit_bits)).reshape(shape)

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """The integers below ``count`` in random order."""
        return np.argsort(self.bits(count), kind="stable").astype(np.int64)


@cache
def normal_table() -> Float64:
    """65536 nearly normal numbers of mean 0 and variance 1: sums of the four 16-bit parts of a word."""
    parts = Stream("normal").bits(1 << 16).view(np.uint16).reshape(-1, 4).astype(np.int64).sum(axis=1) - 131070
    return np.asarray(parts * (1.0 / 37837.0))
