"""Classes and their members: every declared value and pair of values occurs."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from build_tools.prove import members
from build_tools.prove.case import Case, Recipe
from build_tools.prove.classes import axes, classes_of
from build_tools.prove.pairs import covering

RECIPES = [
    Recipe("persistent", "bf16", "bf16", 16, 4),
    Recipe("persistent", "fp8", "fp8", 128, 1, mask="none"),
    Recipe("persistent", "fp8", "fp8", 16, 2, min_tokens=2),
    Recipe("split_direct", "fp8", "fp8", 16, 4, sub_q=128, single="bf16_partial"),
    Recipe("split_direct", "fp8", "fp8", 16, 1, sub_q=128, single="none"),
]


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_value_of_every_claim_axis_has_a_class(recipe: Recipe) -> None:
    found = classes_of(recipe)
    assert len(set(found)) == len(found)
    for name in ("page_size", "causal", "span"):
        assert {getattr(member, name) for member in found} == set(axes()[name].values)
    items = {member.item for member in found}
    assert {str(count) for count in range(recipe.min_tokens, recipe.tokens + 1)} <= items
    assert ("cut" in items) == recipe.persistent
    assert {member.split for member in found} == ({""} if recipe.persistent else {"many"} if recipe.single == "none" else {"one", "many"})


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_pair_of_page_item_and_mask_has_a_class(recipe: Recipe) -> None:
    found = classes_of(recipe)
    items = {member.item for member in found}
    for page, item, causal in itertools.product(axes()["page_size"].values, items, (True, False)):
        assert any((member.page_size, member.item, member.causal) == (page, item, causal) for member in found)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_edge_length_occurs_in_a_class_together_and_alone(recipe: Recipe) -> None:
    plain = classes_of(recipe)[0]
    cases = members.boundaries(recipe, plain)
    lengths = {length for case in cases for length in case.kv_lens}
    assert set(axes()["kv_lens"].edges) <= lengths
    assert {1, 16, 17, 64, 65} <= {case.kv_lens[0] for case in cases if len(case.kv_lens) == 1}
    assert all(case.index_slack == 0 and case.row_slack == 0 for case in cases)


@pytest.mark.parametrize("recipe", RECIPES)
def test_free_values_occur_in_pairs(recipe: Recipe) -> None:
    cases = members.crossed(recipe, classes_of(recipe))
    seen: dict[str, Callable[[Case], object]] = {
        "values": lambda case: case.values,
        "layout": lambda case: case.layout,
        "index_slack": lambda case: case.index_slack,
        "row_slack": lambda case: case.row_slack,
        "nulls": lambda case: case.nulls,
        "requests": lambda case: len(case.kv_lens),
        "kv_lens": lambda case: case.kv_lens[0],
    }
    for first, second in itertools.combinations(seen, 2):
        pairs = {(seen[first](case), seen[second](case)) for case in cases}
        assert pairs == set(itertools.product(axes()[first].values, axes()[second].values)), (first, second)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_free_value_occurs_in_every_class(recipe: Recipe) -> None:
    for member in classes_of(recipe)[:20]:
        cases = members.drawn(recipe, member)
        assert {case.values for case in cases} == set(axes()["values"].values)
        assert {case.kv_lens[0] for case in cases} == set(axes()["kv_lens"].values)
        assert {len(case.kv_lens) for case in cases} == set(axes()["requests"].values)
        if recipe.persistent:
            assert {case.workgroups for case in cases} == set(axes()["workgroups"].values)
        elif member.split == "many":
            assert {case.splits for case in cases} == set(axes()["splits"].values)


def test_a_transplanted_case_is_of_its_class() -> None:
    recipe = RECIPES[0]
    case = members.crossed(recipe, classes_of(recipe))[7]
    for member in classes_of(recipe):
        moved = members.transplanted(recipe, member, case)
        assert (moved.page_size, moved.causal, moved.kv_lens, moved.values) == (member.page_size, member.causal, case.kv_lens, case.values)
        assert (moved.layout in ("span_2g", "span_4g")) == (member.span != "small")


def test_ragged_batches_occur_and_stay_within_the_class() -> None:
    recipe = RECIPES[0]
    cases = members.crossed(recipe, classes_of(recipe))
    ragged = [case for case in cases if len(set(case.q_lens)) > 1]
    assert ragged
    assert all(max(case.q_lens) == case.q_lens[0] for case in ragged)


def test_cases_are_the_same_every_time_and_come_back_from_json() -> None:
    recipe = RECIPES[0]
    cases = members.crossed(recipe, classes_of(recipe))
    assert cases == members.crossed(recipe, classes_of(recipe))
    assert [Case.from_json(case.to_json()) for case in cases] == cases


def test_covering_rows_hold_every_pair() -> None:
    wanted = {"a": [1, 2, 3], "b": "xyzw", "c": [True, False], "d": [0]}
    rows = covering(wanted, 0)
    for first, second in itertools.combinations(wanted, 2):
        assert {(row[first], row[second]) for row in rows} == set(itertools.product(wanted[first], wanted[second]))
    assert len(rows) < 24
