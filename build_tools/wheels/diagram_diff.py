"""Compares the decision diagrams of two tables of one arch: which problems get another answer, as ranges of axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import prod
from typing import Any, Final

from aiter_mla_aot.problem import DTYPE_PAIRS, MAX_HEADS, MAX_Q_LEN, MODES, PAGE_SIZES
from aiter_mla_aot.rules import layout
from aiter_mla_aot.table import AXES, REFUSAL, Table

Outcome = tuple[str, str]
"""(kernel's file, route), or ("refused", refusal code)."""
Change = tuple[Outcome, Outcome]

_BOOLEAN: Final = (False, True)
VALUES: Final[tuple[tuple[Any, ...], ...]] = (
    MODES,
    tuple("/".join(pair) for pair in DTYPE_PAIRS),
    tuple(range(1, MAX_HEADS + 1)),
    tuple(range(1, MAX_Q_LEN + 1)),
    _BOOLEAN,
    PAGE_SIZES,
    *(_BOOLEAN,) * 5,
)
"""What the places on each axis of ``AXES`` stand for."""
_SIZED: Final = 4
"""Number of the axes up to and including q_len: all that a route depends on."""


@dataclass(frozen=True, slots=True)
class Box:
    """Problems that are every combination of some places on each axis of ``AXES``."""

    places: tuple[tuple[int, ...], ...]

    @property
    def problems(self) -> int:
        """How many problems the box holds."""
        return prod(len(places) for places in self.places)

    def to_json(self) -> dict[str, Any]:
        """The number of problems, and the values of each axis on which the box is not the whole axis."""
        rows: dict[str, Any] = {"problems": self.problems}
        for (name, width), places, values in zip(AXES, self.places, VALUES, strict=True):
            if len(places) < width:
                rows[name] = [values[place] for place in places]
        return rows

    def __str__(self) -> str:
        parts = [
            f"{name} {_ranges(places, values)}"
            for (name, width), places, values in zip(AXES, self.places, VALUES, strict=True)
            if len(places) < width
        ]
        return ", ".join(parts) or "every problem"


def _ranges(places: Sequence[int], values: Sequence[Any]) -> str:
    parts = []
    for _, group in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        run = [place for _, place in group]
        first, last = str(values[run[0]]).lower(), str(values[run[-1]]).lower()
        parts.append(first if len(run) == 1 else f"{first} {last}" if len(run) == 2 else f"{first}..{last}")
    return " ".join(parts)


@dataclass(slots=True)
class _Tree:
    """A diagram of changes with equal parts stored once: 0 where nothing changes, a change as a negative number, else a node."""

    changes: list[Change] = field(default_factory=list)
    nodes: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    _numbers: dict[Change, int] = field(default_factory=dict)
    _places: dict[tuple[int, ...], int] = field(default_factory=dict)

    def leaf(self, old: Outcome, new: Outcome) -> int:
        """The number of a change, 0 if there is none."""
        if old == new:
            return 0
        if (old, new) not in self._numbers:
            self.changes.append((old, new))
            self._numbers[old, new] = -len(self.changes)
        return self._numbers[old, new]

    def node(self, children: tuple[int, ...]) -> int:
        """The place of a node with these children."""
        if not any(children):
            return 0
        if children not in self._places:
            self._places[children] = len(self.nodes)
            self.nodes.append(children)
        return self._places[children]

    def only(self, place: int, change: int, memo: dict[int, int]) -> int:
        """The part of a tree in which one change happens."""
        if place <= 0:
            return place if place == change else 0
        if place not in memo:
            memo[place] = self.node(tuple(self.only(child, change, memo) for child in self.nodes[place]))
        return memo[place]

    def boxes(self, place: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Disjoint boxes that hold exactly the changed problems of a tree: equal children of a node go into one box."""
        if place == 0:
            return
        if place < 0:
            yield ()
            return
        children = self.nodes[place]
        for child in dict.fromkeys(children):
            places = tuple(number for number, other in enumerate(children) if other == child)
            for rest in self.boxes(child):
                yield (places, *rest)


@dataclass(slots=True)
class _Side:
    """One of the two tables, and what its answers mean."""

    table: Table
    nodes: tuple[int, ...]
    _leaves: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def leaves(self, place: int, level: int) -> tuple[int, ...]:
        """Every answer below a node."""
        if (place, level) not in self._leaves:
            found = set(self.nodes[place : place + AXES[level][1]])
            if level + 1 < len(AXES):
                found = {leaf for child in found for leaf in self.leaves(child, level + 1)}
            self._leaves[place, level] = tuple(sorted(found))
        return self._leaves[place, level]

    def outcome(self, leaf: int, heads: int, q_len: int) -> Outcome:
        """The meaning of an answer for a number of heads and query tokens."""
        if leaf >= REFUSAL:
            return "refused", self.table.refusals[leaf - REFUSAL]
        index, single = self.table.plans[leaf]
        kernel = self.table.kernels[index]
        return kernel.file, layout(kernel.claim, heads, q_len, single).route if kernel.claim else "no claim"


def changes(old: Table, new: Table, catalog: str = "shipped") -> dict[Change, list[Box]]:
    """Every change of answer between two tables of one arch, with the problems it concerns, most problems first."""
    walk = _Walk(_Side(old, old.catalogs[catalog].nodes), _Side(new, new.catalogs[catalog].nodes))
    root = walk.sized(old.catalogs[catalog].root, new.catalogs[catalog].root, ())
    tree = walk.tree
    found = {}
    for number, change in enumerate(tree.changes, 1):
        found[change] = [Box(places) for places in tree.boxes(tree.only(root, -number, {}))]
    return dict(sorted(found.items(), key=lambda item: (-sum(box.problems for box in item[1]), item[0])))


@dataclass(slots=True)
class _Walk:
    """The walk of both diagrams at once."""

    old: _Side
    new: _Side
    tree: _Tree = field(default_factory=_Tree)
    _memo: dict[Any, int] = field(default_factory=dict)

    def sized(self, a: int, b: int, places: tuple[int, ...]) -> int:
        """The changes below two nodes on an axis that a route depends on."""
        level = len(places)
        if level < _SIZED:
            width = AXES[level][1]
            return self.tree.node(tuple(self.sized(self.old.nodes[a + i], self.new.nodes[b + i], (*places, i)) for i in range(width)))
        heads, q_len = VALUES[2][places[2]], VALUES[3][places[3]]
        before = {leaf: self.old.outcome(leaf, heads, q_len) for leaf in self.old.leaves(a, level)}
        after = {leaf: self.new.outcome(leaf, heads, q_len) for leaf in self.new.leaves(b, level)}
        key = (a, b, tuple(before.values()), tuple(after.values()))
        if key not in self._memo:
            self._memo[key] = self._flags(level, a, b, before, after, {})
        return self._memo[key]

    def _flags(
        self, level: int, a: int, b: int, before: dict[int, Outcome], after: dict[int, Outcome], memo: dict[tuple[int, int, int], int]
    ) -> int:
        if level == len(AXES):
            return self.tree.leaf(before[a], after[b])
        if (level, a, b) not in memo:
            pairs = ((self.old.nodes[a + i], self.new.nodes[b + i]) for i in range(AXES[level][1]))
            memo[level, a, b] = self.tree.node(tuple(self._flags(level + 1, x, y, before, after, memo) for x, y in pairs))
        return memo[level, a, b]
