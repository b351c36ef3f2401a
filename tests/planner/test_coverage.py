"""Every visible (token, key) is covered once, whatever the fold, mask, lengths, pages and workgroups."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as profile

from tests.planner.library import ITEM, NONE, REQUEST, Batch, Planner, Settings
from tests.planner.model import Shown, first_place, shown, visible
from tests.planner.problems import problems

REPORTED = (Settings(q_len=5, causal=False, workgroups=256), Batch((5, 5), (1024, 1024)))
"""ROCm/aiter#4752: 16 heads, page 1, five query tokens on a kernel that takes four."""


def by_row(found: list[Shown]) -> dict[tuple[int, int], list[Shown]]:
    rows = defaultdict(list)
    for part in found:
        rows[part.token, part.group].append(part)
    return rows


@profile(max_examples=250)
@given(problem=problems())
@example(problem=REPORTED)
def test_every_visible_key_of_every_row_is_covered_once(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    rows = by_row(shown(wanted, batch, planner.schedule(wanted, batch)))
    for token in range(sum(batch.q_lens)):
        count = visible(wanted, batch, token)
        begin = first_place(wanted, batch, token)
        for group in range(wanted.groups):
            parts = sorted((part.begin, part.end) for part in rows.pop((token, group), []))
            if count == 0:
                assert all(first == end for first, end in parts)
                continue
            # Sorted, gapless, each with a key: a partition of the visible range.
            assert [first for first, _ in parts] == [begin, *(end for _, end in parts[:-1])]
            assert parts[-1][1] == begin + count
            assert all(first < end for first, end in parts)
    assert not rows


@profile(max_examples=100)
@given(problem=problems())
def test_unseeing_tokens_are_in_no_item_of_a_kernel_that_masks_by_item(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    wanted = wanted.but(mask=ITEM if wanted.mask == REQUEST else wanted.mask, min_tokens=1)
    for part in shown(wanted, batch, planner.schedule(wanted, batch)):
        assert part.begin < part.end


@profile(max_examples=100)
@given(problem=problems())
def test_items_read_only_entries_of_their_own_list(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    scale = wanted.page_size if wanted.kv_in_tokens else 1
    for index, _, q_begin, q_end, kv_begin, kv_end, _, _ in planner.schedule(wanted, batch).rows.tolist():
        token = q_begin // wanted.groups
        b = int(np.searchsorted(batch.qo_indptr, token, side="right")) - 1
        first = first_place(wanted, batch, token) // wanted.page_size
        assert first * scale <= kv_begin < kv_end
        assert kv_end <= (first + batch.pages[b]) * scale
        assert (kv_begin - first * scale) % (wanted.kv_granularity * scale) == 0
        assert q_end - q_begin <= wanted.tokens
        assert 0 <= index < max(len(batch.q_lens), sum(batch.q_lens) * wanted.groups)


def items(planner: Planner, wanted: Settings, batch: Batch) -> list[list[int]]:
    return [list(row) for row in planner.schedule(wanted, batch).rows.tolist()]


@pytest.mark.parametrize("causal", [True, False])
def test_five_tokens_on_a_kernel_of_four(planner: Planner, causal: bool) -> None:
    got = items(planner, Settings(q_len=5, causal=causal, workgroups=1), Batch((5,), (100,)))
    assert got == [[0, -1, 0, 4, 0, 99 if causal else 100, 0 if causal else 3, 0], [0, -1, 4, 5, 0, 100, 0, 0]]


def test_pieces_that_end_early_are_offset_by_the_rest(planner: Planner) -> None:
    wanted = Settings(q_len=4, workgroups=2, kv_granularity=16)
    assert items(planner, wanted, Batch((4,), (67,))) == [[0, 0, 0, 4, 0, 32, 35, 0], [0, 4, 0, 4, 32, 67, 0, 0]]
    assert items(planner, wanted.but(causal=False), Batch((4,), (64,))) == [[0, 0, 0, 4, 0, 32, 35, 0], [0, 4, 0, 4, 32, 64, 3, 0]]


def test_one_token_items_of_folded_heads_are_virtual_batches(planner: Planner) -> None:
    wanted = Settings(q_len=2, heads=32, one_token_items=True, virtual_batches=True, mask=NONE, workgroups=1)
    got = items(planner, wanted, Batch((2, 1), (5, 3)))
    assert got == [
        [0, -1, 0, 1, 0, 4, 0, 0],
        [1, -1, 1, 2, 0, 4, 0, 0],
        [2, -1, 2, 3, 0, 5, 0, 0],
        [3, -1, 3, 4, 0, 5, 0, 0],
        [4, -1, 4, 5, 5, 8, 0, 0],
        [5, -1, 5, 6, 5, 8, 0, 0],
    ]


def test_sparse_tokens_have_lists_one_after_another(planner: Planner) -> None:
    wanted = Settings(q_len=2, one_token_items=True, top_k=10, workgroups=1)
    assert items(planner, wanted, Batch((2, 2), (8, 30))) == [
        [0, -1, 0, 1, 0, 7, 0, 0],
        [0, -1, 1, 2, 10, 18, 0, 0],
        [1, -1, 2, 3, 20, 30, 0, 0],
        [1, -1, 3, 4, 30, 40, 0, 0],
    ]


def test_larger_pages_count_pages_and_offset_keys(planner: Planner) -> None:
    wanted = Settings(q_len=1, page_size=64, kv_granularity=1, workgroups=2)
    assert items(planner, wanted, Batch((1,), (130,), 64)) == [[0, 0, 0, 1, 0, 1, 66, 0], [0, 1, 0, 1, 1, 3, 0, 0]]


def test_more_query_tokens_than_keys(planner: Planner) -> None:
    batch = Batch((4,), (2,))
    assert items(planner, Settings(q_len=4, workgroups=1), batch) == [[0, -1, 2, 4, 0, 2, 0, 0]]
    assert items(planner, Settings(q_len=4, mask=REQUEST, workgroups=1), batch) == [[0, -1, 0, 4, 0, 2, 0, 0]]
    assert items(planner, Settings(q_len=4, min_tokens=3, workgroups=1), batch) == [[0, -1, 1, 4, 0, 2, 0, 0]]


@pytest.mark.parametrize("batch", [Batch((), ()), Batch((0, 0), (100, 7)), Batch((4, 4), (0, 0))])
def test_no_work_gives_no_items(planner: Planner, batch: Batch) -> None:
    made = planner.schedule(Settings(q_len=4), batch)
    assert (made.items, made.parts, made.workgroups) == (0, 0, 0)
    assert not made.work_indptr.any()
    assert not made.reduce_indptr.any()


def test_four_thousand_sequences(planner: Planner) -> None:
    random = np.random.default_rng(7)
    batch = Batch((1,) * 4096, tuple(random.integers(0, 3000, 4096).tolist()))
    wanted = Settings(q_len=1, heads=64, one_token_items=True, virtual_batches=True, mask=NONE, workgroups=304)
    made = planner.schedule(wanted, batch)
    begin, end = made.rows[:, 4].astype(np.int64), made.rows[:, 5].astype(np.int64)
    assert (end - begin).sum() == 4 * sum(batch.kv_lens)
    assert np.bincount(made.rows[:, 2] // 4, end - begin, minlength=4096).astype(int).tolist() == [4 * keys for keys in batch.kv_lens]
