"""The KV pool of a case: pages of keys in one of the formats that kernels read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from . import numbers
from .case import QK_DIM, V_DIM
from .random_bits import Float64, Stream, normal_table

Bits = npt.NDArray[Any]
Places = npt.NDArray[np.int64]
MakeMemory = Callable[[tuple[int, ...], npt.DTypeLike], Bits]

_ROPE: Final = QK_DIM - V_DIM
_SCALED: Final = 128
"""Numbers of the byte layout that share a scale."""
_SCALES: Final = V_DIM // _SCALED
_BYTES_OF_KEY: Final = V_DIM + 4 * _SCALES + 2 * _ROPE
_BLOCK_SCALES: Final = np.array([0.25, 0.5, 0.75, 1.5], np.float32)

_QUERY_SIZE: Final = {"tiny": 2.0**-6, "huge": 24.0, "flat": 0.0}
_KEY_SIZE: Final = {"tiny": 2.0**-6, "huge": 16.0}
"""Size of numbers of a kind where it is not 1. ``huge``: scores far beyond what exp takes, so that one key has all the weight.
``flat``: all keys of a request alike in score, so that the softmax is an average."""
_LARGE: Final = {"bf16": 3.0e4, "e4m3fnuz": 240.0, "e4m3fn": 448.0}


class Pool(Protocol):
    """Pages of keys. ``memory`` is what the kernel gets, [pages, ...]."""

    memory: Bits

    def draw(self, stream: Stream, kind: str, pages: Places) -> None:
        """Give pages numbers of a kind."""

    def keys(self, pages: Places) -> Float64:
        """What the bits of pages stand for, [keys, 576]."""

    def poison(self, kind: str, values: str, pages: Places | int, first: int = 0) -> None:
        """Fill keys from ``first`` on with what nobody may count: as another request's key may be, as large as the format has, or NaN."""


@cache
def _table(kind: str, role: str, dtype: str) -> Bits:
    """The 65536 bit patterns that inputs of a kind are drawn from. q and keys are of size 1, or what the kind says."""
    values = normal_table()
    if kind == "outlier":
        values = np.where(np.arange(len(values)) % 256 == 0, values * 16.0, values)
    values = values * (_QUERY_SIZE if role == "q" else _KEY_SIZE).get(kind, 1.0)
    return numbers.encode(values, dtype)


def draw(stream: Stream, kind: str, role: str, dtype: str, shape: tuple[int, ...]) -> Bits:
    """Bits of random numbers of a kind, for ``q`` or ``kv``."""
    return np.asarray(_table(kind, role, dtype)[stream.places(16, shape)])


@cache
def _poison_row(kind: str, values: str, dtype: str) -> Bits:
    """A row that nobody may count."""
    if kind == "nan":
        return np.full(QK_DIM, numbers.NAN_BITS[dtype], numbers.storage(dtype))
    signs = Stream("poison").places(1, (QK_DIM,)).astype(np.float64) * 2.0 - 1.0
    return numbers.encode(signs * (_LARGE[dtype] if kind == "large" else 1.5 * _KEY_SIZE.get(values, 1.0)), dtype)


class Rows:
    """Keys of 576 numbers of one format, one after another."""

    def __init__(self, make: MakeMemory, pages: int, page_size: int, dtype: str) -> None:
        self._dtype = dtype
        self.memory = make((pages, page_size, QK_DIM), numbers.storage(dtype))

    def draw(self, stream: Stream, kind: str, pages: Places) -> None:
        """See ``Pool``."""
        self.memory[pages] = draw(stream, kind, "kv", self._dtype, (len(pages), *self.memory.shape[1:]))

    def keys(self, pages: Places) -> Float64:
        """See ``Pool``."""
        return numbers.decode(self.memory[pages].reshape(-1, QK_DIM), self._dtype)

    def poison(self, kind: str, values: str, pages: Places | int, first: int = 0) -> None:
        """See ``Pool``."""
        self.memory[pages, first:] = _poison_row(kind, values, self._dtype)


class ByteParts:
    """AITER's three-part byte layout: a page holds its keys' 512 float8 numbers, then a float32 scale for every 128 of them, then
    their 64 bf16 numbers (op_tests/test_mla_persistent.py)."""

    def __init__(self, make: MakeMemory, pages: int, page_size: int, fp8: str) -> None:
        self._fp8 = fp8
        self.memory = make((pages, page_size * _BYTES_OF_KEY), np.uint8)
        ends = np.cumsum([page_size * V_DIM, page_size * 4 * _SCALES])
        self._nope = self.memory[:, : ends[0]].reshape(pages, page_size, V_DIM)
        self._scales = self.memory[:, ends[0] : ends[1]].view(np.float32).reshape(pages, page_size, _SCALES)
        self._rope = self.memory[:, ends[1] :].view(np.uint16).reshape(pages, page_size, _ROPE)

    def draw(self, stream: Stream, kind: str, pages: Places) -> None:
        """See ``Pool``."""
        self._nope[pages] = draw(stream, kind, "kv", self._fp8, (len(pages), *self._nope.shape[1:]))
        self._rope[pages] = draw(stream, kind, "kv", "bf16", (len(pages), *self._rope.shape[1:]))
        self._scales[pages] = _BLOCK_SCALES[stream.places(2, (len(pages), *self._scales.shape[1:]))]

    def keys(self, pages: Places) -> Float64:
        """See ``Pool``."""
        nope = numbers.decode(self._nope[pages].reshape(-1, V_DIM), self._fp8)
        scales = np.repeat(self._scales[pages].reshape(-1, _SCALES).astype(np.float64), _SCALED, axis=1)
        return np.concatenate([nope * scales, numbers.decode(self._rope[pages].reshape(-1, _ROPE), "bf16")], axis=1)

    def poison(self, kind: str, values: str, pages: Places | int, first: int = 0) -> None:
        """See ``Pool``."""
        self._nope[pages, first:] = _poison_row(kind, values, self._fp8)[:V_DIM]
        self._rope[pages, first:] = _poison_row(kind, values, "bf16")[V_DIM:]
        self._scales[pages, first:] = np.nan if kind == "nan" else 1.0


def page_bytes(kv_dtype: str, page_size: int, fp8: str) -> int:
    """Bytes of a page."""
    return page_size * (_BYTES_OF_KEY if kv_dtype == "byte" else QK_DIM * numbers.ITEM_BYTES[format_of(kv_dtype, fp8)])


def make_pool(make: MakeMemory, pages: int, page_size: int, kv_dtype: str, fp8: str) -> Pool:
    """A pool of zeros in the memory that ``make`` gives."""
    if kv_dtype == "byte":
        return ByteParts(make, pages, page_size, fp8)
    return Rows(make, pages, page_size, format_of(kv_dtype, fp8))


def format_of(dtype: str, fp8: str) -> str:
    """``bf16``, or the arch's float8 format for ``fp8``."""
    return fp8 if dtype == "fp8" else dtype
