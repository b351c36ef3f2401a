"""Makes the tensors of a case: lengths, page ids, q and KV with poison where nothing may be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from . import numbers
from .case import QK_DIM, Case, Recipe
from .planner import Index
from .random_bits import Float64, Stream, normal_table

Bits = npt.NDArray[Any]
MakeKv = Callable[[tuple[int, ...], npt.DTypeLike], Bits]
STALE_INDEX: Final = 0x7FFFFFF0
"""A page id that no pool has: following it is a fault."""

_QUERY_SIZE: Final = {"tiny": 2.0**-6, "huge": 24.0, "flat": 0.0}
_KEY_SIZE: Final = {"tiny": 2.0**-6, "huge": 16.0}
"""Size of numbers of a kind where it is not 1. ``huge``: scores far beyond what exp takes, so that one key has all the weight.
``flat``: all keys of a request alike in score, so that the softmax is an average."""
_LARGE: Final = {"bf16": 3.0e4, "e4m3fnuz": 240.0, "e4m3fn": 448.0}


@dataclass(frozen=True)
class Inputs:
    """Tensors of a case as bits, and what their numbers are."""

    index: Index
    kv_indices: npt.NDArray[np.int32]
    q: Bits
    kv: Bits
    q_values: Float64
    keys: tuple[Float64, ...]
    """Rows of each request's keys in order; of each query token's in sparse work."""
    sm_scale: float


def format_of(dtype: str, fp8: str) -> str:
    """``bf16``, or the arch's float8 format for ``fp8``."""
    return fp8 if dtype == "fp8" else dtype


@cache
def _table(kind: str, role: str, dtype: str) -> Bits:
    """The 65536 bit patterns that inputs of a kind are drawn from. q and keys are of size 1, or what the kind says."""
    values = normal_table()
    if kind == "outlier":
        values = np.where(np.arange(len(values)) % 256 == 0, values * 16.0, values)
    values = values * (_QUERY_SIZE if role == "q" else _KEY_SIZE).get(kind, 1.0)
    return numbers.encode(values, dtype)


def _draw(stream: Stream, kind: str, role: str, dtype: str, shape: tuple[int, ...]) -> Bits:
    return np.asarray(_table(kind, role, dtype)[stream.places(16, shape)])


