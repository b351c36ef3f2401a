"""The six tensors: balance, bounds, order, and that any item can be worked out alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as profile

from tests.planner.library import CANARY, NONE, Batch, Planner, PlannerError, Schedule, Settings
from tests.planner.problems import problems


def blocks_of(wanted: Settings, batch: Batch, row: list[int]) -> int:
    """KV blocks of an item: those of its first token that sees any key."""
    _, _, q_begin, _, kv_begin, kv_end, *_ = row
    token = q_begin // wanted.groups
    b = int(np.searchsorted(batch.qo_indptr, token, side="right")) - 1
    keys = batch.kv_lens[b] - (int(batch.qo_indptr[b + 1]) - 1 - token if wanted.causal else 0)
    keys = max(keys, 1)
    if wanted.top_k >= 0:
        keys = min(keys, -(-wanted.top_k // wanted.page_size) * wanted.page_size)
        first = token * -(-wanted.top_k // wanted.page_size)
    else:
        first = int(batch.kv_indptr[b])
    scale = wanted.page_size if wanted.kv_in_tokens else 1
    begin = kv_begin // scale - first
    end = min(-(-kv_end // scale) - first, -(-keys // wanted.page_size))
    return -(-(end - begin) // wanted.kv_granularity)


def loads(wanted: Settings, batch: Batch, made: Schedule) -> list[tuple[int, int]]:
    """Items and blocks of each workgroup that may have work."""
    out = []
    for begin, end in pairwise(made.work_indptr[: made.workgroups + 1].tolist()):
        rows = made.rows[begin:end].tolist()
        out.append((len(rows), sum(blocks_of(wanted, batch, row) for row in rows)))
    return out


@profile(max_examples=150)
@given(problem=problems())
def test_loads_differ_by_at_most_one_block(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    wanted = wanted.but(item_cost=0)
    made = planner.schedule(wanted, batch)
    counts = [blocks for _, blocks in loads(wanted, batch, made)]
    assert sum(counts) == made.blocks
    assert max(counts, default=0) - min(counts, default=0) <= 1


@profile(max_examples=100)
@given(problem=problems())
def test_loads_with_the_cost_of_items_stay_within_it(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    wanted = wanted.but(item_cost=3)
    made = planner.schedule(wanted, batch)
    found = loads(wanted, batch, made)
    total = sum(blocks for _, blocks in found) + 3 * (tiles_with_work(made) - 1)
    for count, blocks in found:
        assert blocks + 3 * max(count - 1, 0) <= -(-total // len(found))
        assert blocks + 3 * max(count - 1, 0) >= total // len(found) - 2 * 3


def tiles_with_work(made: Schedule) -> int:
    return len({row[2] for row in made.rows.tolist()})


@pytest.mark.parametrize("keys", [(2048,) * 16, (1024,) * 4, (512,), (100_000, 7, 9, 300, 64, 64)])
@pytest.mark.parametrize("workgroups", [20, 38, 80, 228, 256, 304])
def test_keys_differ_by_at_most_a_block_where_every_length_is_whole_blocks(
    planner: Planner, keys: tuple[int, ...], workgroups: int
) -> None:
    whole = tuple(-(-count // 16) * 16 for count in keys)
    made = planner.schedule(Settings(q_len=1, mask=NONE, workgroups=workgroups), Batch((1,) * len(whole), whole))
    used = made.work_indptr[: made.workgroups + 1]
    sums = [int((made.rows[a:b, 5] - made.rows[a:b, 4]).sum()) for a, b in pairwise(used.tolist())]
    assert max(sums) - min(sums) <= 16
    assert made.workgroups == min(workgroups, sum(whole) // 16)


@profile(max_examples=150)
@given(problem=problems())
def test_no_schedule_exceeds_the_bounds_or_touches_what_lies_behind(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    made = planner.schedule(wanted, batch)
    assert made.guards_intact()
    assert made.items <= len(made.work_info)
    assert made.parts <= len(made.reduce_partial_map)
    assert (made.work_info[made.items :] == CANARY).all()
    assert (made.reduce_partial_map[made.parts :] == CANARY).all()
    assert len(made.work_indptr) == wanted.workgroups + 1


@profile(max_examples=150)
@given(problem=problems())
def test_the_six_tensors_agree(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    made = planner.schedule(wanted, batch)
    assert made.work_metadata.tolist() == [made.guarded[0].ctypes.data, made.guarded[1].ctypes.data]
    assert made.work_indptr[0] == 0
    assert (np.diff(made.work_indptr) >= 0).all()
    assert (made.work_indptr[made.workgroups :] == made.items).all()
    assert made.reduce_indptr[0] == 0
    assert made.reduce_indptr[-1] == made.parts
    partial = made.rows[made.rows[:, 1] >= 0]
    assert partial[:, 1].tolist() == made.reduce_partial_map[: made.parts].tolist()
    # Parts lie one behind the other, a tile's tokens apart, within the rows of the bound.
    assert made.reduce_partial_map[: made.parts].tolist() == [wanted.tokens * part for part in range(made.parts)]
    assert made.parts * wanted.tokens <= made.partial_rows
    next_part = 0
    for slot, (begin, end) in enumerate(pairwise(made.reduce_indptr.tolist())):
        assert begin == next_part
        next_part = end
        first, last = made.reduce_final_map[slot].tolist()
        assert end - begin != 1 or wanted.partial_always
        if begin == end:
            assert (first, last) == (0, 0)
        for row in partial[begin:end].tolist():
            assert row[2:4] == [first, last]
    assert wanted.partial_always is False or made.parts == made.items


@profile(max_examples=100)
@given(problem=problems())
def test_tiles_that_one_workgroup_does_alone_are_not_partial(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    made = planner.schedule(wanted.but(partial_always=False), batch)
    rows, counts = np.unique(made.rows[:, 2], return_counts=True)
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        assert (made.rows[made.rows[:, 2] == row][:, 1] >= 0).all() == (count > 1)


@profile(max_examples=100)
@given(problem=problems())
def test_the_same_problem_gives_the_same_bytes(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    wanted, batch = problem
    first, second = planner.schedule(wanted, batch), planner.schedule(wanted, batch)
    assert all((a == b).all() for a, b in zip(first.guarded, second.guarded, strict=True))


@profile(max_examples=100)
@given(problem=problems())
def test_every_item_follows_from_prefix_sums_alone(planner: Planner, problem: tuple[Settings, Batch]) -> None:
    """The closed form of docs/planner.md, worked out for each tile by itself in exact integers."""
    wanted, batch = problem
    made = planner.schedule(wanted, batch)
    tiles: list[tuple[int, int]] = []  # first row and blocks, in order
    for row in made.rows.tolist():
        blocks = blocks_of(wanted, batch, row)
        if tiles and tiles[-1][0] == row[2]:
            tiles[-1] = (row[2], tiles[-1][1] + blocks)
        else:
            tiles.append((row[2], blocks))
    costs = [blocks + wanted.item_cost for _, blocks in tiles]
    length = sum(costs) - (wanted.item_cost if tiles else 0)
    batches = len(batch.q_lens) * wanted.groups * (wanted.q_len if wanted.top_k >= 0 else 1)
    limit = wanted.workgroups if wanted.max_split_per_batch < 0 else min(wanted.workgroups, wanted.max_split_per_batch * batches)
    segments = min(limit, length)
    assert made.workgroups == segments
    expected = []
    for index, (row, blocks) in enumerate(tiles):
        begin = sum(costs[:index])
        for group in range(segments):
            low, high = group * length // segments, (group + 1) * length // segments
            share = min(high, begin + blocks) - max(low, begin)
            if share > 0:
                expected.append((group, row, share))
    got = []
    for group, (first, end) in enumerate(pairwise(made.work_indptr.tolist())):
        got += [(group, row[2], blocks_of(wanted, batch, row)) for row in made.rows[first:end].tolist()]
    assert got == expected


def test_bounds_are_reached(planner: Planner) -> None:
    # Every cut inside a tile of its own: as many pieces and as many parts as there can be.
    made = planner.schedule(Settings(q_len=1, workgroups=3, kv_granularity=1), Batch((1, 1, 1), (2, 2, 2)))
    assert (made.items, made.parts) == (3, 0)
    made = planner.schedule(Settings(q_len=1, workgroups=3, kv_granularity=1), Batch((1, 1), (5, 5)))
    assert (made.items, made.parts) == (4, 4)
    assert (len(made.work_info), len(made.reduce_partial_map)) == (4, 4)
    made = planner.schedule(Settings(q_len=1, workgroups=80), Batch((1,), (100_000,)))
    assert (made.items, made.parts) == (80, 80)
    assert (len(made.work_info), len(made.reduce_partial_map)) == (80, 80)
    made = planner.schedule(Settings(q_len=1, workgroups=2), Batch((1,) * 3, (160,) * 3))
    assert (made.items, made.parts) == (4, 2)
    assert (len(made.work_info), len(made.reduce_partial_map)) == (4, 2)


def test_bounds_count_the_workgroups_that_may_get_work(planner: Planner) -> None:
    sizes = planner.bounds(Settings(q_len=4, workgroups=304, max_split_per_batch=2), 8)
    assert (sizes.work_indptr, sizes.work_info_rows, sizes.reduce_partial_map, sizes.partial_rows) == (305, 8 + 15, 23, 23 * 4)
    sizes = planner.bounds(Settings(q_len=5, heads=64, one_token_items=True, workgroups=256, partial_always=True), 2)
    assert (sizes.work_info_rows, sizes.reduce_partial_map, sizes.reduce_indptr) == (40 + 255, 40 + 255, 41)
    assert planner.bounds(Settings(q_len=1), 0).work_info_rows == 1


@pytest.mark.parametrize("name", ["work_indptr", "work_info", "reduce_indptr", "reduce_final_map", "reduce_partial_map"])
def test_a_tensor_too_small_is_refused_before_any_write(planner: Planner, name: str) -> None:
    wanted, batch = Settings(q_len=1, workgroups=8, kv_granularity=1), Batch((1, 1), (50, 50))
    made = planner.schedule(wanted, batch)
    need = {"work_indptr": 9, "work_info": made.items, "reduce_indptr": 3, "reduce_final_map": 2, "reduce_partial_map": made.parts}
    planner.schedule(wanted, batch, lengths={name: need[name]})
    with pytest.raises(PlannerError) as caught:
        planner.schedule(wanted, batch, lengths={name: need[name] - 1})
    assert caught.value.args[0] == 2
    assert caught.value.args[1].startswith(name)


def test_longer_tensors_are_filled_to_their_ends(planner: Planner) -> None:
    made = planner.schedule(Settings(q_len=1, workgroups=8), Batch((1,), (400,)), lengths={"work_indptr": 20, "reduce_indptr": 9})
    assert made.work_indptr[8:].tolist() == [made.items] * 12
    assert made.reduce_indptr[1:].tolist() == [made.parts] * 8


def test_split_limit_leaves_the_other_workgroups_idle(planner: Planner) -> None:
    made = planner.schedule(Settings(q_len=1, workgroups=80, max_split_per_batch=4), Batch((1, 1), (4096, 4096)))
    assert made.workgroups == 8
    assert (made.work_indptr[8:] == made.items).all()


def test_stale_values_do_not_matter(planner: Planner) -> None:
    batch = Batch((1, 1, 0), (100, 0, 0))
    made = planner.schedule(Settings(q_len=1), batch)
    assert made.rows[:, 0].tolist() == [0] * made.items
