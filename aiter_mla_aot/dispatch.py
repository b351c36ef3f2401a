"""Dispatch: every problem has exactly one answer, a plan or a refusal. Pure; needs neither GPU nor torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from . import table
from .errors import InvalidProblem, Refused
from .problem import DTYPE_PAIRS, Problem
from .rules import HARDWARE, Layout, layout

UNKNOWN_KV_BYTES: Final = "the KV buffer spans at most 4 GiB: kv_bytes was not given"

REFUSAL_TEXT: Final = {
    "arch_not_in_wheel": "this wheel holds no code object for the arch",
    "out_dtype": "the kernels write bf16 output only",
    "head_dims": "the kernels take q and KV rows of 576 and write rows of 512",
    "logit_cap": "no kernel applies a logit cap",
    "dtypes": "no published kernel takes this pair of q and KV dtypes on this arch",
    "mode": "no published kernel takes these dtypes in this scheduling mode",
    "not_in_wheel": "only kernels that this wheel does not hold take these dtypes in this mode",
    "page_size": "no kernel is known to be right at this page size",
    "q_len": "no kernel takes this many query tokens, whole or cut into items",
    "heads": "no kernel takes this many heads, whole, folded or padded",
    "mask": "no kernel is right under this mask for this query length",
    "lse": "no kernel writes the log-sum-exp of every row",
    "context_parallel": "no kernel maps the keys of a context-parallel rank",
    "ragged": "no route takes query lengths that differ between requests",
    "sparse": "no kernel takes a KV list for each query token",
    "unproven": "the kernels of this wheel that would serve it have not been run: there is no evidence for their bytes",
    "kv_span": "the KV buffer is larger than the kernels' 32-bit byte offsets reach",
    HARDWARE: "the kernels that would serve it were reported from a device to be wrong or to fail on it",
}
"""Every refusal code and what it states."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to a served problem: a kernel, how the problem folds onto it, and how it is launched."""

    problem: Problem
    kernel: table.Kernel
    single: bool
    fold: Layout
    preconditions: tuple[str, ...]
    """What the caller must guarantee because the host cannot see it, or was not told."""

    @property
    def route(self) -> str:
        """``native`` or the folds joined with ``+``."""
        return self.fold.route

    def to_json(self) -> dict[str, Any]:
        """The plan as `resolve` prints it."""
        claim = self.kernel.claim
        width = claim.heads if claim else 0
        return {
            "outcome": "served",
            "kernel": self.kernel.name,
            "object": self.kernel.file,
            "sha256": self.kernel.sha256,
            "in_wheel": self.kernel.shipped,
            "route": self.route,
            "fold": {
                "text": f"{self.fold.head_groups} x {width} heads, {self.fold.tokens_per_item} of {self.problem.q_len} tokens an item",
                "heads_launched": width,
                "head_groups": self.fold.head_groups,
                "heads_added": self.fold.padded_heads - self.problem.heads,
                "tokens_per_item": self.fold.tokens_per_item,
                "items_per_request": self.fold.items_per_request,
            },
            "recipe": self.kernel.recipe,
            "gates": list(self.kernel.gates),
            "preconditions": list(self.preconditions),
            "evidence": self.kernel.evidence,
            "proof": self.kernel.proof and self.kernel.proof.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Refusal:
    """The other answer: no kernel may serve the problem. ``code`` is a key of ``REFUSAL_TEXT``."""

    problem: Problem
    code: str

    @property
    def text(self) -> str:
        """What the code states."""
        return REFUSAL_TEXT[self.code]

    def to_json(self) -> dict[str, Any]:
        """The refusal as `resolve` prints it."""
        return {"outcome": "refused", "refusal": self.code, "reason": self.text}

    def error(self) -> Refused:
        """The refusal as an error, for callers that cannot go on without a kernel."""
        return Refused(
            f"refused ({self.code}): {self.text}",
            cause=", ".join(f"{name}={value}" for name, value in self.problem.to_json().items()),
            remedy="`aiter-mla-aot explain` lists every candidate, why it was rejected, and the nearest problem that is served",
        )


def resolve(problem: Problem, catalog: str = "shipped") -> Plan | Refusal:
    """The one answer to a problem.

    catalog: ``shipped`` for the kernels this wheel holds, ``full`` for every published object that is catalogued.
    Raises ``InvalidProblem`` for another catalog, and ``PackageFileMissing`` or ``PackageFileDamaged`` if the arch's table cannot be read.
    """
    if catalog not in table.CATALOGS:
        raise InvalidProblem(f"catalog is {catalog!a:.80}", cause="there is no such catalog", remedy=f"use {' or '.join(table.CATALOGS)}")
    code = refused_at_sight(problem)
    if code:
        return Refusal(problem, code)
    data = table.load(problem.arch)
    leaf = data.catalogs[catalog].leaf(problem)
    if leaf >= table.REFUSAL:
        return Refusal(problem, data.refusals[leaf - table.REFUSAL])
    index, single = data.plans[leaf]
    kernel = data.kernels[index]
    if kernel.claim is None:
        raise ValueError(f"plan {leaf} of {problem.arch} names {kernel.name}, which has no claim")
    preconditions = kernel.preconditions
    if problem.kv_bytes == 0 and any("kv_over_4gib" in data.gates[name].when for name in kernel.gates):
        preconditions += (UNKNOWN_KV_BYTES,)
    return Plan(problem, kernel, single, layout(kernel.claim, problem.heads, problem.q_len, single), preconditions)


def refused_at_sight(problem: Problem) -> str | None:
    """The refusal code of a problem that no kernel of any catalog could serve, whatever its other axes; else None."""
    if problem.arch not in table.archs():
        return "arch_not_in_wheel"
    if problem.out_dtype != "bf16":
        return "out_dtype"
    if (problem.qk_head_dim, problem.v_head_dim) != (576, 512):
        return "head_dims"
    if problem.logit_cap != 0.0:
        return "logit_cap"
    if (problem.q_dtype, problem.kv_dtype) not in DTYPE_PAIRS:
        return "dtypes"
    return None


def supports(problem: Problem) -> bool:
    """Whether this wheel serves the problem."""
    return isinstance(resolve(problem), Plan)
