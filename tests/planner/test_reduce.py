"""The merges: order, rounding, sums that are zero, and what is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from tests.planner.library import BF16, FP16, FP32, Batch, Float32, Int32, Planner, PlannerError, Schedule

INF = np.inf


def plan_of(indptr: Sequence[int], final: Sequence[tuple[int, int]], partial: Sequence[int]) -> Schedule:
    def words(values: object) -> Int32:
        return np.array(values, np.int32)

    empty = words([])
    return Schedule(np.zeros(2, np.uint64), empty, empty, words(indptr), words(final).reshape(-1, 2), words(partial))


def merge(planner: Planner, out_parts: npt.ArrayLike, lse_parts: npt.ArrayLike, *, dtype: int = FP32) -> tuple[npt.NDArray[Any], float]:
    """One row of one head from its parts."""
    values = np.asarray(out_parts, np.float32).reshape(len(np.atleast_1d(lse_parts)), 1, -1)
    lse = np.asarray(lse_parts, np.float32).reshape(-1, 1)
    out = np.zeros((1, 1, values.shape[2]), np.float32 if dtype == FP32 else np.uint16)
    final = np.zeros((1, 1), np.float32)
    count = len(values)
    planner.reduce(plan_of([0, count], [(0, 1)], range(count)), values, lse, out, final, least_parts=1, dtype=dtype)
    return out[0, 0], float(final[0, 0])


@profile(max_examples=300)
@given(lse=st.lists(st.floats(-120, 120, width=32), min_size=1, max_size=40), seed=st.integers(0, 2**32 - 1))
def test_merge_is_the_weighted_mean(planner: Planner, lse: list[float], seed: int) -> None:
    values = np.random.default_rng(seed).standard_normal((len(lse), 5)).astype(np.float32)
    out, final = merge(planner, values, lse)
    top = max(lse)
    weights = np.exp(np.array(lse, np.float64) - top)
    np.testing.assert_allclose(out, weights @ values / weights.sum(), rtol=0, atol=3e-6)
    np.testing.assert_allclose(final, top + np.log(weights.sum()), rtol=3e-7, atol=3e-7)


@profile(max_examples=500)
@given(gap=st.floats(0, 110, width=32))
def test_exponential_is_right_down_to_the_denormals(planner: Planner, gap: float) -> None:
    # The second part's weight, seen alone: the first part's values are zero.
    out, _ = merge(planner, [[0.0], [1.0]], [0.0, -gap])
    expected = np.exp(-np.float64(np.float32(gap)))
    assert abs(float(out[0]) - expected / (1 + expected)) <= 4e-7 * expected + 1.5e-45


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 304, 1000])
def test_logarithm_of_the_number_of_equal_parts(planner: Planner, count: int) -> None:
    out, final = merge(planner, np.full((count, 2), 3.0), np.zeros(count))
    np.testing.assert_allclose(final, np.log(count), rtol=2e-7, atol=0)
    np.testing.assert_allclose(out, 3.0, rtol=1e-5)


def test_one_part_is_passed_on_unchanged(planner: Planner) -> None:
    values = np.array([0.1, -3.75e-39, 65504.0, -0.3], np.float32)
    out, final = merge(planner, values, [-17.25])
    assert out.tolist() == values.tolist()
    assert final == -17.25


def test_parts_in_their_order_give_the_same_bits_as_single_precision_steps(planner: Planner) -> None:
    random = np.random.default_rng(5)
    values = random.standard_normal((9, 512)).astype(np.float32)
    out, _ = merge(planner, values, np.zeros(9))
    expected = np.zeros(512, np.float32)
    for part in values:
        expected += np.float32(1) / np.float32(9) * part
    assert out.tolist() == expected.tolist()


def test_parts_without_keys_count_for_nothing(planner: Planner) -> None:
    out, final = merge(planner, [[np.nan], [2.0], [INF]], [-INF, 0.5, -INF])
    assert (out.tolist(), final) == ([2.0], 0.5)


def test_no_part_with_keys_gives_zero_and_minus_infinity(planner: Planner) -> None:
    out, final = merge(planner, [[np.nan], [7.0]], [-INF, -INF])
    assert (out.tolist(), final) == ([0.0], -INF)


@pytest.mark.parametrize("lse", [[np.nan, 0.0], [-INF, np.nan], [INF, 0.0]])
def test_a_wrong_lse_shows(planner: Planner, lse: list[float]) -> None:
    out, final = merge(planner, [[1.0], [1.0]], lse)
    assert np.isnan(out).all()
    assert np.isnan(final)


EDGES = [
    0.0,
    -0.0,
    1.0,
    1.00390625,
    1.01171875,
    65504.0,
    65519.0,
    65520.0,
    1e-8,
    5.9604645e-8,
    2.9802322e-8,
    2.9802326e-8,
    6.1e-5,
    3.3895e38,
]


def random_values() -> Float32:
    bits = np.random.default_rng(11).integers(0, 2**32, 400, dtype=np.uint64).astype(np.uint32)
    values = bits.view(np.float32)
    return np.concatenate([np.array([*EDGES, *(-e for e in EDGES)], np.float32), values[~np.isnan(values)]])[:400]


def test_half_output_rounds_to_nearest_even(planner: Planner) -> None:
    values = random_values()
    out, _ = merge(planner, values, [0.0], dtype=FP16)
    with np.errstate(over="ignore"):
        expected = (values + np.float32(0)).astype(np.float16)  # the sum starts at 0, so -0 becomes 0
    assert out.tolist() == expected.view(np.uint16).tolist()


def test_bfloat_output_rounds_to_nearest_even(planner: Planner) -> None:
    values = random_values()
    out, _ = merge(planner, values, [0.0], dtype=BF16)
    bits = (values + np.float32(0)).view(np.uint32).astype(np.uint64)
    expected = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [BF16, FP16])
def test_nan_stays_nan_when_rounded(planner: Planner, dtype: int) -> None:
    value = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    out, _ = merge(planner, value, [0.0], dtype=dtype)
    exponent = 0x7F80 if dtype == BF16 else 0x7C00
    assert all(int(bits) & exponent == exponent and int(bits) & ~exponent & 0x7FFF for bits in out)


def rows(count: int, heads: int, dim: int) -> tuple[Float32, Float32]:
    random = np.random.default_rng(count)
    return random.standard_normal((count, heads, dim)).astype(np.float32), random.standard_normal((count, heads)).astype(np.float32)


@pytest.mark.parametrize(("least", "written"), [(2, [2, 3]), (1, [0, 1, 2, 3])])
def test_tiles_with_fewer_parts_are_left_alone(planner: Planner, least: int, written: list[int]) -> None:
    partial_out, partial_lse = rows(6, 2, 4)
    out = np.full((5, 2, 4), np.nan, np.float32)
    lse = np.full((5, 2), np.nan, np.float32)
    planner.reduce(plan_of([0, 1, 3, 3], [(0, 2), (2, 4), (0, 0)], [0, 2, 4]), partial_out, partial_lse, out, lse, least_parts=least)
    assert [row for row in range(5) if not np.isnan(out[row]).all()] == written
    assert (np.isnan(out).any(axis=(1, 2)) == np.isnan(lse).any(axis=1)).all()


def test_the_final_lse_is_optional(planner: Planner) -> None:
    partial_out, partial_lse = rows(4, 1, 3)
    out = np.full((2, 1, 3), np.nan, np.float32)
    planner.reduce(plan_of([0, 2], [(0, 2)], [0, 2]), partial_out, partial_lse, out, None)
    assert np.isfinite(out).all()


def test_without_a_final_map_the_parts_tell_the_rows(planner: Planner) -> None:
    partial_out, partial_lse = rows(12, 1, 3)
    plan = plan_of([0, 2, 4], [(0, 3), (3, 6)], [0, 3, 6, 9])
    mapped, told = np.full((2, 6, 1, 3), np.nan, np.float32)
    planner.reduce(plan, partial_out, partial_lse, mapped, None)
    planner.reduce(plan, partial_out, partial_lse, told, None, final_map=False)
    assert mapped.tolist() == told.tolist()


@pytest.mark.parametrize(
    ("indptr", "final", "partial", "argument"),
    [
        ([0, 3], [(0, 1)], [0, 1], "reduce_indptr"),
        ([0, 2, 1], [(0, 1), (0, 1)], [0, 1], "reduce_indptr"),
        ([0, 2], [(0, 3)], [0, 1], "reduce_final_map"),
        ([0, 2], [(-1, 1)], [0, 1], "reduce_final_map"),
        ([0, 2], [(0, 2)], [0, 3], "reduce_partial_map"),
        ([0, 2], [(0, 1)], [-1, 1], "reduce_partial_map"),
    ],
)
def test_a_map_that_leads_outside_is_refused_before_any_write(
    planner: Planner, indptr: list[int], final: list[tuple[int, int]], partial: list[int], argument: str
) -> None:
    partial_out, partial_lse = rows(4, 1, 3)
    out = np.full((2, 1, 3), 9.0, np.float32)
    with pytest.raises(PlannerError) as caught:
        planner.reduce(plan_of(indptr, final, partial), partial_out, partial_lse, out, None)
    assert caught.value.args[1] == argument
    assert (out == 9.0).all()


def split_batch(planner: Planner, splits: int, batch: Batch) -> tuple[Float32, Float32, Int32]:
    partial_out, partial_lse = rows(sum(batch.q_lens) * splits, 2, 4)
    tokens = sum(batch.q_lens)
    return (
        partial_out.reshape(tokens, splits, 2, 4),
        partial_lse.reshape(tokens, splits, 2),
        planner.split_indptr(len(batch.q_lens), splits),
    )


def test_splits_are_merged_for_each_token(planner: Planner) -> None:
    batch = Batch((2, 0, 1), (100, 5, 33))
    values, lse, indptr = split_batch(planner, 3, batch)
    assert indptr.tolist() == [0, 3, 6, 9]
    out, final = np.full((3, 2, 4), np.nan, np.float32), np.full((3, 2), np.nan, np.float32)
    planner.split_merge(batch, values, lse, indptr, out, final)
    weights = np.exp(lse.astype(np.float64))
    expected = (weights[..., None] * values).sum(axis=1) / weights.sum(axis=1)[..., None]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(final, np.log(weights.sum(axis=1)), rtol=0, atol=1e-6)


def test_splits_that_the_kernel_never_wrote_are_not_read(planner: Planner) -> None:
    batch = Batch((1, 1, 1, 1), (40, 16, 0, 200))
    values, lse, _ = split_batch(planner, 4, batch)
    indptr = np.array([0, 4, 8, 12, 14], np.int32)
    held = (3, 1, 0, 2)
    for b, count in enumerate(held):
        values[b, count:] = np.nan
        lse[b, count:] = np.nan
    out, final = np.full((4, 2, 4), np.nan, np.float32), np.full((4, 2), np.nan, np.float32)
    planner.split_merge(batch, values, lse, indptr, out, final, least_keys=16)
    assert np.isfinite(out).all()
    assert not out[2].any()
    assert (final[2] == -INF).all()
    assert out[1].tolist() == values[1, 0].tolist()


def test_tokens_of_pages_count_in_the_splits(planner: Planner) -> None:
    batch = Batch((1,), (66,), 64)
    values, lse, indptr = split_batch(planner, 4, batch)
    values[0, 3:], lse[0, 3:] = np.nan, np.nan
    out = np.full((1, 2, 4), np.nan, np.float32)
    planner.split_merge(batch, values, lse, indptr, out, None, least_keys=32)
    assert np.isfinite(out).all()


@pytest.mark.parametrize(
    ("batch", "keys", "expected"),
    [
        (1, 0, 1),
        (1, 20, 2),  # no split of fewer than 16 keys
        (1, 4096, 16),
        (80, 1000, 1),  # one round of workgroups is full
        (50, 4096, 3),  # 150 workgroups in two rounds, the second nearly full
        (1000, 64, 1),
    ],
)
def test_the_split_count_ends_earliest(planner: Planner, batch: int, keys: int, expected: int) -> None:
    choice = {"batch": batch, "tiles": 1, "workgroups": 80, "most_splits": 16, "least_keys": 16, "cost_keys": 64}
    got = planner.split_count(total_keys=batch * keys, **choice)

    def time(count: int) -> int:
        return -(-batch * count // 80) * (-(-keys // count) + 64)

    assert got == min(range(1, max(min(16, -(-keys // 16)), 1) + 1), key=time) == expected


@pytest.mark.parametrize("indptr", [[0, 0], [0, 5], [3, 1]])
def test_split_counts_outside_the_tensor_are_refused(planner: Planner, indptr: list[int]) -> None:
    batch = Batch((1,), (66,))
    values, lse, _ = split_batch(planner, 4, batch)
    with pytest.raises(PlannerError, match="num_kv_splits_indptr"):
        planner.split_merge(batch, values, lse, np.array(indptr, np.int32), np.zeros((1, 2, 4), np.float32), None)


@profile(max_examples=300)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 16), st.integers(0, 30)), max_size=5),
    world=st.integers(1, 4),
    rank=st.integers(0, 3),
    causal=st.booleans(),
)
def test_rows_without_a_key_on_this_rank_are_cleared_and_no_other(
    planner: Planner, lengths: list[tuple[int, int]], world: int, rank: int, causal: bool
) -> None:
    rank %= world
    q_lens, keys = tuple(q for q, _ in lengths), tuple(k for _, k in lengths)
    local = tuple(len(range(rank, count, world)) for count in keys)
    out = np.full((sum(q_lens) + 1, 2, 3), 5.0, np.float32)
    lse = np.full((sum(q_lens) + 1, 2), 5.0, np.float32)
    whole = Batch(q_lens, keys).kv_indptr
    planner.empty_rows(Batch(q_lens, local), out, lse, causal=causal, global_kv_indptr=whole if world > 1 else None, world=world, rank=rank)
    row = 0
    for q_len, count in lengths:
        for token in range(q_len):
            seen = max(count - (q_len - 1 - token), 0) if causal else count
            empty = len(range(rank, seen, world)) == 0
            assert (out[row] == (0.0 if empty else 5.0)).all()
            assert (lse[row] == (-INF if empty else 5.0)).all()
            row += 1
    assert (out[row] == 5.0).all()