def page_ids(case: Case, pages: int, page_bytes: int) -> tuple[npt.NDArray[np.int64], int]:
    """Ids of all pages in order, and the pages of the pool. Page 0 is used only by ``packed`` and ``reversed``."""
    stream = Stream("pages", case.seed, case.layout)
    if case.layout == "packed":
        return np.arange(pages), pages + case.page_slack
    if case.layout == "reversed":
        return np.arange(pages)[::-1].copy(), pages + case.page_slack
    if case.layout == "repeated":
        # Two requests may share pages, and one page may occur twice in a request.
        distinct = max(1, pages // 2)
        return 1 + stream.below(distinct, pages), 1 + distinct + case.page_slack
    if case.layout in ("span_2g", "span_4g"):
        span = (5 << 30) // 2 if case.layout == "span_2g" else (9 << 30) // 2
        total = -(-span // page_bytes)
        step = max(1, (total - 2) // max(1, pages))
        ids = total - 1 - step * np.arange(pages, dtype=np.int64)
        return ids[stream.permutation(pages)], total
    return 1 + stream.permutation(pages + case.page_slack)[:pages], pages + case.page_slack + 1


def index_of(case: Case) -> Index:
    """The index tensors. A request without keys has no page; its last page length is 0."""
    pages = [-(-keys // case.page_size) for keys in case.kv_lens]
    last = [(keys - 1) % case.page_size + 1 if keys else 0 for keys in case.kv_lens]
    return Index(
        np.concatenate([[0], np.cumsum(case.q_lens)]).astype(np.int32),
        np.concatenate([[0], np.cumsum(pages)]).astype(np.int32),
        np.array(last, np.int32),
    )


def make(case: Case, recipe: Recipe, fp8: str, make_kv: MakeKv) -> Inputs:
    """All tensors of a case. ``make_kv`` gives zeroed memory for the KV pool, which may span more than there is memory."""
    index = index_of(case)
    stream = Stream("inputs", case.seed, case.values)
    groups = -(-case.heads // recipe.heads)
    q_format, kv_format = format_of(recipe.q_dtype, fp8), format_of(recipe.kv_dtype, fp8)
    tokens = int(index.qo_indptr[-1])
    q = _draw(stream, case.values, "q", q_format, (tokens, groups * recipe.heads, QK_DIM))
    lists, entries = _lists(case, index)
    ids, pool = page_ids(case, sum(pages for _, pages, _ in lists), case.page_size * QK_DIM * numbers.ITEM_BYTES[kv_format])
    kv = make_kv((pool, case.page_size, QK_DIM), numbers.storage(kv_format))
    _poison(case, kv, kv_format, ids)
    used = np.unique(ids)
    kv[used] = _draw(stream, case.values, "kv", kv_format, (len(used), case.page_size, QK_DIM))
    kv_indices = np.full(entries + case.index_slack, STALE_INDEX, np.int32)
    keys, tails = [], []
    place = 0
    for begin, pages, count in lists:
        own = ids[place : place + pages]
        place += pages
        kv_indices[begin : begin + pages] = own
        keys.append(numbers.decode(kv[own].reshape(-1, QK_DIM)[:count], kv_format))
        if count % case.page_size and case.layout != "repeated":
            tails.append((int(own[-1]), count % case.page_size))
    for page, filled in tails:
        kv[page, filled:] = _poison_row(case.poison, case.values, kv_format)
    sm_scale = case.sm_scale or float(np.float32(QK_DIM**-0.5))
    return Inputs(index, kv_indices, q, kv, numbers.decode(q, q_format), tuple(keys), sm_scale)


def _lists(case: Case, index: Index) -> tuple[list[tuple[int, int, int]], int]:
    """Where in ``kv_indices`` each list of pages begins, its pages and its keys; and the entries of ``kv_indices``.

    A request has a list, or in sparse work each query token: of as many of the keys it sees as the list has room for.
    """
    if case.top_k < 0:
        begins = index.kv_indptr.tolist()
        spans = zip(begins[:-1], begins[1:], case.kv_lens, strict=True)
        return [(begin, end - begin, keys) for begin, end, keys in spans], begins[-1]
    room = -(-case.top_k // case.page_size)
    lists: list[tuple[int, int, int]] = []
    for q_len, keys in zip(case.q_lens, case.kv_lens, strict=True):
        for token in range(q_len):
            seen = keys - (q_len - 1 - token) if case.causal else keys
            count = max(0, min(seen, room * case.page_size))
            lists.append((len(lists) * room, -(-count // case.page_size), count))
    return lists, len(lists) * room


@cache
def _poison_row(kind: str, values: str, dtype: str) -> Bits:
    """A row that nobody may count: as another request's key may be (``finite``), as large as the format has (``large``), or NaN."""
    if kind == "nan":
        return np.full(QK_DIM, numbers.NAN_BITS[dtype], numbers.storage(dtype))
    signs = Stream("poison").places(1, (QK_DIM,)).astype(np.float64) * 2.0 - 1.0
    return numbers.encode(signs * (_LARGE[dtype] if kind == "large" else 1.5 * _KEY_SIZE.get(values, 1.0)), dtype)


def _poison(case: Case, kv: Bits, dtype: str, ids: npt.NDArray[np.int64]) -> None:
    """Fills pages that no request uses. Of a pool too large to fill, those beside the used ones and the first."""
    if case.layout.startswith("span"):
        wanted = np.unique(np.concatenate([[0], ids - 1, ids + 1]))
        wanted = wanted[(wanted >= 0) & (wanted < len(kv))]
    else:
        wanted = np.setdiff1d(np.arange(len(kv)), ids)
    kv[wanted] = _poison_row(case.poison, case.values, dtype)
