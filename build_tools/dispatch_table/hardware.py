"""What results from devices change in the table: a gate lifted, or one added, each for one kernel and exactly one problem.

A device outranks the emulator in one direction only. What it found wrong is forbidden, whatever else was shown. What it found right
lifts a gate that rests on reports from devices, if the run was at least as large as the reported one, if nothing else forbids the
kernel there, and if the emulator does not find the kernel wrong: it has to be right on both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, Final

from aiter_mla_aot import table
from aiter_mla_aot.problem import Problem
from aiter_mla_aot.rules import HARDWARE, Claim, Gate, HardwareRule, failures, one_token_items, rank
from build_tools.data.catalog import ArchCatalog, KernelRow
from build_tools.data.hardware import HardwareResult
from build_tools.dispatch_table.proofs import Proofs, gates_of
from build_tools.prove import binding

RECORD_DIGITS: Final = 12
"""Hex digits of a record's SHA-256 by which texts name it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all results of one kernel on one problem come to: a gate added, gates lifted, or nothing. ``why`` is for people."""

    why: str
    added: Gate | None = None
    rules: tuple[HardwareRule, ...] = ()

    @property
    def effect(self) -> str:
        """``forbids``, ``lifts`` or ``none``."""
        return self.rules[0].effect if self.rules else "none"


def key(row: HardwareResult) -> tuple[Any, ...]:
    """Kernel and problem, as far as dispatch tells problems apart: results with one key are about one thing."""
    return (row.sha256, *table.positions(row.posed))


def verdicts(data: ArchCatalog, shown: Proofs) -> dict[tuple[Any, ...], Verdict]:
    """The verdict for every kernel and problem that ran on a device."""
    rows = sorted(data.hardware, key=lambda row: (key(row), row.place))
    return {name: _verdict(data, shown, list(group)) for name, group in groupby(rows, key)}


def _verdict(data: ArchCatalog, shown: Proofs, rows: Sequence[HardwareResult]) -> Verdict:
    problem, kernel = rows[0].posed, data.row(rows[0].sha256)
    claim = kernel.claim
    if claim is None or (claim.mode, claim.q_dtype, claim.kv_dtype) != (problem.mode, problem.q_dtype, problem.kv_dtype):
        return Verdict("the kernel has no claim for this mode and these dtypes, so dispatch does not use it")
    when = {"heads": [problem.heads], "q_len": [problem.q_len], **{name: [value] for name, value in table.flags(problem)._asdict().items()}}
    bad = [row for row in rows if row.outcome != "right"]
    if bad:
        return _forbids(kernel, when, bad, conflict=len(bad) < len(rows))
    active = [gate for gate in gates_of(data, kernel) if gate.forbids(problem.heads, problem.q_len, table.flags(problem))]
    why = _no_lift(data, active, rows) or _not_right_elsewhere(shown, kernel, claim, problem, active, gates_of(data, kernel))
    if why:
        return Verdict(why)
    text = f"reported from hardware: {_sources(rows)}"
    lifts = tuple(HardwareRule(kernel.sha256, "lifts", gate.id, gate.code, when, text) for gate in active)
    return _alone(data, kernel, claim, problem, lifts)


def _forbids(kernel: KernelRow, when: Mapping[str, Any], bad: Sequence[HardwareResult], *, conflict: bool) -> Verdict:
    name = f"hardware-{kernel.sha256[:12]}-{hashlib.sha256(json.dumps(when, sort_keys=True).encode()).hexdigest()[:8]}"
    cause = "; ".join(dict.fromkeys(f"{_words(row)} on {row.source}" for row in bad))
    records = ", ".join(dict.fromkeys(f"record {row.record[:RECORD_DIGITS]}" for row in bad))
    gate = Gate(name, (kernel.file,), HARDWARE, when, f"reported from hardware: {cause}", records)
    rule = HardwareRule(kernel.sha256, "forbids", name, HARDWARE, when, gate.cause)
    return Verdict("another record says right; wrong wins" if conflict else "", gate, (rule,))


