"""How far from the reference a result may be, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
OUTPUT_BAR: Final = {"bf16": 1e-2, "fp8": 4e-2}
"""Largest relative Frobenius error, by the narrower of the two input formats."""
ROW_FACTOR: Final = 5.0
LSE_BAR: Final = 2e-3


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of a run. ``nan``: a NaN, or an infinity where none belongs. ``lse`` is None where no LSE was given."""

    output: float
    worst_row: float
    lse: float | None
    nan: bool

    def right(self, bar: float) -> bool:
        """Whether all are within their bars."""
        if self.nan:
            return False
        return self.output <= bar and self.worst_row <= ROW_FACTOR * bar and (self.lse is None or self.lse <= LSE_BAR)


def bar_of(q_dtype: str, kv_dtype: str) -> float:
    """The output bar of a pair of input formats."""
    return OUTPUT_BAR["bf16" if (q_dtype, kv_dtype) == ("bf16", "bf16") else "fp8"]


def measure(out: Float64, expected: Float64, lse: Float64 | None, expected_lse: Float64) -> Errors:
    """Compares [tokens, heads, dim] and [tokens, heads]. A row is one token's head."""
    bad = not np.isfinite(out).all() or (lse is not None and (bool(np.isnan(lse).any()) or bool((lse == np.inf).any())))
    if out.size == 0:
        return Errors(0.0, 0.0, None if lse is None else 0.0, bad)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(np.isfinite(out), out, 0.0) - expected
        rows, sizes = np.linalg.norm(difference, axis=-1), np.linalg.norm(expected, axis=-1)
        output = _ratio(np.linalg.norm(rows), np.linalg.norm(sizes))
    return Errors(output, _ratios(rows, sizes), _lse_error(lse, expected_lse), bad)


def _ratio(error: np.floating, size: np.floating) -> float:
    if error == 0.0:
        return 0.0
    return float(error / size) if size else float("inf")


def _ratios(errors: Float64, sizes: Float64) -> float:
    return max((_ratio(error, size) for error, size in zip(errors.ravel(), sizes.ravel(), strict=True)), default=0.0)


def _lse_error(lse: Float64 | None, expected: Float64) -> float | None:
    if lse is None:
        return None
    empty = np.isneginf(expected)
    if not np.isneginf(lse[empty]).all():
        return float("inf")
    seen = lse[~empty]
    if np.isneginf(seen).any():
        return float("inf")
    return float(np.abs(np.nan_to_num(seen) - expected[~empty]).max(initial=0.0))
