"""Schedule, a kernel played on its items, reduce, rows without keys: against attention in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as profile

from tests.planner.library import Batch, Planner, Settings
from tests.planner.model import Float64, attention, stage1
from tests.planner.problems import problems
from tests.planner.test_coverage import REPORTED

DIM = 8


def inputs(wanted: Settings, batch: Batch, seed: int) -> tuple[Float64, Float64, Float64]:
    random = np.random.default_rng(seed)
    tokens = sum(batch.q_lens)
    lists = tokens * -(-wanted.top_k // wanted.page_size) if wanted.top_k >= 0 else 0
    places = max(int(batch.kv_indptr[-1]), lists) * wanted.page_size
    q = random.standard_normal((tokens, wanted.groups * wanted.kernel_heads, DIM))
    return q, random.standard_normal((places, DIM)), random.standard_normal((places, DIM))


def decode(planner: Planner, wanted: Settings, batch: Batch, seed: int) -> tuple[Float64, Float64, Float64, Float64]:
    """Got and expected output and LSE."""
    q, k, v = inputs(wanted, batch, seed)
    made = planner.schedule(wanted, batch)
    out = np.full(q.shape, np.nan, np.float32)
    lse = np.full(q.shape[:2], np.nan, np.float32)
    partial_out, partial_lse = stage1(wanted, batch, made, q, k, v, out)
    least = 1 if wanted.partial_always else 2
    planner.reduce(made, partial_out, partial_lse, out, lse, groups=wanted.groups, least_parts=least)
    planner.empty_rows(batch, out, lse, causal=wanted.causal)
    expected = attention(wanted, batch, q, k, v)
    return out.astype(np.float64), lse.astype(np.float64), *expected


def check(planner: Planner, wanted: Settings, batch: Batch, seed: int = 0) -> None:
    out, lse, expected, expected_lse = decode(planner, wanted, batch, seed)
    np.testing.assert_allclose(out, expected, rtol=0, atol=2e-6)
    if wanted.partial_always:
        np.testing.assert_allclose(lse, expected_lse, rtol=0, atol=2e-6)


@profile(max_examples=150)
@given(problem=problems())
@example(problem=REPORTED)
def test_any_problem(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    check(planner, *problem)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("q_len", [1, 2, 4, 5, 6, 7, 8, 9, 16])
@pytest.mark.parametrize("fold", ["tokens", "one token", "heads"])
def test_every_fold_under_both_masks(planner: Planner, fold: str, q_len: int, causal: bool) -> None:
    wanted = Settings(q_len=q_len, heads=2, kernel_heads=2, causal=causal, workgroups=20, partial_always=True)
    if fold != "tokens":
        wanted = wanted.but(one_token_items=True)
    if fold == "heads":
        wanted = wanted.but(heads=6, virtual_batches=True)
    check(planner, wanted, Batch((q_len, q_len, q_len), (1024, 300, 1)))
    check(planner, wanted, Batch((q_len, 0, 1, max(q_len - 1, 1)), (40, 9, 700, 0)))


@pytest.mark.parametrize("keys", [(512,), (1024,) * 4, (2048,) * 16])
def test_shapes_of_the_page_1_report(planner: Planner, keys: tuple[int, ...]) -> None:
    wanted = Settings(q_len=1, heads=8, kernel_heads=2, one_token_items=True, virtual_batches=True, mask=2, workgroups=304)
    check(planner, wanted, Batch((1,) * len(keys), keys))


@pytest.mark.parametrize("mask", [0, 1, 2])
@pytest.mark.parametrize("causal", [True, False])
def test_rows_without_keys_are_zero_and_minus_infinity(planner: Planner, mask: int, causal: bool) -> None:
    wanted = Settings(q_len=4, heads=1, kernel_heads=1, mask=mask, causal=causal, one_token_items=mask == 2, partial_always=True)
    out, lse, *_ = decode(planner, wanted, Batch((4, 4), (0, 2)), 1)
    empty = 4 + (2 if causal else 0)
    assert not out[:empty].any()
    assert (lse[:empty] == -np.inf).all()
    assert out[empty:].all()
    assert np.isfinite(lse[empty:]).all()


def test_padded_heads_are_not_written(planner: Planner) -> None:
    wanted = Settings(q_len=2, heads=3, kernel_heads=2, one_token_items=True, virtual_batches=True, partial_always=True, workgroups=7)
    batch = Batch((2, 1), (90, 40))
    q, k, v = inputs(wanted, batch, 3)
    made = planner.schedule(wanted, batch)
    padded = np.full(q.shape, np.nan, np.float32)
    partial_out, partial_lse = stage1(wanted, batch, made, q, k, v, padded)
    assert np.isnan(padded).all()
    out = np.full((3, 3, DIM), np.nan, np.float32)
    lse = np.full((3, 3), np.nan, np.float32)
    planner.reduce(made, partial_out, partial_lse, out, lse, groups=2, least_parts=1)
    expected, expected_lse = attention(wanted, batch, q, k, v)
    np.testing.assert_allclose(out, expected[:, :3], rtol=0, atol=2e-6)
    np.testing.assert_allclose(lse, expected_lse[:, :3], rtol=0, atol=2e-6)
