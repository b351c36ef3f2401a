"""Checks of single claims and gates: what they state must be possible and must be something dispatch can evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from aiter_mla_aot.problem import DTYPE_PAIRS, MAX_HEADS, MAX_Q_LEN, MODES, PAGE_SIZES
from aiter_mla_aot.rules import FAILURE_ORDER, Flags, Fold, Gate
from build_tools.errors import ClaimInvalid, MissingObject

if TYPE_CHECKING:
    from build_tools.data.catalog import KernelRow

RECIPES: Final = ("persistent", "persistent_rows", "split_direct", "split_null")
MASKS: Final = ("causal", "request", "none")
_BOOLEAN: Final = (False, True)
_GATE_AXES: Final[dict[str, tuple[Any, ...]]] = {
    "heads": tuple(range(1, MAX_HEADS + 1)),
    "q_len": tuple(range(1, MAX_Q_LEN + 1)),
    **{name: PAGE_SIZES if name == "page_size" else _BOOLEAN for name in Flags._fields},
}


def check_claim(row: KernelRow, folds: Mapping[str, Fold], where: str) -> None:
    """Raise ``ClaimInvalid`` or ``MissingObject`` unless the row's claim can be dispatched on."""
    name = f"{where}: {row.file}"
    if row.scope not in ("decode", "prefill"):
        raise ClaimInvalid(f"{name}: scope {row.scope!r}", cause="no such scope", remedy="use decode or prefill")
    if (row.claim is None) == (row.not_served is None):
        raise ClaimInvalid(f"{name} needs a claim or a reason", cause="exactly one of `claim` and `not_served`", remedy="give one")
    claim = row.claim
    if claim is None:
        return
    prefix = "persistent" if claim.mode == "persistent" else "split"
    possible = {
        "scope": row.scope == "decode",
        "recipe": row.recipe in RECIPES and str(row.recipe).startswith(prefix),
        "sub_q": (row.sub_q is not None and row.sub_q > 0) == (claim.mode == "split"),
        "mode": claim.mode in MODES,
        "q_dtype, kv_dtype": (claim.q_dtype, claim.kv_dtype) in DTYPE_PAIRS,
        "heads": 1 <= claim.heads <= MAX_HEADS,
        "tokens": 1 <= claim.tokens <= MAX_Q_LEN,
        "min_tokens": 1 <= claim.min_tokens <= claim.tokens,
        "min_tokens with ragged": claim.min_tokens == 1 or not claim.ragged,
        "mask": claim.mask in MASKS,
        "causal": len(set(claim.causal)) == len(claim.causal) > 0,
        "page_sizes": len(claim.page_sizes) > 0 and set(claim.page_sizes) <= set(PAGE_SIZES),
        "mask request with folds": claim.mask != "request" or not set(claim.folds) & {"token_fold", "head_fold"},
    }
    for what, true in possible.items():
        if not true:
            raise ClaimInvalid(
                f"{name}: claim is impossible in {what}",
                cause="the fields contradict each other or the problem domain",
                remedy="correct the claim",
            )
    for fold in claim.folds:
        if fold not in folds:
            raise MissingObject(
                f"{name}: fold {fold!r} does not exist", cause="folds.toml has no such fold", remedy=f"use {', '.join(folds)}"
            )


def check_gate(gate: Gate, where: str) -> None:
    """Raise ``ClaimInvalid`` unless the gate's code and conditions are ones that dispatch evaluates."""
    name = f"{where}/gates.toml: {gate.id}"
    if gate.code not in FAILURE_ORDER:
        raise ClaimInvalid(f"{name}: code {gate.code!r}", cause="no such refusal code", remedy=f"use one of {', '.join(FAILURE_ORDER)}")
    for axis, values in gate.when.items():
        if axis not in _GATE_AXES:
            raise ClaimInvalid(f"{name}: condition on {axis!r}", cause="no such axis", remedy=f"use {', '.join(_GATE_AXES)}")
        if not isinstance(values, list) or not values or any(value not in _GATE_AXES[axis] for value in values):
            raise ClaimInvalid(
                f"{name}: values of {axis}", cause="a condition lists values of its axis", remedy=f"list values of {_GATE_AXES[axis]}"
            )
