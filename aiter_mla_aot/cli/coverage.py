"""``aiter-mla-aot coverage``: how many problems of the closed domain are served, and why the others are refused."""

from __future__ import annotations

import argparse

from .. import table
from . import problem_flags
from .output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("coverage", help="count the problems this wheel serves", allow_abbrev=False)
    problem_flags.add_catalog(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the counts of every arch of this wheel."""
    counts = {arch: table.load(arch).counts[args.catalog] for arch in table.archs()}
    lines = []
    for arch, counted in counts.items():
        served = sum(sum(routes.values()) for routes in counted["served"].values())
        lines.append(f"{arch}: {served:,} of {counted['total']:,} problems served (evidence: none)")
        for kind in ("served", "refused"):
            for key, rows in counted[kind].items():
                lines += [f"  {key:22} {kind:8} {name:32} {count:10,}" for name, count in rows.items()]
    emit(args, {"catalog": args.catalog, "archs": counts, "evidence": "none"}, "\n".join(lines))
    return 0
