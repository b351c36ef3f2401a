"""Finds out how a kernel is fed: every recipe that its metadata allows is tried, and what a claim leaves open is measured.

Names of files, symbols and arguments are not looked at, so that a renamed object has the same verdict.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from .case import Case, Recipe
from .classes import ProblemClass
from .members import base
from .outcome import Outcome

RunRecipe = Callable[[Recipe, Sequence[Case]], list[Outcome]]

HEADS: Final = (8, 16, 32, 64, 128)
TOKENS: Final = (8, 4, 2, 1)
PAIRS: Final = (("bf16", "bf16"), ("bf16", "fp8"), ("fp8", "fp8"))
SUB_Q: Final = (16, 32, 64, 128)
MOST_ROWS: Final = 128

_SCALE_SLOT_END: Final = 0x120
_OUT_SLOT_END: Final = 0x100
_LSE_SLOT_END: Final = 0x140


def hypotheses(kernarg_size: int) -> list[Recipe]:
    """Every recipe whose arguments fit the segment, those with the most tokens first."""
    found = []
    for (q_dtype, kv_dtype), heads, tokens in itertools.product(PAIRS, HEADS, TOKENS):
        if heads * tokens > MOST_ROWS or (q_dtype == "fp8" and kernarg_size < _SCALE_SLOT_END - 16):
            continue
        masks = ("none",) if tokens == 1 else ("causal", "none")
        for mask in masks:
            plain = Recipe("persistent", q_dtype, kv_dtype, heads, tokens, mask=mask)
            if kernarg_size >= _OUT_SLOT_END:
                found.append(plain)
                if tokens > 1:
                    found.append(replace(plain, recipe="persistent_rows", mask="request" if mask == "causal" else mask))
            grids = {-(-heads * tokens // sub_q): sub_q for sub_q in reversed(SUB_Q)}
            found += [
                replace(plain, recipe="split_direct", sub_q=sub_q, single=single)
                for sub_q in sorted(grids.values(), reverse=True)
                for single in ("none", "bf16_partial")
            ]
    return sorted(found, key=lambda recipe: -recipe.tokens)


def probe(recipe: Recipe) -> Case:
    """A small case that a wrong recipe does not survive."""
    return Case(
        recipe.heads,
        (recipe.tokens,) * 2,
        (40, 21),
        causal=recipe.mask != "none",
        workgroups=3,
        splits=2 if recipe.single == "none" else 1,
        seed=9,
    )


def search(kernarg_size: int, run: RunRecipe, threads: int = 8) -> list[Recipe]:
    """Recipes that are right, refined; of those that differ in tokens only, the one with the most. ``run`` is called from threads."""
    tried = hypotheses(kernarg_size)
    with ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(lambda recipe: run(recipe, [probe(recipe)])[0], tried))
    found: dict[tuple[object, ...], Recipe] = {}
    for recipe, outcome in zip(tried, outcomes, strict=True):
        if outcome.right:
            found.setdefault((recipe.recipe, recipe.q_dtype, recipe.kv_dtype, recipe.heads, recipe.mask), recipe)
    return _without_weaker([refine(recipe, kernarg_size, run) for recipe in found.values()])


def _without_weaker(recipes: list[Recipe]) -> list[Recipe]:
    """Leaves out a recipe where another does the same with a mask or with more tokens."""
    kept = []
    for recipe in recipes:
        stronger = [
            other
            for other in recipes
            if other.recipe.split("_")[0] == recipe.recipe.split("_")[0]
            and (other.q_dtype, other.kv_dtype, other.heads) == (recipe.q_dtype, recipe.kv_dtype, recipe.heads)
            and (other.tokens, other.mask != "none") > (recipe.tokens, recipe.mask != "none")
        ]
        if not stronger:
            kept.append(recipe)
    return kept


def refine(recipe: Recipe, kernarg_size: int, run: RunRecipe) -> Recipe:
    """The recipe with what has to be measured: fewest tokens of an item, unit of work items, missing factor, one split, LSE."""
    split = "" if recipe.persistent else "many" if recipe.single == "none" else "one"
    recipe = _fewest_tokens(recipe, split, run)
    plain = base(recipe, ProblemClass(1, str(recipe.tokens), recipe.mask != "none", 1, "small", recipe.lse, split))
    if recipe.kv_dtype == "fp8":
        scaled = plain.but(q_scale=0.5, kv_scale=1.75)
        recipe = _first(run, scaled, [recipe, replace(recipe, out_scale_missing=True)]) or recipe
    if not recipe.persistent:
        one = plain.but(splits=1)
        kinds = [replace(recipe, single=single) for single in ("bf16_partial", "partial", "out")]
        return _first(run, one, kinds) or replace(recipe, single="none")
    paged = plain.but(page_size=16, granularity=1)
    recipe = _first(run, paged, [recipe, replace(recipe, kv_in_tokens=True)]) or recipe
    if kernarg_size >= _LSE_SLOT_END:
        recipe = _first(run, plain, [replace(recipe, lse=True)]) or recipe
    return recipe


def _fewest_tokens(recipe: Recipe, split: str, run: RunRecipe) -> Recipe:
    """Items of fewer tokens than the kernel has rows for may not be taken."""
    counts = range(1, recipe.tokens + 1)
    cases = [base(recipe, ProblemClass(1, str(count), recipe.mask != "none", 1, "small", recipe.lse, split)) for count in counts]
    outcomes = run(recipe, cases)
    fewest = recipe.tokens
    for count in reversed(counts):
        if not outcomes[count - 1].right:
            break
        fewest = count
    return replace(recipe, min_tokens=fewest)


def _first(run: RunRecipe, case: Case, recipes: Sequence[Recipe]) -> Recipe | None:
    return next((recipe for recipe in recipes if run(recipe, [case])[0].right), None)
