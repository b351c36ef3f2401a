"""Rules bound to evidence: which classes a claim relies on, and which of them its kernel was not shown to be right for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from aiter_mla_aot.problem import MAX_HEADS
from aiter_mla_aot.rules import Claim, Gate

from . import evidence
from .case import Recipe
from .classes import ProblemClass, axes
from .errors import RuleOutsideEnvelope

_LARGE_SPAN = "span_4g"


def needed(claim: Claim, gates: Iterable[Gate]) -> tuple[ProblemClass, ...]:
    """The classes that a claim's problems fall into, without those that a gate forbids for every problem of the class.

    A gate on heads or on query lengths forbids single problems, never a whole class.
    """
    whole = [gate for gate in gates if not {"heads", "q_len", "ragged", "sparse", "context_parallel", "lse"} & set(gate.when)]
    splits = ("",) if claim.mode == "persistent" else ("one", "many")
    found = []
    for page in claim.page_sizes:
        for causal in claim.causal:
            for split in splits:
                found += _of(claim, ProblemClass(page, str(claim.tokens), causal, 1, "small", claim.lse, split))
    return tuple(dict.fromkeys(member for member in found if not any(_forbids(gate, member) for gate in whole)))


def _of(claim: Claim, plain: ProblemClass) -> list[ProblemClass]:
    one_token = claim.mask == "none" and plain.causal
    items = ["1"] if one_token else [str(count) for count in range(claim.min_tokens, claim.tokens + 1)]
    found = [replace(plain, item=item) for item in items]
    found += [replace(plain, span=span) for span in axes()["span"].values]
    if "token_fold" in claim.folds:
        found.append(replace(plain, item="cut"))
    if claim.sparse:
        found.append(replace(plain, item="1", sparse=True))
    if "head_fold" in claim.folds:
        found += [replace(plain, item="1", groups=count) for count in axes()["groups"].values if count * claim.heads <= MAX_HEADS]
    return found


def _forbids(gate: Gate, member: ProblemClass) -> bool:
    values = {"page_size": member.page_size, "causal": member.causal, "kv_over_4gib": member.span == _LARGE_SPAN}
    return all(values[axis] in wanted for axis, wanted in gate.when.items())


def findings(claim: Claim, recipe: str, found: evidence.Evidence) -> list[Mapping[str, Any]]:
    """What the evidence says of the way the claim feeds the kernel."""
    wanted = (recipe, claim.q_dtype, claim.kv_dtype, claim.heads, claim.tokens, claim.mask, claim.lse)
    same = []
    for finding in found.findings:
        shown = Recipe.from_json(finding["recipe"])
        if wanted == (shown.recipe, shown.q_dtype, shown.kv_dtype, shown.heads, shown.tokens, shown.mask, shown.lse):
            same.append(finding)
    return same


def missing(recipe: str, claim: Claim, gates: Iterable[Gate], found: evidence.Evidence) -> tuple[str, ...]:
    """The classes that the claim relies on and the evidence does not show, in words."""
    shown: set[ProblemClass] = set()
    for finding in findings(claim, recipe, found):
        shown |= found.envelope(Recipe.from_json(finding["recipe"]))
    lost = [member.to_json() for member in needed(claim, gates) if member not in shown]
    return tuple(", ".join(f"{name} {value}" for name, value in member.items() if value != "") for member in lost)


def check(arch: str, file: str, recipe: str, claim: Claim, gates: Iterable[Gate], found: evidence.Evidence) -> None:
    """Raises ``RuleOutsideEnvelope`` if the claim relies on a class that the evidence does not show."""
    lost = missing(recipe, claim, gates, found)
    if lost:
        raise RuleOutsideEnvelope(
            f"{arch} {file}: the claim relies on {len(lost)} classes that its evidence does not show",
            cause=f"the first: {lost[0]}",
            remedy="narrow the claim, add a gate with the measured cause, or prove the kernel for the class",
        )
