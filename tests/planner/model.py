"""What schedules must mean, told without the planner's own arithmetic: visible keys, what an item shows, attention in float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.planner.library import ITEM, NONE, REQUEST, Batch, Schedule, Settings

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Shown:
    """Key places [begin, end) that one row of the kernel sees in one item. A place is page entry * page size + offset."""

    row: int
    token: int  # of all query tokens
    group: int
    begin: int
    end: int
    partial_row: int


def request_of(batch: Batch, token: int) -> int:
    return int(np.searchsorted(batch.qo_indptr, token, side="right")) - 1


def visible(settings: Settings, batch: Batch, token: int) -> int:
    """Keys that a query token (counted over the whole batch) sees."""
    b = request_of(batch, token)
    after = int(batch.qo_indptr[b + 1]) - 1 - token
    keys = batch.kv_lens[b] - (after if settings.causal else 0)
    if settings.top_k >= 0:
        keys = min(keys, list_pages(settings) * settings.page_size)
    return max(keys, 0)


def list_pages(settings: Settings) -> int:
    return -(-settings.top_k // settings.page_size)


def first_place(settings: Settings, batch: Batch, token: int) -> int:
    """Place of the first key of a query token."""
    if settings.top_k >= 0:
        return token * list_pages(settings) * settings.page_size
    return int(batch.kv_indptr[request_of(batch, token)]) * settings.page_size


def keys_in_list(settings: Settings, batch: Batch, token: int) -> int:
    keys = batch.kv_lens[request_of(batch, token)]
    return min(keys, list_pages(settings) * settings.page_size) if settings.top_k >= 0 else keys


def shown(settings: Settings, batch: Batch, schedule: Schedule) -> list[Shown]:
    """What a kernel shows to each row of each item."""
    out = []
    for item in schedule.rows.tolist():
        index, partial, q_begin, q_end, kv_begin, kv_end, kv_offset, pad = item
        assert pad == 0
        assert q_begin < q_end
        for row in range(q_begin, q_end):
            token, group = divmod(row, settings.groups)
            b = request_of(batch, token)
            assert index == (q_begin if settings.virtual_batches else b)
            base = first_place(settings, batch, token)
            scale = 1 if settings.kv_in_tokens else settings.page_size
            begin = kv_begin * scale
            end = min(kv_end * scale, base + keys_in_list(settings, batch, token))
            if settings.mask != NONE:
                place, count = (row - q_begin, q_end - q_begin) if settings.mask == ITEM else (token - batch.qo_indptr[b], batch.q_lens[b])
                end = min(end, end + kv_offset - int(count - 1 - place))
            out.append(Shown(row, token, group, begin, max(begin, end), partial + row - q_begin if partial >= 0 else -1))
    return out


def attention(settings: Settings, batch: Batch, q: Float64, k: Float64, v: Float64) -> tuple[Float64, Float64]:
    """Output [tokens, heads, dim] and LSE [tokens, heads] of q [tokens, heads, dim] over keys by place."""
    tokens, heads, _ = q.shape
    out = np.zeros((tokens, heads, v.shape[1]))
    lse = np.full((tokens, heads), -np.inf)
    for token in range(tokens):
        count = visible(settings, batch, token)
        if count:
            begin = first_place(settings, batch, token)
            out[token], lse[token] = weigh(q[token], k[begin : begin + count], v[begin : begin + count])
    return out, lse


def weigh(q: Float64, k: Float64, v: Float64) -> tuple[Float64, Float64]:
    scores = q @ k.T
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=1, keepdims=True)
    return (weights @ v) / total, (top + np.log(total))[:, 0]


def stage1(
    settings: Settings, batch: Batch, schedule: Schedule, q: Float64, k: Float64, v: Float64, out: Float32
) -> tuple[Float32, Float32]:
    """Plays the kernel: writes unsplit rows to ``out`` [tokens, heads, dim], returns the partial buffers, NaN where not written."""
    width = settings.kernel_heads
    partial_out = np.full((schedule.partial_rows, width, v.shape[1]), np.nan, np.float32)
    partial_lse = np.full((schedule.partial_rows, width), np.nan, np.float32)
    rows_q = q.reshape(-1, width, q.shape[2])
    rows_out = out.reshape(-1, width, out.shape[2])
    for part in shown(settings, batch, schedule):
        if part.begin == part.end:
            continue  # a token that sees nothing: whatever the kernel writes must not matter
        value, lse = weigh(rows_q[part.row], k[part.begin : part.end], v[part.begin : part.end])
        if part.partial_row < 0:
            rows_out[part.row] = value
        else:
            partial_out[part.partial_row] = value
            partial_lse[part.partial_row] = lse
    return partial_out, partial_lse


__all__ = ["ITEM", "NONE", "REQUEST", "Shown", "attention", "first_place", "shown", "stage1", "visible", "weigh"]
