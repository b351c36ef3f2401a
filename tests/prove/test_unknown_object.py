"""Objects from anywhere: the verdict comes from the bytes, not from names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from build_tools.prove.case import Case, Recipe
from build_tools.prove.execute import Bench, Subject
from build_tools.prove.outcome import Outcome
from build_tools.prove.search import hypotheses, search
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
    tried = hypotheses(size)
    assert any(recipe.persistent for recipe in tried) is persistent
    assert any(recipe.q_dtype == "fp8" for recipe in tried) is fp8
