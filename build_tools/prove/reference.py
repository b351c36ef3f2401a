"""Attention in float64 on the numbers that the inputs' bits stand for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
V_DIM = 512


def attention(
    q: Float64,
    keys: Sequence[Float64],
    seen: Sequence[Sequence[int]],
    *,
    sm_scale: float,
    q_scale: float = 1.0,
    kv_scale: float = 1.0,
) -> tuple[Float64, Float64]:
    """Output [tokens, heads, 512] and natural-log LSE [tokens, heads].

    q: [tokens, heads, 576], requests one after another. keys: rows of each request; a value is the first 512 numbers of its key.
    seen: for each request, how many of its first keys each query token sees. A token that sees none has output 0 and LSE -inf.
    """
    tokens, heads, _ = q.shape
    out = np.zeros((tokens, heads, V_DIM))
    lse = np.full((tokens, heads), -np.inf)
    token = 0
    for rows, counts in zip(keys, seen, strict=True):
        for count in counts:
            if count > 0:
                scores = (q[token] @ rows[:count].T) * (sm_scale * q_scale * kv_scale)
                largest = scores.max(axis=1, keepdims=True)
                weights = np.exp(scores - largest)
                total = weights.sum(axis=1, keepdims=True)
                out[token] = (weights / total) @ rows[:count, :V_DIM] * kv_scale
                lse[token] = (largest + np.log(total))[:, 0]
            token += 1
    return out, lse
