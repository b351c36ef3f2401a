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
PAGE_SIZES: Final = (1, 64, 16, 32, 128, 256, 2, 4, 8)
"""In the order in which a page size is tried at which an object is right for something; published kernels take 1, or 64 only."""

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


def probe(recipe: Recipe, page_size: int = 1) -> Case:
    """A small case that a wrong recipe does not survive: one request of several pages, and one that ends within its first."""
    return Case(
        recipe.heads,
        (recipe.tokens,) * 2,
        (40, 21) if page_size == 1 else (2 * page_size + 40, min(21, page_size)),
        page_size=page_size,
        granularity=max(1, 16 // page_size),
        causal=recipe.mask != "none",
        workgroups=3,
        splits=2 if recipe.single == "none" else 1,
        seed=9,
    )


def search(kernarg_size: int, run: RunRecipe, threads: int = 8) -> list[Recipe]:
    """Recipes that are right, refined; of those that differ in tokens only, the one with the most. ``run`` is called from threads."""
    for page_size in PAGE_SIZES:
        found = _right_at(page_size, kernarg_size, run, threads)
        if found:
            return _without_weaker([refine(recipe, kernarg_size, run, page_size) for recipe in found])
    return []


def _right_at(page_size: int, kernarg_size: int, run: RunRecipe, threads: int) -> list[Recipe]:
    """The recipes that survive the probe at a page size, the one with the most tokens of its kind."""
    tried = hypotheses(kernarg_size)
    if page_size > 1:
        # At page 1 keys and pages are the same; what a work item counts is measured there later.
        tried = [counted for recipe in tried for counted in (recipe, *_in_tokens(recipe))]
    with ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(lambda recipe: run(recipe, [probe(recipe, page_size)])[0], tried))
    found: dict[tuple[object, ...], Recipe] = {}
    for recipe, outcome in zip(tried, outcomes, strict=True):
        if outcome.right:
            found.setdefault((recipe.recipe, recipe.q_dtype, recipe.kv_dtype, recipe.heads, recipe.mask), recipe)
    return list(found.values())


def _in_tokens(recipe: Recipe) -> list[Recipe]:
    return [replace(recipe, kv_in_tokens=True)] if recipe.persistent else []


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


def refine(recipe: Recipe, kernarg_size: int, run: RunRecipe, page_size: int = 1) -> Recipe:
    """The recipe with what has to be measured: fewest tokens of an item, unit of work items, missing factor, one split, LSE.

    page_size: one at which the recipe is right for something.
    """
    split = "" if recipe.persistent else "many" if recipe.single == "none" else "one"
    if page_size > 1:
        # Everything else is measured with the right unit only.
        unit = base(recipe, ProblemClass(page_size, str(recipe.tokens), recipe.mask != "none", 1, "small", recipe.lse, split))
        recipe = _first(run, unit, [recipe, *_in_tokens(recipe)]) or recipe
    recipe = _fewest_tokens(recipe, split, page_size, run)
    plain = base(recipe, ProblemClass(page_size, str(recipe.tokens), recipe.mask != "none", 1, "small", recipe.lse, split))
    if recipe.kv_dtype == "fp8":
        scaled = plain.but(q_scale=0.5, kv_scale=1.75)
        recipe = _first(run, scaled, [recipe, replace(recipe, out_scale_missing=True)]) or recipe
    if not recipe.persistent:
        one = plain.but(splits=1)
        kinds = [replace(recipe, single=single) for single in ("bf16_partial", "partial", "out")]
        return _first(run, one, kinds) or replace(recipe, single="none")
    if page_size == 1:
        recipe = _first(run, plain.but(page_size=16, granularity=1), [recipe, *_in_tokens(recipe)]) or recipe
    if kernarg_size >= _LSE_SLOT_END:
        recipe = _first(run, plain, [replace(recipe, lse=True)]) or recipe
    return recipe


def _fewest_tokens(recipe: Recipe, split: str, page_size: int, run: RunRecipe) -> Recipe:
    """Items of fewer tokens than the kernel has rows for may not be taken."""
    counts = range(1, recipe.tokens + 1)
    cases = [base(recipe, ProblemClass(page_size, str(count), recipe.mask != "none", 1, "small", recipe.lse, split)) for count in counts]
    outcomes = run(recipe, cases)
    fewest = recipe.tokens
    for count in reversed(counts):
        if not outcomes[count - 1].right:
            break
        fewest = count
    return replace(recipe, min_tokens=fewest)


def _first(run: RunRecipe, case: Case, recipes: Sequence[Recipe]) -> Recipe | None:
    return next((recipe for recipe in recipes if run(recipe, [case])[0].right), None)
