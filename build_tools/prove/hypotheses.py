"""Ways in which an unknown kernel may be fed, as far as the size of its argument segment allows them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from .case import Case, Recipe

HEADS: Final = (8, 16, 32, 64, 128)
TOKENS: Final = (8, 4, 2, 1)
PAIRS: Final = (("bf16", "bf16"), ("bf16", "fp8"), ("fp8", "fp8"), ("bf16", "byte"))
SUB_Q: Final = (16, 32, 64, 128)
MOST_ROWS: Final = 128
"""Query rows of a work item. In split mode the grid grows with the rows, and more are tried of a kernel that is right for these."""

_SCALE_SLOT_END: Final = 0x110
_OUT_SLOT_END: Final = 0x100
_RANK_SLOT_END: Final = 0x164


def likely(kernarg_size: int) -> list[Recipe]:
    """The ways in which published kernels are fed, those with the most tokens first."""
    found = []
    for plain in _shapes(kernarg_size):
        if kernarg_size >= _OUT_SLOT_END:
            found.append(plain)
            if plain.tokens > 1:
                rows = replace(plain, recipe="persistent_rows", mask="request" if plain.mask == "causal" else plain.mask)
                found.append(rows)
                if rows.mask == "request" and kernarg_size >= _RANK_SLOT_END:
                    found.append(replace(rows, context_parallel=True))
        if plain.kv_dtype != "byte":
            found += [replace(split, single=single) for split in _splits(plain) for single in ("none", "bf16_partial")]
    return _most_tokens_first(found)


def unlikely(kernarg_size: int) -> list[Recipe]:
    """The rest: tried where nothing likely is right."""
    found = []
    for plain in _shapes(kernarg_size):
        if kernarg_size >= _RANK_SLOT_END:
            # Every key is seen, so that ranks show in the lengths of all ranks only, which a kernel may insist on.
            masks = ("request", "none") if plain.tokens == 1 else ("none",) if plain.mask == "none" else ()
            found += [replace(plain, recipe="persistent_rows", mask=mask, context_parallel=True) for mask in masks]
        for split in _splits(plain):
            found += [replace(split, single=single) for single in ("out", "partial")]
            found += [replace(split, recipe="split_null", single=single) for single in ("none", "partial")]
            found += [replace(split, single=single) for single in ("none", "bf16_partial") if plain.kv_dtype == "byte"]
    return _most_tokens_first(found)


def in_tokens(recipe: Recipe) -> list[Recipe]:
    """The recipe with work items that count keys, if it has work items."""
    return [replace(recipe, kv_in_tokens=True)] if recipe.persistent else []


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
        cp_world_size=4 if recipe.context_parallel else 1,
        cp_rank=2 if recipe.context_parallel else 0,
    )


def _shapes(kernarg_size: int) -> Iterator[Recipe]:
    """Formats, heads, tokens and masks."""
    for (q_dtype, kv_dtype), heads, tokens in itertools.product(PAIRS, HEADS, TOKENS):
        if heads * tokens > MOST_ROWS or (q_dtype == "fp8" and kernarg_size < _SCALE_SLOT_END):
            continue
        for mask in ("none",) if tokens == 1 else ("causal", "none"):
            yield Recipe("persistent", q_dtype, kv_dtype, heads, tokens, mask=mask)


def _splits(plain: Recipe) -> Iterator[Recipe]:
    """Split mode: a number of rows of a workgroup for each size that the grid can have, and what the kernel is told of rows."""
    grids = {-(-plain.heads * plain.tokens // sub_q): sub_q for sub_q in reversed(SUB_Q)}
    for sub_q in sorted(grids.values(), reverse=True):
        for heads_as_rows in (False, True) if plain.tokens > 1 else (False,):
            yield replace(plain, recipe="split_direct", sub_q=sub_q, single="none", heads_as_rows=heads_as_rows)


def _most_tokens_first(recipes: list[Recipe]) -> list[Recipe]:
    return sorted(recipes, key=lambda recipe: (-recipe.tokens, recipe.heads_as_rows))