def _words(row: HardwareResult) -> str:
    if row.outcome == "unfinished":
        return "the process ended during the launch"
    if row.outcome == "failed":
        return f"failed ({row.text})" if row.text else "failed"
    return f"wrong (relative error {'none' if row.error is None else f'{row.error:.2g}'}, bound {row.bound:g})"


def _sources(rows: Sequence[HardwareResult]) -> str:
    return "; ".join(sorted({row.source for row in rows}))


def _no_lift(data: ArchCatalog, active: Sequence[Gate], rows: Sequence[HardwareResult]) -> str:
    """Why the results cannot lift the gates that forbid the kernel; empty if they can."""
    if not active:
        return "no gate forbids the kernel here"
    for gate in active:
        reports = [report for report in data.reports if report.gate == gate.id]
        if not reports:
            return f"gate {gate.id} does not rest on a report from a device, so a device does not lift it"
        batch = max(report.failed_batch or 1 for report in reports)
        keys = max(report.failed_keys or 1 for report in reports)
        if not any(sum(length >= keys for length in row.kv_lens) >= batch for row in rows):
            return f"gate {gate.id} was reported with {batch} requests of {keys} keys: only a right result of at least that size lifts it"
    return ""


def _not_right_elsewhere(
    shown: Proofs, kernel: KernelRow, claim: Claim, problem: Problem, active: Sequence[Gate], gates: Sequence[Gate]
) -> str:
    """Which class the emulator does not find the kernel right for, of those that the lifted problem relies on."""
    evidence = shown.found.get(kernel.sha256)
    if evidence is None:
        # Nothing was run: a wheel refuses the kernel as unproven, catalog `full` goes by claims.
        return ""
    wanted = replace(claim, page_sizes=(problem.page_size,), causal=(problem.causal,))
    lost = binding.missing(str(kernel.recipe), wanted, [gate for gate in gates if gate not in active], evidence)
    return f"it has to be right on the emulator too, which does not show: {lost[0]}" if lost else ""


def _alone(data: ArchCatalog, kernel: KernelRow, claim: Claim, problem: Problem, lifts: tuple[HardwareRule, ...]) -> Verdict:
    """The lift, unless something else forbids the kernel too or another one is equally good, for which the choice would be open."""
    folds = {fold.name: fold for fold in data.folds}
    flags, heads, q_len = table.flags(problem), problem.heads, problem.q_len
    left = failures(claim, gates_of(data, kernel), folds, heads, q_len, flags, lifts)
    if left:
        return Verdict(f"refused for other reasons too: {', '.join(dict.fromkeys(failure.code for failure in left))}")

    def place(other: Claim) -> tuple[int, int, int]:
        return rank(other, heads, q_len, one_token_items(other, heads, q_len, flags))

    for row in data.kernels:
        other = row.claim
        if other is None or row.sha256 == kernel.sha256 or row.sha256 in data.superseded():
            continue
        same = (other.mode, other.q_dtype, other.kv_dtype) == (claim.mode, claim.q_dtype, claim.kv_dtype)
        if same and place(other) == place(claim) and not failures(other, gates_of(data, row), folds, heads, q_len, flags):
            return Verdict(f"{row.file} serves the problem equally well without it")
    return Verdict("", rules=lifts)


def added_gates(found: Mapping[tuple[Any, ...], Verdict]) -> dict[str, tuple[Gate, ...]]:
    """The gates that results added, by the SHA-256 of their kernel."""
    gates: dict[str, tuple[Gate, ...]] = {}
    for name, verdict in sorted(found.items()):
        if verdict.added is not None:
            gates[name[0]] = (*gates.get(name[0], ()), verdict.added)
    return gates


def rules_of(found: Mapping[tuple[Any, ...], Verdict]) -> tuple[HardwareRule, ...]:
    """All that results changed, in the order of kernels and problems."""
    return tuple(rule for _, verdict in sorted(found.items()) for rule in verdict.rules)


def to_json(rules: Sequence[HardwareRule]) -> dict[str, Any]:
    """The rules as a table holds them. Without one the table has no such key."""
    return {"hardware": [asdict(rule) for rule in rules]} if rules else {}
