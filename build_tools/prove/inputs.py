"""Makes the tensors of a case: lengths, page ids, q and KV with poison where nothing may be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from . import numbers
from .case import QK_DIM, Case, Recipe
from .planner import Index
from .pool import MakeMemory, Places, draw, format_of, make_pool, page_bytes
from .random_bits import Float64, Stream

Bits = npt.NDArray[Any]
STALE_INDEX: Final = 0x7FFFFFF0
"""A page id that no pool has: following it is a fault."""


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


def make(case: Case, recipe: Recipe, fp8: str, make_kv: MakeMemory) -> Inputs:
    """All tensors of a case. ``make_kv`` gives zeroed memory for the KV pool, which may span more than there is memory."""
    index = index_of(case)
    stream = Stream("inputs", case.seed, case.values)
    groups = -(-case.heads // recipe.heads)
    q_format = format_of(recipe.q_dtype, fp8)
    tokens = int(index.qo_indptr[-1])
    q = draw(stream, case.values, "q", q_format, (tokens, groups * recipe.heads, QK_DIM))
    lists, entries = _lists(case, index)
    ids, pages_of_pool = page_ids(case, sum(pages for _, pages, _ in lists), page_bytes(recipe.kv_dtype, case.page_size, fp8))
    pool = make_pool(make_kv, pages_of_pool, case.page_size, recipe.kv_dtype, fp8)
    pool.poison(case.poison, case.values, _unused(case, pages_of_pool, ids))
    pool.draw(stream, case.values, np.unique(ids))
    kv_indices = np.full(entries + case.index_slack, STALE_INDEX, np.int32)
    keys, tails = [], []
    place = 0
    for begin, pages, count in lists:
        own = ids[place : place + pages]
        place += pages
        kv_indices[begin : begin + pages] = own
        keys.append(pool.keys(own)[:count])
        if count % case.page_size and case.layout != "repeated":
            tails.append((int(own[-1]), count % case.page_size))
    for page, filled in tails:
        pool.poison(case.poison, case.values, page, filled)
    sm_scale = case.sm_scale or float(np.float32(QK_DIM**-0.5))
    return Inputs(index, kv_indices, q, pool.memory, numbers.decode(q, q_format), tuple(keys), sm_scale)


def _unused(case: Case, pages: int, ids: Places) -> Places:
    """Pages that no request uses. Of a pool too large to fill, those beside the used ones and the first."""
    if not case.layout.startswith("span"):
        return np.setdiff1d(np.arange(pages), ids)
    wanted = np.unique(np.concatenate([[0], ids - 1, ids + 1]))
    return wanted[(wanted >= 0) & (wanted < pages)]


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
