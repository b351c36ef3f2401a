"""A second, brute-force reading of the data: every kernel x every cut of a problem, over the whole domain at once.

Nothing of the product's rules is used: the TOML is read here, and validity is written as arrays over the axes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tomllib

from aiter_mla_aot.rules import HardwareRule

AXES = ("mode", "dtypes", "heads", "q_len", "ragged", "page_size", "causal", "lse", "context_parallel", "sparse", "kv_over_4gib")
VALUES: dict[str, list[Any]] = {
    "mode": ["persistent", "split"],
    "dtypes": ["bf16/bf16", "bf16/fp8", "fp8/fp8", "bf16/byte"],
    "heads": list(range(1, 129)),
    "q_len": list(range(1, 17)),
    "ragged": [False, True],
    "page_size": [1, 2, 4, 8, 16, 32, 64, 128, 256],
    "causal": [False, True],
    "lse": [False, True],
    "context_parallel": [False, True],
    "sparse": [False, True],
    "kv_over_4gib": [False, True],
}
SHAPE = tuple(len(VALUES[axis]) for axis in AXES)
INNER = AXES[2:]
NOTHING = 255

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Answers:
    """Per problem: row of the chosen kernel (``NOTHING`` if none may serve), tokens of an item, and how many kernels tie."""

    files: list[str]
    kernel: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.uint8]
    ties: int


def solve(hsa: Path, arch: str, catalog: str, hardware: Sequence[HardwareRule] = ()) -> Answers:
    """Try everything for every problem of an arch.

    hardware: what results from devices changed; which of them may is for other tests, here they change exactly their problem.
    """
    rows = _read(hsa, arch, "kernels")["kernel"]
    folds = {fold["name"]: fold for fold in _read(hsa, arch, "folds")["fold"]}
    gates = _read(hsa, arch, "gates")["gate"]
    locked = {item["sha256"] for item in _read(hsa, arch, "lock")["object"]}
    older = {row["supersedes"] for row in rows if "supersedes" in row}
    members = [row for row in rows if "claim" in row and (row["sha256"] in locked if catalog == "shipped" else row["sha256"] not in older)]
    kernel = np.full(SHAPE, NOTHING, np.uint8)
    tokens = np.zeros(SHAPE, np.uint8)
    best = np.full(SHAPE, np.iinfo(np.int64).max, np.int64)
    ties = np.zeros(SHAPE, bool)
    for number, row in enumerate(members):
        claim = row["claim"]
        place = (VALUES["mode"].index(claim["mode"]), VALUES["dtypes"].index(f"{claim['q_dtype']}/{claim['kv_dtype']}"))
        allowed = _with_hardware(row, claim, gates, [rule for rule in hardware if rule.kernel == row["sha256"]])
        own = np.full(SHAPE[2:], np.iinfo(np.int64).max, np.int64)
        own_tokens = np.zeros(SHAPE[2:], np.uint8)
        for cut in range(claim["min_tokens"], claim["tokens"] + 1):
            valid = allowed & _cut_valid(claim, folds, cut)
            cost = np.broadcast_to(_cost(claim, cut), SHAPE[2:])
            better = valid & (cost <= own)
            own[better], own_tokens[better] = cost[better], cut
        served = own_tokens > 0
        wins = served & (own < best[place])
        ties[place] = (ties[place] & ~wins) | (served & (own == best[place]))
        kernel[place][wins], tokens[place][wins], best[place][wins] = number, own_tokens[wins], own[wins]
    return Answers([row["sha256"] for row in members], kernel, tokens, int(ties.sum()))


def _read(hsa: Path, arch: str, name: str) -> dict[str, Any]:
    return tomllib.loads((hsa / arch / f"{name}.toml").read_text(encoding="utf-8"))


def _along(axis: str, values: Any) -> npt.NDArray[Any]:
    """Values of one axis, shaped to broadcast over the others."""
    return np.asarray(values).reshape([-1 if name == axis else 1 for name in INNER])


def _with_hardware(row: dict[str, Any], claim: dict[str, Any], gates: list[dict[str, Any]], rules: list[HardwareRule]) -> Bools:
    allowed = _axes_allowed(row, claim, gates)
    for when in {str(rule.when): rule.when for rule in rules}.values():
        here = [rule for rule in rules if rule.when == when]
        lifted = {rule.gate for rule in here if rule.effect == "lifts"}
        codes = {"causal" if rule.code == "mask" else rule.code for rule in here if rule.effect == "lifts"}
        one = _axes_allowed(row, claim, [gate for gate in gates if gate["id"] not in lifted], codes)
        cell = _held(when)
        allowed = np.where(cell, one & (len(lifted) == len(here)), allowed)
    return allowed


def _held(when: Mapping[str, Any]) -> Bools:
    held: Bools = np.ones(SHAPE[2:], bool)
    for axis, values in when.items():
        held &= _along(axis, [value in values for value in VALUES[axis]])
    return held


def _axes_allowed(row: dict[str, Any], claim: dict[str, Any], gates: list[dict[str, Any]], free: Collection[str] = ()) -> Bools:
    allowed: Bools = np.ones(SHAPE[2:], bool)
    for axis, good in (
        ("page_size", claim["page_sizes"]),
        ("causal", claim["causal"]),
        ("lse", [claim["lse"]]),
        ("context_parallel", [claim["context_parallel"]]),
        ("ragged", [False, True] if claim["ragged"] else [False]),
        ("sparse", [False, True] if claim["sparse"] else [False]),
    ):
        allowed &= _along(axis, [axis in free or value in good for value in VALUES[axis]])
    for gate in gates:
        if any(fnmatch(row["file"], pattern) for pattern in gate["kernels"]):
            allowed &= ~_held(gate["when"])
    return allowed


def _cut_valid(claim: dict[str, Any], folds: dict[str, Any], cut: int) -> Bools:
    """Where a problem may lie on the kernel in items of ``cut`` query tokens."""
    heads, q_len = _along("heads", VALUES["heads"]), _along("q_len", VALUES["q_len"])
    valid: Bools = np.broadcast_to(q_len >= cut, SHAPE[2:]).copy()
    if cut > 1:
        valid &= (heads <= claim["heads"]) & ~_along("sparse", VALUES["sparse"])
        if claim["mask"] == "none":
            valid &= ~(_along("causal", VALUES["causal"]) & (q_len > 1))
    for name, used in (("token_fold", q_len > cut), ("head_fold", heads > claim["heads"]), ("head_pad", heads % claim["heads"] > 0)):
        fold = folds[name]
        if name not in claim["folds"] or claim["mode"] not in fold["modes"]:
            valid &= ~used
        if fold["page_sizes"]:
            valid &= ~used | _along("page_size", [size in fold["page_sizes"] for size in VALUES["page_size"]])
        if not fold["ragged"]:
            valid &= ~(used & _along("ragged", VALUES["ragged"]))
    return valid


def _cost(claim: dict[str, Any], cut: int) -> npt.NDArray[np.int64]:
    """Heads added, then passes over the KV, then rows computed, as one number."""
    heads, q_len = _along("heads", VALUES["heads"]).astype(np.int64), _along("q_len", VALUES["q_len"]).astype(np.int64)
    groups = np.ceil(heads / claim["heads"]).astype(np.int64)
    items = groups * np.ceil(q_len / cut).astype(np.int64)
    cost: npt.NDArray[np.int64] = ((groups * claim["heads"] - heads) * 10**6 + items) * 10**6 + items * claim["heads"] * claim["tokens"]
    return cost
