"""Why a case is not right: the smallest set of its values that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from .case import Case
from .outcome import Outcome

Run = Callable[[Sequence[Case]], list[Outcome]]

_PLAIN: Final[dict[str, Any]] = {
    "page_size": 1,
    "causal": True,
    "workgroups": 8,
    "partial_always": False,
    "splits": 1,
    "top_k": -1,
    "values": "normal",
    "q_scale": 1.0,
    "kv_scale": 1.0,
    "layout": "shuffled",
    "index_slack": 0,
    "row_slack": 0,
    "nulls": False,
    "timing": "latency",
    "poison": "finite",
}
"""Plain values of the fields that a diagnosis tries."""


def diagnose(case: Case, outcome: Outcome, run: Run) -> str:
    """What is wrong, and which of the case's values it takes: those without which the result is right."""
    changes = [(name, value) for name, value in _PLAIN.items() if getattr(case, name) != value]
    needed = [name for (name, _), found in zip(changes, run([_with(case, [change]) for change in changes]), strict=True) if found.right]
    if not needed and run([_with(case, changes)])[0].right:
        # No single value is at fault: those that cannot come back to the plain case without spoiling it.
        left = list(changes)
        for change in changes:
            fewer = [other for other in left if other != change]
            left = fewer if run([_with(case, fewer)])[0].right else left
        needed = [name for name, _ in left]
    text = outcome.status if outcome.status == "wrong" or not outcome.detail else f"{outcome.status}: {outcome.detail}"
    if outcome.status == "wrong" and outcome.errors is not None:
        text = f"wrong numbers ({'NaN' if outcome.errors.nan else 'rows off'})"
    place = f"q lengths {_short(case.q_lens)}, key counts {_short(case.kv_lens)}"
    if not needed:
        return f"{text} at {place}"
    return f"{text}, only with {' and '.join(f'{name} {getattr(case, name)}' for name in needed)}"


def _with(case: Case, changes: Sequence[tuple[str, Any]]) -> Case:
    """The case with some plain values. Granularity is in pages."""
    values = dict(changes)
    return case.but(**(values | ({"granularity": 16} if "page_size" in values else {})))


def _short(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values[:6])) + (" ..." if len(values) > 6 else "")
