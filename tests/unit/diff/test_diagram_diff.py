"""Changes of answers are found exactly, counted, and given as ranges of axes."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot import table
from aiter_mla_aot.rules import layout
from aiter_mla_aot.table import AXES, REFUSAL, Table
from build_tools.data import catalog
from build_tools.dispatch_table import proofs
from build_tools.dispatch_table import table as table_step
from build_tools.wheels.diagram_diff import VALUES, Box, changes
from tests.synthetic_wheel import claim, diagram, dispatch_table, kernel

HSA = Path(__file__).resolve().parents[3] / "hsa"
TOTAL = 1
for _, width in AXES:
    TOTAL *= width


def closed(hsa: Path) -> dict[str, Any]:
    data = catalog.load(hsa, "gfx942")
    return table_step.table(data, proofs.load(hsa, data))


def synthetic(answers: dict[tuple[int, ...], int], heads: int = 16) -> Table:
    rows = [kernel("gfx942", name, name.encode(), claim=claim(heads)) for name in ("alpha.co", "beta.co")]
    plans = [{"kernel": 0, "single": False}, {"kernel": 0, "single": True}, {"kernel": 1, "single": False}]
    catalogs = {name: diagram(answers, REFUSAL) for name in table.CATALOGS}
    return table.parse(json.loads(json.dumps(dispatch_table("gfx942", rows, plans=plans, catalogs=catalogs))))


SERVED: dict[tuple[int, ...], int] = {(0, 0, 15): 0}


def test_axes_have_their_values() -> None:
    assert [len(values) for values in VALUES] == [width for _, width in AXES]


def test_equal_tables_have_no_changes() -> None:
    assert changes(synthetic(SERVED), synthetic(SERVED)) == {}


def test_a_kernel_added_for_some_heads_is_one_range() -> None:
    new = SERVED | {(0, 0, heads): 2 for heads in (7, 8, 9, 20)}
    found = changes(synthetic(SERVED), synthetic(new))
    # beta's claim holds 16 heads: fewer are padded, more are folded and padded; q length 1..4 is one item.
    assert {change[1] for change in found} == {
        ("beta.co", "head_pad"),
        ("beta.co", "token_fold+head_pad"),
        ("beta.co", "head_fold+head_pad"),
        ("beta.co", "head_fold+token_fold+head_pad"),
    }
    assert {change[0] for change in found} == {("refused", "heads")}
    (box,) = found[("refused", "heads"), ("beta.co", "head_pad")]
    assert str(box) == "mode persistent, dtypes bf16/bf16, heads 8..10, q_len 1..4"
    assert box.problems == 3 * 4 * 576


def test_a_claim_that_changes_the_route_only_is_a_change() -> None:
    found = changes(synthetic(SERVED), synthetic(SERVED, heads=8))
    assert set(found) == {
        (("alpha.co", "native"), ("alpha.co", "head_fold")),
        (("alpha.co", "token_fold"), ("alpha.co", "head_fold+token_fold")),
    }


def test_numbers_of_plans_and_refusals_do_not_matter_only_their_meaning() -> None:
    old = synthetic(SERVED)
    new = synthetic({(0, 0, 15): 1})
    new = replace(new, plans=(new.plans[1], new.plans[0], new.plans[2]))
    assert changes(old, new) == {}


def test_a_single_problem_is_found_among_all() -> None:
    place = (1, 3, 127, 15, 1, 8, 1, 1, 1, 1, 1)
    found = changes(synthetic(SERVED), synthetic(SERVED | {place: REFUSAL + 1}))
    assert found == {(("refused", "heads"), ("refused", "page_size")): [Box(tuple((value,) for value in place))]}


@pytest.mark.parametrize("seed", range(2))
def test_boxes_hold_exactly_the_problems_that_changed(seed: int) -> None:
    generator = random.Random(seed)

    def answers() -> dict[tuple[int, ...], int]:
        prefixes = itertools.product(range(2), (0, 2), (0, 15, 16, 100), (0, 3, 4))
        found: dict[tuple[int, ...], int] = {}
        for prefix in prefixes:
            for tail in itertools.product(range(2), (0, 6), range(2), range(2)):
                if generator.random() < 0.5:
                    found[(*prefix, *tail)] = generator.choice([0, 1, 2, REFUSAL, REFUSAL + 1])
        return found

    old, new = synthetic(answers()), synthetic(answers())
    covered: dict[tuple[int, ...], Any] = {}
    for change, boxes in changes(old, new).items():
        for box in boxes:
            for place in itertools.product(*box.places):
                assert place not in covered
                covered[place] = change
    for place in itertools.product(range(2), range(4), (0, 15, 16, 100), (0, 3, 4), range(2), range(9), *[range(2)] * 5):
        answer = (outcome(old, place), outcome(new, place))
        assert covered.get(place) == (None if answer[0] == answer[1] else answer)


def outcome(side: Table, place: tuple[int, ...]) -> tuple[str, str]:
    data = side.catalogs["shipped"]
    leaf = data.root
    for value in place:
        leaf = data.nodes[leaf + value]
    if leaf >= REFUSAL:
        return "refused", side.refusals[leaf - REFUSAL]
    index, single = side.plans[leaf]
    row = side.kernels[index]
    assert row.claim is not None
    return row.file, layout(row.claim, place[2] + 1, place[3] + 1, single).route


def test_counts_of_the_real_table_agree_with_the_closure() -> None:
    old = table.parse(json.loads(json.dumps(closed(HSA))))
    new = replace(old, refusals=tuple("other" if code == "kv_span" else code for code in old.refusals))
    ((change, boxes),) = changes(old, new).items()
    assert change == (("refused", "kv_span"), ("refused", "other"))
    assert sum(box.problems for box in boxes) == sum(codes.get("kv_span", 0) for codes in old.counts["shipped"]["refused"].values())
    assert all(box.to_json()["kv_over_4gib"] == [True] for box in boxes)


def test_every_problem_is_said_so() -> None:
    box = Box(tuple(tuple(range(width)) for _, width in AXES))
    assert box.problems == TOTAL
    assert str(box) == "every problem"
