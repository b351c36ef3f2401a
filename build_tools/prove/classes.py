"""The declaration of axes and classes, read from ``classes.toml``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.problem import MAX_HEADS
from build_tools.data import data_file

from .case import LAYOUTS, POISONS, TIMINGS, VALUES, Recipe
from .errors import ClassesInvalid

FILE: Final = Path(__file__).with_name("classes.toml")
_KINDS: Final = ("claim", "free", "property")
_KNOWN: Final[dict[str, tuple[Any, ...]]] = {
    "timing": TIMINGS,
    "poison": POISONS,
    "values": VALUES,
    "layout": LAYOUTS,
    "span": ("small", *LAYOUTS),
}


CLASS_FIELDS: Final = ("page_size", "item", "causal", "groups", "span", "lse", "split", "sparse")


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its kind, its values and why members of one value cannot differ unseen."""

    name: str
    kind: str
    values: tuple[Any, ...]
    edges: tuple[Any, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ProblemClass:
    """One value of each claim axis."""

    page_size: int
    item: str
    causal: bool
    groups: int
    span: str
    lse: bool
    split: str = ""
    """``one`` or ``many`` splits; empty for work items of a planner."""
    sparse: bool = False

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {name: getattr(self, name) for name in CLASS_FIELDS}


@cache
def axes(path: Path = FILE) -> Mapping[str, Axis]:
    """All axes by name. Raises ``ClassesInvalid``."""
    data = data_file.load(path)
    found: dict[str, Axis] = {}
    for kind in _KINDS:
        for row in data.get(kind, []):
            axis = Axis(row["name"], kind, tuple(map(_frozen, row["values"])), tuple(row.get("edges", ())), row["reason"])
            unknown = [value for value in axis.values if value not in _KNOWN.get(axis.name, axis.values)]
            if axis.name in found or not axis.values or not axis.reason or unknown:
                raise ClassesInvalid(
                    f"{path.name}: axis {axis.name!r}",
                    cause="declared twice, empty, without a reason, or with unknown values",
                    remedy="correct it",
                )
            found[axis.name] = axis
    return found


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def classes_of(recipe: Recipe) -> tuple[ProblemClass, ...]:
    """Every class that could be asked of a kernel under a recipe, the plainest first.

    Page sizes, items and masks occur in all combinations. Head groups, spans and the LSE change the distance of rows, the size of
    offsets and where results go: each of their values occurs with every page size and mask, on the recipe's own items.
    """
    declared = axes()
    items = [item for item in declared["item"].values if item == "cut" or int(item) <= recipe.tokens]
    items = [item for item in items if item == "cut" or int(item) >= recipe.min_tokens]
    if not recipe.persistent or recipe.context_parallel:
        # A rank cannot tell which of its keys the tokens of a cut request see.
        items.remove("cut")
    native = str(recipe.tokens)
    splits = (
        ("",) if recipe.persistent else tuple(value for value in declared["split"].values if value == "many" or recipe.single != "none")
    )
    plain = ProblemClass(1, native, True, 1, "small", recipe.lse, splits[0])
    found = []
    for page, causal, split in itertools.product(declared["page_size"].values, declared["causal"].values, splits):
        own = replace(plain, page_size=page, causal=causal, split=split)
        if recipe.context_parallel and recipe.mask == "none" and causal:
            # Nor can it leave out keys for a kernel that shows all.
            found += [replace(own, item=item) for item in items if item == "1"]
            continue
        found += [replace(own, item=item) for item in items]
        found += [replace(own, span=span) for span in declared["span"].values[1:]]
        if recipe.persistent:
            alone = recipe.min_tokens == 1 and not recipe.context_parallel
            groups = declared["groups"].values[1:] if alone else ()
            found += [replace(own, item="1", groups=count) for count in groups if count * recipe.heads <= MAX_HEADS]
            found.append(replace(own, lse=True))
            if alone:
                found.append(replace(own, item="1", sparse=True))
    return tuple(sorted(dict.fromkeys(found), key=lambda member: (member != plain, member.page_size)))
