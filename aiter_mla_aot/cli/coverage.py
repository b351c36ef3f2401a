"""``aiter-mla-aot coverage``: how many problems of the closed domain are served, and why the others are refused."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any, Final

from .. import table
from . import problem_flags
from .output import emit

EFFECTS: Final = ("lifts", "forbids")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("coverage", help="count the problems this wheel serves", allow_abbrev=False)
    problem_flags.add_catalog(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the counts of every arch of this wheel."""
    counts = {arch: table.load(arch).counts[args.catalog] for arch in table.archs()}
    evidence = {arch: _evidence(arch, args.catalog) for arch in counts}
    hardware = {arch: {effect: sum(rule.effect == effect for rule in table.load(arch).hardware) for effect in EFFECTS} for arch in counts}
    lines = []
    for arch, counted in counts.items():
        served = sum(sum(routes.values()) for routes in counted["served"].values())
        lines.append(f"{arch}: {served:,} of {counted['total']:,} problems served")
        lines.append(f"  evidence: {_text(evidence[arch])}")
        if any(hardware[arch].values()):
            lines.append("  reported from hardware: {lifts} gates lifted, {forbids} added, each for one problem".format(**hardware[arch]))
        for kind in ("served", "refused"):
            for key, rows in counted[kind].items():
                lines += [f"  {key:22} {kind:8} {name:32} {count:10,}" for name, count in rows.items()]
    emit(args, {"catalog": args.catalog, "archs": counts, "evidence": evidence, "hardware": hardware}, "\n".join(lines))
    return 0


def _evidence(arch: str, catalog: str) -> dict[str, Any]:
    """What stands behind the kernels that serve problems: how many there are by what was shown, classes proven, runs made."""
    serving = [kernel for kernel in table.load(arch).kernels if kernel.claim and kernel.in_catalog(catalog)]
    proofs = [kernel.proof for kernel in serving if kernel.proof]
    return {
        "kernels": dict(sorted(Counter(kernel.evidence for kernel in serving).items())),
        "classes": sum(proof.classes for proof in proofs),
        "runs": sum(proof.members for proof in proofs),
    }


def _text(evidence: dict[str, Any]) -> str:
    kernels = ", ".join(f"{count} kernels {state}" for state, count in evidence["kernels"].items())
    return f"{kernels}; {evidence['classes']:,} classes, {evidence['runs']:,} runs"
