"""The rules: what a kernel claims, how a problem folds onto it, and which gates forbid it.

The build applies these rules to every problem of the domain and writes the answers into the table; at run time they only
explain an answer (``explanation``). Pure functions of data; no file, no device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

HARDWARE: Final = "hardware"
"""Refusal code of a gate that a result from a device added."""

FAILURE_ORDER: Final = (
    "page_size",
    "q_len",
    "heads",
    "mask",
    "lse",
    "context_parallel",
    "ragged",
    "sparse",
    "kv_span",
    HARDWARE,
    "unproven",
)
"""Refusal codes of a candidate, the one that a caller can do most about first."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What dispatch may use a kernel for. ``heads`` x ``tokens`` are the query rows one work item of the kernel holds."""

    mode: str
    q_dtype: str
    kv_dtype: str
    heads: int
    tokens: int
    min_tokens: int
    mask: str
    """``causal``: per item, steered by kv_offset. ``request``: by the token's place in its request. ``none``: no mask at all."""
    causal: tuple[bool, ...]
    lse: bool
    context_parallel: bool
    ragged: bool
    sparse: bool
    page_sizes: tuple[int, ...]
    folds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """How a problem is reshaped to fit a kernel, and where that is valid. ``page_sizes`` empty means any."""

    name: str
    modes: tuple[str, ...]
    page_sizes: tuple[int, ...]
    ragged: bool
    reason: str
    reference: str


@dataclass(frozen=True, slots=True)
class Gate:
    """A rule that forbids kernels for some problems although their key matches."""

    id: str
    kernels: tuple[str, ...]
    code: str
    when: Mapping[str, Any]
    cause: str
    reference: str

    def forbids(self, heads: int, q_len: int, flags: Flags) -> bool:
        """Whether all of the gate's conditions hold for the problem."""
        return _holds(self.when, heads, q_len, flags)


@dataclass(frozen=True, slots=True)
class HardwareRule:
    """What results from devices changed for one kernel and exactly one problem: a gate lifted, or a gate added.

    kernel: SHA-256 of the object. effect: ``lifts`` or ``forbids``. gate, code: of the gate. when: one value of every axis.
    """

    kernel: str
    effect: str
    gate: str
    code: str
    when: Mapping[str, Any]
    text: str

    def concerns(self, heads: int, q_len: int, flags: Flags) -> bool:
        """Whether the problem is the one that ran."""
        return _holds(self.when, heads, q_len, flags)


def _holds(when: Mapping[str, Any], heads: int, q_len: int, flags: Flags) -> bool:
    values: dict[str, Any] = {"heads": heads, "q_len": q_len, **flags._asdict()}
    return all(values[axis] in wanted for axis, wanted in when.items())


class Flags(NamedTuple):
    """The axes of a problem on which no size depends, in the order of the table's diagram."""

    ragged: bool
    page_size: int
    causal: bool
    lse: bool
    context_parallel: bool
    sparse: bool
    kv_over_4gib: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """How a problem lies on a kernel: head groups x token pieces, each a work item."""

    padded_heads: int
    head_groups: int
    tokens_per_item: int
    items_per_request: int
    rows_launched: int
    folds: tuple[str, ...]

    @property
    def route(self) -> str:
        """The folds joined with ``+``, or ``native``."""
        return "+".join(self.folds) or "native"


class Failure(NamedTuple):
    """One reason why a kernel may not serve a problem: a refusal code, and the gate or fold it comes from."""

    code: str
    source: str


def one_token_items(claim: Claim, heads: int, q_len: int, flags: Flags) -> bool:
    """Whether each work item may hold only one query token.

    Head groups share no token range in q's memory, a sparse token has its own KV list, and a kernel without a mask is
    right under a causal mask only where the item's KV range ends at its token.
    """
    head_groups = heads > claim.heads and "head_fold" in claim.folds
    own_lists = flags.sparse and claim.sparse
    # What a claim does not allow is a failure of its own and must not make the query length look like the cause.
    return head_groups or own_lists or (claim.mask == "none" and flags.causal and q_len > 1)


def layout(claim: Claim, heads: int, q_len: int, single: bool) -> Layout:
    """The launch numbers of a problem on a kernel, whether or not the kernel may serve it."""
    groups = -(-heads // claim.heads)
    padded = groups * claim.heads
    tokens = 1 if single else min(q_len, claim.tokens)
    items = groups * -(-q_len // tokens)
    folds = tuple(name for name, used in (("head_fold", groups > 1), ("token_fold", tokens < q_len), ("head_pad", padded > heads)) if used)
    return Layout(padded, groups, tokens, items, items * claim.heads * claim.tokens, folds)


def rank(claim: Claim, heads: int, q_len: int, single: bool) -> tuple[int, int, int]:
    """Order of preference, best first: fewest heads added, fewest passes over the KV, fewest query rows computed."""
    shape = layout(claim, heads, q_len, single)
    return (shape.padded_heads - heads, shape.items_per_request, shape.rows_launched)


def failures(
    claim: Claim,
    gates: tuple[Gate, ...],
    folds: Mapping[str, Fold],
    heads: int,
    q_len: int,
    flags: Flags,
    lifts: tuple[HardwareRule, ...] = (),
) -> tuple[Failure, ...]:
    """Every reason why the kernel may not serve the problem, in ``FAILURE_ORDER``; empty if it may.

    The problem's mode and dtypes are taken to be the claim's. lifts: those of the kernel. A lifted gate takes with it what the claim
    leaves out under the gate's code: the claim ends where the gate begins.
    """
    shape = layout(claim, heads, q_len, one_token_items(claim, heads, q_len, flags))
    found = [Failure(code, "claim") for code in _claim_failures(claim, shape, flags)]
    for name in shape.folds:
        fold = folds[name]
        code = "q_len" if name == "token_fold" else "heads"
        if name not in claim.folds or claim.mode not in fold.modes:
            found.append(Failure(code, name))
            continue
        if fold.page_sizes and flags.page_size not in fold.page_sizes:
            found.append(Failure("page_size", name))
        if flags.ragged and not fold.ragged:
            found.append(Failure("ragged", name))
    found += [Failure(gate.code, gate.id) for gate in gates if gate.forbids(heads, q_len, flags)]
    for lift in lifts:
        if lift.concerns(heads, q_len, flags):
            found = [failure for failure in found if failure.source != lift.gate and failure != (lift.code, "claim")]
    return tuple(sorted(found, key=lambda failure: FAILURE_ORDER.index(failure.code)))


def _claim_failures(claim: Claim, shape: Layout, flags: Flags) -> list[str]:
    checks = (
        ("page_size", flags.page_size in claim.page_sizes),
        ("q_len", shape.tokens_per_item >= claim.min_tokens),
        ("mask", flags.causal in claim.causal),
        ("lse", flags.lse == claim.lse),
        ("context_parallel", flags.context_parallel == claim.context_parallel),
        ("ragged", claim.ragged or not flags.ragged),
        ("sparse", claim.sparse or not flags.sparse),
    )
    return [code for code, passed in checks if not passed]
