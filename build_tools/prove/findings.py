"""A proof as evidence holds it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .battery import ClassResult, Proof, digest_of


def finding_of(proof: Proof) -> dict[str, Any]:
    """A proof as evidence holds it."""
    right = [result for result in proof.classes if result.status == "right"]
    causes: dict[tuple[str, str], list[ClassResult]] = {}
    for result in proof.classes:
        if result.status != "right":
            causes.setdefault((result.status, result.cause), []).append(result)
    lse = [result.lse for result in right if result.lse is not None]
    return {
        "recipe": proof.recipe.to_json(),
        "right": [[*result.member.to_json().values(), digest_of(result.digests)] for result in right],
        "wrong": [
            {"status": status, "cause": cause, "classes": [list(result.member.to_json().values()) for result in group]}
            for (status, cause), group in causes.items()
        ],
        "worst": {
            "output": _rounded(max((result.output for result in right), default=0.0)),
            "row": _rounded(max((result.row for result in right), default=0.0)),
            "lse": _rounded(max(lse)) if lse else None,
        },
        "properties": {
            "nan_safe": proof.poison["nan"],
            "large_safe": proof.poison["large"],
            "timing": asdict(proof.timing) | {"models": list(proof.timing.models)},
        },
        "members": proof.ran,
        "crossed": proof.crossed,
        "curve": [[length, _rounded(error)] for length, error in proof.curve],
    }


def _rounded(value: float) -> float:
    """Three digits: the reference's last bits may differ between machines."""
    return float(f"{value:.3g}")
