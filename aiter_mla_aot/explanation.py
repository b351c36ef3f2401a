"""Why a problem has the answer it has: every candidate and why it was rejected, the gates that matter, the nearest served problem.

Nothing here decides anything: the answer is the table's (``dispatch.resolve``), the reasons come from the same rules that
the build applied to write it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from . import table
from .dispatch import REFUSAL_TEXT, Plan, Refusal, refused_at_sight, resolve
from .problem import FIELDS, KV_SPAN_LIMIT, MAX_Q_LEN, PAGE_SIZES, Problem
from .rules import Claim, Failure, Gate, HardwareRule, failures, one_token_items, rank

SAME_RESULT: Final = frozenset({"mode", "page_size", "kv_bytes", "arch", "out_dtype"})
"""Fields that can be changed without changing what is computed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One catalogued decode kernel and what became of it for a problem."""

    kernel: table.Kernel
    verdict: str
    """``chosen``, ``outranked``, ``rejected``, ``not in this wheel``, ``superseded`` or ``not served``."""
    reasons: tuple[str, ...]
    codes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The candidate as `explain` prints it."""
        return {
            "kernel": self.kernel.name,
            "sha256": self.kernel.sha256,
            "verdict": self.verdict,
            "codes": list(self.codes),
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to a problem with everything that led to it."""

    problem: Problem
    catalog: str
    answer: Plan | Refusal
    gates: tuple[Gate, ...]
    candidates: tuple[Candidate, ...]
    nearest: Plan | None
    elsewhere: Plan | None
    """The plan of catalog ``full`` for a problem that this wheel refuses."""
    hardware: tuple[HardwareRule, ...] = ()
    """What results from devices changed for this problem."""

    def to_json(self) -> dict[str, Any]:
        """The explanation as `explain --json` prints it; keys that a refusal has no value for are null or empty."""
        blank = dict.fromkeys(("kernel", "object", "sha256", "in_wheel", "route", "fold", "recipe", "refusal", "reason"))
        gates = [
            {"id": gate.id, "code": gate.code, "active": _forbids(gate, self.problem), "cause": gate.cause, "reference": gate.reference}
            for gate in self.gates
        ]
        nearest = None
        if self.nearest is not None:
            other, same = self.nearest.problem.to_json(), self.problem.to_json()
            change = {name: value for name, value in other.items() if value != same[name]}
            nearest = {
                "change": change,
                "kernel": self.nearest.kernel.name,
                "route": self.nearest.route,
                "same_result": change.keys() <= SAME_RESULT,
            }
        elsewhere = None
        if self.elsewhere is not None:
            elsewhere = {name: self.elsewhere.to_json()[name] for name in ("kernel", "object", "sha256", "route")}
        return (
            {"catalog": self.catalog, "problem": self.problem.to_json()}
            | blank
            | {"preconditions": [], "evidence": "none", "proof": None}
            | self.answer.to_json()
            | {"gates": gates, "candidates": [c.to_json() for c in self.candidates], "nearest": nearest, "elsewhere": elsewhere}
            | {"hardware": [{"sha256": rule.kernel, "effect": rule.effect, "gate": rule.gate, "text": rule.text} for rule in self.hardware]}
        )


def explain(problem: Problem, catalog: str = "shipped") -> Explanation:
    """Explain the answer to a problem.

    catalog: ``shipped`` or ``full``, as for ``dispatch.resolve``. Raises what ``resolve`` raises.
    """
    answer = resolve(problem, catalog)
    refused = isinstance(answer, Refusal)
    nearest = _nearest(problem, catalog) if refused else None
    if problem.arch not in table.archs():
        return Explanation(problem, catalog, answer, (), (), nearest, None)
    full = resolve(problem, "full") if refused else None
    elsewhere = full if isinstance(full, Plan) else None
    data = table.load(problem.arch)
    rows = [kernel for kernel in data.kernels if kernel.scope == "decode" and _same_kind(kernel, problem)]
    candidates = tuple(_candidate(data, kernel, problem, catalog, answer) for kernel in rows)
    gates = _gates(data, rows, problem, answer)
    names = {kernel.sha256 for kernel in rows if kernel.claim}
    hardware = tuple(rule for rule in data.hardware if rule.kernel in names and _concerns(rule, problem))
    return Explanation(problem, catalog, answer, gates, candidates, nearest, elsewhere, hardware)


def _same_kind(kernel: table.Kernel, problem: Problem) -> bool:
    claim = kernel.claim
    if claim is not None:
        return (claim.mode, claim.q_dtype, claim.kv_dtype) == (problem.mode, problem.q_dtype, problem.kv_dtype)
    mode = {"persistent": "ps1", "split": "ps0"}[problem.mode]
    return any(key.startswith(f"{problem.q_dtype}/{problem.kv_dtype}/") and f"/{mode}/" in key for key in kernel.upstream_keys)


def _candidate(data: table.Table, kernel: table.Kernel, problem: Problem, catalog: str, answer: Plan | Refusal) -> Candidate:
    claim = kernel.claim
    if claim is None:
        return Candidate(kernel, "not served", (kernel.not_served or "",))
    if kernel.superseded and not kernel.in_catalog(catalog):
        return Candidate(kernel, "superseded", ("a newer object has the same file name",))
    gates = tuple(data.gates[name] for name in kernel.gates)
    lifts = tuple(rule for rule in data.lifts(kernel) if _concerns(rule, problem))
    found = failures(claim, gates, data.folds, problem.heads, problem.q_len, table.flags(problem), lifts)
    reasons = tuple(_reason(data, kernel, failure, problem) for failure in found)
    codes = tuple(dict.fromkeys(failure.code for failure in found))
    at_sight = refused_at_sight(problem)
    if at_sight:
        codes, reasons = (at_sight, *codes), (REFUSAL_TEXT[at_sight], *reasons)
    if not kernel.in_catalog(catalog):
        return Candidate(kernel, "not in this wheel", reasons, codes)
    if codes:
        return Candidate(kernel, "rejected", reasons, codes)
    single = one_token_items(claim, problem.heads, problem.q_len, table.flags(problem))
    lifted = tuple(f"gate {rule.gate} is lifted for this problem alone: {rule.text}" for rule in lifts)
    if isinstance(answer, Plan) and answer.kernel.sha256 == kernel.sha256:
        return Candidate(kernel, "chosen", (f"route {answer.route}: {_cost(claim, problem, single)}", *lifted))
    return Candidate(kernel, "outranked", (_cost(claim, problem, single), *lifted))


def _cost(claim: Claim, problem: Problem, single: bool) -> str:
    """What dispatch prefers less of, in the order in which it counts."""
    added, items, rows = rank(claim, problem.heads, problem.q_len, single)
    return f"adds {added} heads, reads the KV of a request {items} times, computes {rows} query rows"


def _reason(data: table.Table, kernel: table.Kernel, failure: Failure, problem: Problem) -> str:
    if failure.source in data.gates:
        gate = data.gates[failure.source]
        return f"gate {gate.id}: {gate.cause} ({gate.reference})"
    if failure.source in data.folds:
        fold = data.folds[failure.source]
        if failure.code in ("page_size", "ragged"):
            return f"needs a {fold.name}, which is not valid here: {fold.reason}"
        return f"needs a {fold.name}, by which this kernel is not reached"
    claim = kernel.claim
    if claim is None:
        return failure.code
    claimed = {
        "page_size": _page_size_reason(kernel, claim, problem.page_size),
        "q_len": f"claimed for items of {_range(claim.min_tokens, claim.tokens)} query tokens",
        "mask": f"claimed for causal {' or '.join(str(value).lower() for value in claim.causal)} only",
        "lse": "always writes the log-sum-exp" if claim.lse else "does not write the log-sum-exp of every row",
        "context_parallel": "maps keys of a context-parallel rank only"
        if claim.context_parallel
        else "cannot map keys of a context-parallel rank",
        "ragged": "not claimed for query lengths that differ",
        "sparse": "not claimed for a KV list per query token",
    }
    return claimed[failure.code]


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _page_size_reason(kernel: table.Kernel, claim: Claim, page_size: int) -> str:
    claimed = f"claimed at page size {', '.join(map(str, claim.page_sizes))} only"
    measured = kernel.proof.measured(page_size) if kernel.proof else None
    return f"{claimed}; measured on the emulator at {page_size}: {measured}" if measured else claimed


def _gates(data: table.Table, rows: list[table.Kernel], problem: Problem, answer: Plan | Refusal) -> tuple[Gate, ...]:
    """Gates that forbid a kernel here, and those that guard the chosen kernel or one made for exactly these heads."""
    chosen = answer.kernel.sha256 if isinstance(answer, Plan) else None
    names: set[str] = set()
    for kernel in rows:
        if kernel.claim is None or (kernel.superseded and kernel.sha256 != chosen):
            continue
        guards = kernel.sha256 == chosen or kernel.claim.heads == problem.heads
        names.update(name for name in kernel.gates if guards or _forbids(data.gates[name], problem))
    return tuple(data.gates[name] for name in sorted(names))


def _concerns(rule: HardwareRule, problem: Problem) -> bool:
    return rule.concerns(problem.heads, problem.q_len, table.flags(problem))


def _forbids(gate: Gate, problem: Problem) -> bool:
    return gate.forbids(problem.heads, problem.q_len, table.flags(problem))


def _nearest(problem: Problem, catalog: str) -> Plan | None:
    """The served problem that differs in the fewest fields, tried from the cheapest change on; None if a few do not help."""
    changes = list(_changes(problem))
    pairs = [first | second for i, first in enumerate(changes) for second in changes[i + 1 :] if not first.keys() & second.keys()]
    for change in changes + pairs:
        other = resolve(replace(problem, **change), catalog)
        if isinstance(other, Plan):
            return other
    return None


def _changes(problem: Problem) -> Iterator[dict[str, Any]]:
    """Single changes, those that compute the same first."""
    if problem.kv_bytes > KV_SPAN_LIMIT:
        yield {"kv_bytes": KV_SPAN_LIMIT}
    yield {"mode": "split" if problem.mode == "persistent" else "persistent"}
    for page_size in PAGE_SIZES:
        if page_size != problem.page_size:
            yield {"page_size": page_size}
    for name in ("logit_cap", "out_dtype", "lse", "ragged", "sparse", "cp_world_size"):
        if getattr(problem, name) != FIELDS[name]:
            yield {name: FIELDS[name]}
    if (problem.qk_head_dim, problem.v_head_dim) != (FIELDS["qk_head_dim"], FIELDS["v_head_dim"]):
        yield {name: FIELDS[name] for name in ("qk_head_dim", "v_head_dim")}
    yield from ({"arch": arch} for arch in table.archs() if arch != problem.arch)
    for q_len in sorted(range(1, MAX_Q_LEN + 1), key=lambda value: abs(value - problem.q_len)):
        if q_len != problem.q_len:
            yield {"q_len": q_len}
    for heads in (16, 32, 64, 128):
        if heads != problem.heads:
            yield {"heads": heads}
    yield {"causal": not problem.causal}
