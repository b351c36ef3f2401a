"""The reference against attention written out."""

from __future__ import annotations

import numpy as np
import pytest

from build_tools.prove.case import Case
from build_tools.prove.reference import attention

RANDOM = np.random.default_rng(0)


def written_out(q: np.ndarray, rows: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
    weights = [np.exp(float(np.dot(q, row)) * scale) for row in rows]
    total = sum(weights)
    return sum(weight * row[:512] for weight, row in zip(weights, rows, strict=True)) / total, float(np.log(total))


@pytest.mark.parametrize("causal", [True, False])
def test_every_token_sees_its_keys(causal: bool) -> None:
    q_lens, counts = (3, 1, 2), (5, 1, 9)
    q = RANDOM.standard_normal((6, 2, 576))
    keys = [RANDOM.standard_normal((count, 576)) for count in counts]
    case = Case(2, q_lens, counts, causal=causal)
    out, lse = attention(q, keys, [case.seen(request) for request in range(3)], sm_scale=0.04)
    token = 0
    for rows, q_len in zip(keys, q_lens, strict=True):
        for place in range(q_len):
            seen = rows[: len(rows) - (q_len - 1 - place)] if causal else rows
            for head in range(2):
                expected, expected_lse = written_out(q[token, head], seen, 0.04)
                np.testing.assert_allclose(out[token, head], expected, atol=1e-12)
                assert lse[token, head] == pytest.approx(expected_lse, abs=1e-12)
            token += 1


def test_scales_are_factors_of_scores_and_values() -> None:
    q, rows = RANDOM.standard_normal((1, 1, 576)), RANDOM.standard_normal((4, 576))
    out, lse = attention(q, [rows], [(4,)], sm_scale=0.04, q_scale=0.5, kv_scale=3.0)
    expected, expected_lse = attention(q * 0.5, [rows * 3.0], [(4,)], sm_scale=0.04)
    np.testing.assert_allclose(out, expected, atol=1e-12)
    np.testing.assert_allclose(lse, expected_lse, atol=1e-12)


def test_tokens_without_keys_are_zero_and_minus_infinity() -> None:
    q = RANDOM.standard_normal((4, 1, 576))
    out, lse = attention(q, [np.zeros((0, 576)), RANDOM.standard_normal((1, 576))], [(0,), (-1, 0, 1)], sm_scale=1.0)
    assert not out[:3].any()
    assert (lse[:3] == -np.inf).all()
    assert out[3].any()


def test_scores_beyond_what_exp_takes_stay_finite() -> None:
    q, rows = np.full((1, 1, 576), 100.0), RANDOM.standard_normal((8, 576)) * 100.0
    out, lse = attention(q, [rows], [(8,)], sm_scale=1.0)
    best = int((rows.sum(axis=1)).argmax())
    np.testing.assert_allclose(out[0, 0], rows[best, :512], atol=1e-2)
    assert np.isfinite(lse).all()
