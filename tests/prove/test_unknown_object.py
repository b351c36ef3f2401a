"""Objects from anywhere: the verdict comes from the bytes, not from names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from build_tools.prove.case import Case, Recipe
from build_tools.prove.execute import Bench, Subject
from build_tools.prove.hypotheses import likely, unlikely
from build_tools.prove.outcome import Outcome
from build_tools.prove.search import RunRecipe, refine, search
from tests.prove.published import subject

NAME = b"mla_a8w8_qh16_qseqlen1_gqaratio16_ps"


def found(bench: Bench, wanted: Subject) -> list[Recipe]:
    def run(recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        return [bench.run(wanted, recipe, case) for case in cases]

    return search(wanted.kernarg_size, run, threads=1)


def renamed(wanted: Subject) -> Subject:
    """The object with all names replaced by others of the same length."""
    image = wanted.image.replace(NAME, b"a_kernel_of_quite_another_name_12345")
    assert image != wanted.image
    symbol = wanted.symbol.replace(NAME.decode(), "a_kernel_of_quite_another_name_12345")
    return replace(wanted, image=image, symbol=symbol, sha256=hashlib.sha256(image).hexdigest())


def test_a_renamed_object_has_the_same_verdict(bench: Bench) -> None:
    wanted = subject("gfx942", NAME.decode())
    recipes = found(bench, wanted)
    assert Recipe("persistent", "fp8", "fp8", 16, 1, mask="none") in recipes
    assert found(bench, renamed(wanted)) == recipes


@pytest.mark.parametrize(("size", "persistent", "fp8"), [(208, False, False), (256, True, False), (288, True, True)])
def test_the_argument_segment_bounds_what_is_tried(size: int, persistent: bool, fp8: bool) -> None:
    tried = [*likely(size), *unlikely(size)]
    assert any(recipe.persistent for recipe in tried) is persistent
    assert any(recipe.q_dtype == "fp8" for recipe in tried) is fp8


def paged(insists: int, in_tokens: bool, fewest: int = 1) -> tuple[list[tuple[Recipe, Case]], RunRecipe]:
    """A kernel that is right at one page size only, if it is fed in one way; with every run that was asked for."""
    asked: list[tuple[Recipe, Case]] = []
    truth = Recipe("persistent", "fp8", "fp8", 64, 1, mask="none", kv_in_tokens=in_tokens)

    def run(recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        asked.extend((recipe, case) for case in cases)
        fed = replace(recipe, lse=False, min_tokens=1) == truth
        return [
            Outcome("right" if fed and not recipe.lse and case.page_size == insists and case.q_len >= fewest else "fault") for case in cases
        ]

    return asked, run


@pytest.mark.parametrize("in_tokens", [False, True])
@pytest.mark.parametrize("page_size", [64, 16, 8])
def test_a_kernel_of_one_large_page_size_is_found(page_size: int, in_tokens: bool) -> None:
    _, run = paged(page_size, in_tokens)
    assert search(288, run, threads=1) == [Recipe("persistent", "fp8", "fp8", 64, 1, mask="none", kv_in_tokens=in_tokens)]


def test_larger_pages_are_tried_only_where_page_1_gives_nothing() -> None:
    asked, run = paged(1, False)
    assert search(288, run, threads=1) == [Recipe("persistent", "fp8", "fp8", 64, 1, mask="none")]
    assert {case.page_size for _, case in asked} == {1, 16}


def test_a_claimed_recipe_is_measured_at_a_page_size_of_its_claim() -> None:
    claimed = Recipe("persistent", "fp8", "fp8", 64, 1, mask="none")
    asked, run = paged(64, True)
    assert refine(claimed, 288, run, 64) == replace(claimed, kv_in_tokens=True)
    assert {case.page_size for _, case in asked} == {64}


def test_an_object_that_is_right_for_nothing_has_no_recipe() -> None:
    assert search(288, lambda _, cases: [Outcome("fault")] * len(cases), threads=1) == []


def test_a_kernel_that_never_ends_is_given_up() -> None:
    asked: list[Recipe] = []

    def run(recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        asked.append(recipe)
        return [Outcome("fault", detail="instruction_budget at 0x0 s_branch")] * len(cases)

    assert search(368, run, threads=1) == []
    assert len(asked) < len(likely(368)) // 4
    assert {recipe.persistent for recipe in asked} == {True, False}
