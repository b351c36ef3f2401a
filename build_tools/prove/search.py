"""Finds out how a kernel is fed: every recipe that its metadata allows is tried, and what a claim leaves open is measured.

Names of files, symbols and arguments are not looked at, so that a renamed object has the same verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from .case import Case, Recipe
from .classes import ProblemClass
from .hypotheses import TOKENS, in_tokens, likely, probe, unlikely
from .members import base
from .outcome import Outcome

RunRecipe = Callable[[Recipe, Sequence[Case]], list[Outcome]]

PAGE_SIZES: Final = (1, 64, 16, 32, 128, 256, 2, 4, 8)
"""In the order in which a page size is tried at which an object is right for something; published kernels take 1, or 64 only."""
_USUAL_PAGE_SIZES: Final = (1, 64)

_LSE_SLOT_END: Final = 0x140
_BUDGET: Final = "instruction_budget"
_FIRST_PROBES: Final = 96
"""Probes of all modes and formats; a kernel that ends in none of them is not tried on."""


def search(kernarg_size: int, run: RunRecipe, threads: int = 8) -> list[Recipe]:
    """Recipes that are right, refined; of those that differ in tokens only, the one with the most. ``run`` is called from threads."""
    for page_size in PAGE_SIZES:
        for recipes in (likely(kernarg_size), unlikely(kernarg_size) if page_size in _USUAL_PAGE_SIZES else []):
            found = _right_at(page_size, recipes, run, threads)
            if found is None:
                return []
            if found:
                grown = _one_of_each([_with_more_tokens(recipe, page_size, run) for recipe in found])
                return _without_weaker([refine(recipe, kernarg_size, run, page_size) for recipe in grown])
    return []


def _right_at(page_size: int, tried: list[Recipe], run: RunRecipe, threads: int) -> list[Recipe] | None:
    """The recipes that survive the probe at a page size, the one with the most tokens of its kind; None if the kernel never ends."""
    if page_size > 1:
        # At page 1 keys and pages are the same; what a work item counts is measured there later.
        tried = [counted for recipe in tried for counted in (recipe, *in_tokens(recipe))]
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(threads) as pool:
        for begin, end in ((0, _FIRST_PROBES), (_FIRST_PROBES, len(tried))):
            outcomes += pool.map(lambda recipe: run(recipe, [probe(recipe, page_size)])[0], tried[begin:end])
            if outcomes and all(outcome.status == "fault" and outcome.detail.startswith(_BUDGET) for outcome in outcomes):
                return None
    return _one_of_each([recipe for recipe, outcome in zip(tried, outcomes, strict=True) if outcome.right])


def _one_of_each(recipes: Sequence[Recipe]) -> list[Recipe]:
    """The first of those that differ in what is measured only."""
    found: dict[tuple[object, ...], Recipe] = {}
    for recipe in recipes:
        kind = (recipe.recipe, recipe.q_dtype, recipe.kv_dtype, recipe.heads, recipe.mask, recipe.context_parallel)
        found.setdefault(kind, recipe)
    return list(found.values())


def _with_more_tokens(recipe: Recipe, page_size: int, run: RunRecipe) -> Recipe:
    """In split mode a kernel may take more rows than a work item has: as many tokens as are right."""
    for tokens in () if recipe.persistent else (tokens for tokens in TOKENS if tokens > recipe.tokens):
        more = [replace(recipe, tokens=tokens, mask=mask, heads_as_rows=told) for mask in ("causal", "none") for told in (False, True)]
        found = next((one for one in more if run(one, [probe(one, page_size)])[0].right), None)
        if found is not None:
            return found
    return recipe


def _without_weaker(recipes: list[Recipe]) -> list[Recipe]:
    """Leaves out a recipe where another does the same with a mask or with more tokens, or without a mask and told of all rows."""
    kept = []
    for recipe in recipes:
        stronger = [
            other
            for other in recipes
            if other.recipe.split("_")[0] == recipe.recipe.split("_")[0]
            and (other.q_dtype, other.kv_dtype, other.heads, other.context_parallel)
            == (recipe.q_dtype, recipe.kv_dtype, recipe.heads, recipe.context_parallel)
            and (other.tokens, other.mask != "none") > (recipe.tokens, recipe.mask != "none")
        ]
        twin = replace(recipe, recipe="persistent")
        if not stronger and not (recipe.recipe == "persistent_rows" and recipe.mask == "none" and twin in recipes):
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
        recipe = _first(run, unit, [recipe, *in_tokens(recipe)]) or recipe
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
        recipe = _first(run, plain.but(page_size=16, granularity=1), [recipe, *in_tokens(recipe)]) or recipe
    if kernarg_size >= _LSE_SLOT_END:
        # One workgroup: nothing is split, so that no LSE comes from partial rows.
        recipe = _first(run, plain.but(workgroups=1), [replace(recipe, lse=True)]) or recipe
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
