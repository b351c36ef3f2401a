"""The cases that stand for a class, and those that cross all free axes in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .case import Case, Recipe
from .classes import ProblemClass, axes
from .pairs import covering
from .random_bits import Stream

_PERSISTENT_ONLY: Final = ("workgroups", "granularity", "ragged")
_FREE_FIELDS: Final = (
    "kv_lens",
    "workgroups",
    "values",
    "q_scale",
    "kv_scale",
    "layout",
    "index_slack",
    "row_slack",
    "nulls",
    "splits",
    "seed",
    "cp_world_size",
    "cp_rank",
)
SPARSE_KEYS: Final = 100
"""Keys of a query token's list in sparse work."""
_RANK: Final = (4, 2)
"""Ranks, and which one, of the plainest case of a context-parallel recipe."""
_SOLO: Final = (1, 16, 17, 64, 65, 200)
_QUICK_EDGES: Final = (1, 2, 16, 17, 33, 65, 129)


def q_len_of(recipe: Recipe, item: str) -> int:
    """Query tokens of a request of the class: those of one item, or two whole items and a rest."""
    return 2 * recipe.tokens + max(1, recipe.min_tokens) if item == "cut" else int(item)


def base(recipe: Recipe, member: ProblemClass) -> Case:
    """The plainest case of a class."""
    # Several tokens, so that their lists differ.
    q_len = 3 if member.sparse else q_len_of(recipe, member.item)
    small = member.span == "small"
    world_size, rank = _RANK if recipe.context_parallel else (1, 0)
    return Case(
        heads=recipe.heads * member.groups,
        q_lens=(q_len,),
        kv_lens=(200,),
        page_size=member.page_size,
        causal=member.causal,
        granularity=max(1, 16 // member.page_size),
        partial_always=member.lse and not recipe.lse and recipe.persistent,
        splits=2 if member.split == "many" else 1,
        top_k=SPARSE_KEYS if member.sparse else -1,
        layout="shuffled" if small else member.span,
        cp_world_size=world_size,
        cp_rank=rank,
    )


def boundaries(recipe: Recipe, member: ProblemClass, *, quick: bool = False) -> list[Case]:
    """Every edge length in one batch, and alone in buffers that end with it."""
    plain = base(recipe, member)
    edges = _QUICK_EDGES if quick else axes()["kv_lens"].edges
    alone = _SOLO[1:3] if quick else _SOLO
    together = plain.but(q_lens=plain.q_lens * len(edges), kv_lens=tuple(edges), workgroups=11, seed=1)
    return [plain, together, *(plain.but(kv_lens=(length,), seed=2) for length in alone)]


def drawn(recipe: Recipe, member: ProblemClass, *, quick: bool = False) -> list[Case]:
    """Random members of a class in which every value of every free axis occurs; the same every time. Two of them if ``quick``."""
    stream = Stream("members", *member.to_json().values(), *recipe.to_json().values())
    free = free_axes(recipe)
    count = max(map(len, free.values()))
    columns = {}
    for name, values in free.items():
        # Whole rounds of the values, each shuffled.
        rounds = -(-count // len(values))
        columns[name] = [values[place] for _ in range(rounds) for place in stream.permutation(len(values))][:count]
    rows = [{name: column[place] for name, column in columns.items()} for place in range(2 if quick else count)]
    return [_case(recipe, member, row, seed) for seed, row in enumerate(rows, 3)]


def transplanted(recipe: Recipe, member: ProblemClass, case: Case) -> Case:
    """A case of another class with the lengths and the values of the free axes of a given one."""
    plain = base(recipe, member)
    kept = {name: getattr(case, name) for name in _FREE_FIELDS}
    if member.span != "small":
        kept["layout"] = plain.layout
    if not recipe.persistent and member.split == "one":
        kept["splits"] = 1
    pages = case.granularity * case.page_size
    return plain.but(**kept, q_lens=(plain.q_len,) * len(case.kv_lens), granularity=max(1, pages // member.page_size))


def free_axes(recipe: Recipe) -> dict[str, Sequence[Any]]:
    """The free axes that a recipe has."""
    found: dict[str, Sequence[Any]] = {name: axis.values for name, axis in axes().items() if axis.kind == "free"}
    if recipe.persistent:
        del found["splits"]
    else:
        for name in _PERSISTENT_ONLY:
            del found[name]
    if "fp8" not in (recipe.q_dtype, recipe.kv_dtype):
        del found["scales"]
    if recipe.min_tokens > 1:
        found.pop("ragged", None)
    if not recipe.context_parallel:
        del found["ranks"]
    return found


def crossed(recipe: Recipe, right: Iterable[ProblemClass]) -> list[Case]:
    """Cases in which every pair of values of two axes occurs: all free axes, and the claim axes' values that are right."""
    members = [member for member in right if member.groups == 1 and member.span == "small" and not member.sparse]
    claims: dict[str, list[Any]] = {}
    for name in ("page_size", "item", "causal", "split"):
        claims[name] = sorted({getattr(member, name) for member in members}, key=str)
    plain = {_key(member): member for member in reversed(members)}
    rows = covering({**claims, **free_axes(recipe)}, *recipe.to_json().values())
    cases = []
    for seed, row in enumerate(rows, 100):
        member = plain.get((row["page_size"], row["item"], row["causal"], row["split"]))
        if member is not None:
            cases.append(_case(recipe, member, row, seed))
    return cases


def _key(member: ProblemClass) -> tuple[int, str, bool, str]:
    """The claim axes that are crossed with the free ones."""
    return (member.page_size, member.item, member.causal, member.split)


def _case(recipe: Recipe, member: ProblemClass, row: Mapping[str, Any], seed: int) -> Case:
    """The member of a class with one value of each free axis."""
    plain = base(recipe, member)
    stream = Stream("case", seed, *member.to_json().values())
    count = row["requests"]
    edges = axes()["kv_lens"].edges
    # The drawn length, and edge lengths for the other requests.
    lengths = [row["kv_lens"], *(edges[stream.integer(0, len(edges) - 1)] for _ in range(count - 1))]
    q_lens = [plain.q_len] * count
    if row.get("ragged"):
        q_lens = [plain.q_len, *(stream.integer(0, plain.q_len) for _ in range(count - 1))]
    q_scale, kv_scale = row.get("scales", (1.0, 1.0))
    changes: dict[str, Any] = {
        "q_lens": tuple(q_lens),
        "kv_lens": tuple(lengths),
        "values": row["values"],
        "q_scale": q_scale,
        "kv_scale": kv_scale,
        "index_slack": row["index_slack"],
        "row_slack": row["row_slack"],
        "nulls": row["nulls"],
        "seed": seed,
    }
    if member.span == "small":
        changes["layout"] = row["layout"]
    if recipe.context_parallel:
        changes["cp_world_size"], changes["cp_rank"] = row["ranks"]
    if recipe.persistent:
        changes |= {"workgroups": row["workgroups"], "granularity": max(1, row["granularity"] // member.page_size)}
    elif member.split == "many":
        changes["splits"] = row["splits"]
    return plain.but(**changes)
