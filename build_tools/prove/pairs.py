"""Rows of values such that every pair of values of two axes occurs in some row."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from .random_bits import Stream


def covering(axes: Mapping[str, Sequence[Any]], *seed: object) -> list[dict[str, Any]]:
    """Rows that cover all pairs, the same for the same axes and seed. Each row is the best of a few drawn at random."""
    names = [name for name in axes if axes[name]]
    missing = {
        (first, a, second, b)
        for first, second in itertools.combinations(range(len(names)), 2)
        for a in range(len(axes[names[first]]))
        for b in range(len(axes[names[second]]))
    }
    stream = Stream("pairs", *seed)
    rows = []
    while missing:
        wanted = min(missing)
        best: tuple[int, list[int]] = (-1, [])
        for _ in range(24):
            row = [stream.integer(0, len(axes[name]) - 1) for name in names]
            row[wanted[0]], row[wanted[2]] = wanted[1], wanted[3]
            gain = len(_pairs(row) & missing)
            if gain > best[0]:
                best = (gain, row)
        missing -= _pairs(best[1])
        rows.append({name: axes[name][place] for name, place in zip(names, best[1], strict=True)})
    return rows


def _pairs(row: Sequence[int]) -> set[tuple[int, int, int, int]]:
    return {(first, row[first], second, row[second]) for first, second in itertools.combinations(range(len(row)), 2)}
