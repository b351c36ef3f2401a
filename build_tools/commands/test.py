"""``test``: builds, then runs every tier of tests and checks and says how each ended."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from aiter_mla_aot.errors import MlaError
from build_tools import settings, tiers
from build_tools.build_graph import layout, parts
from build_tools.entry import ROOT, report
from build_tools.tiers import Ended, Outcome, Tier
from build_tools.wheels import verify, wheel


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("test", help="build, then run every tier of tests and checks")
    parser.add_argument("--tier", action="append", metavar="NAME", help="run this tier only (may be given again)")
    parser.add_argument("--list", action="store_true", help="list the tiers and stop")
    parser.add_argument("--json", action="store_true", help="print the table of tiers as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the tiers. Under ``CI=true`` a tier that did not run is a failure."""
    if args.list:
        print("\n".join(tier.name for tier in tiers.TIERS))
        return 0
    chosen = [tier for tier in tiers.TIERS if not args.tier or tier.name in args.tier]
    ended = [
        Ended(name, Outcome.FAILED, why="there is no such tier") for name in args.tier or [] if name not in {tier.name for tier in chosen}
    ]
    ended += _run_all(chosen)
    if args.json:
        rows = [{"tier": tier.name, "outcome": tier.outcome.value, "seconds": round(tier.seconds, 1), "why": tier.why} for tier in ended]
        print(json.dumps({"schema": 1, "command": "test", "tiers": rows}))
    else:
        print(table(ended))
    return tiers.exit_code(ended, os.environ.get("CI", "").lower() in ("1", "true"))


def table(ended: list[Ended]) -> str:
    """The closing table."""
    width = max((len(tier.name) for tier in ended), default=0)
    rows = [f"  {tier.name:{width}}  {tier.outcome.value:7}  {tier.seconds:7.1f} s  {tier.why}".rstrip() for tier in ended]
    counted = {outcome: sum(tier.outcome is outcome for tier in ended) for outcome in Outcome}
    rows.append(f"tiers: {counted[Outcome.PASSED]} passed, {counted[Outcome.FAILED]} failed, {counted[Outcome.NOT_RUN]} not run")
    return "\n".join(rows)


def _run_all(chosen: list[Tier]) -> list[Ended]:
    defaults = settings.read(ROOT / "hsa", {})
    stage = ROOT / layout.of(ROOT, defaults.archs).stage
    started = time.monotonic()
    # Tests build in many trees; what takes minutes to compile is compiled once.
    os.environ.setdefault(parts.VARIABLE, str(ROOT / "build" / "parts"))
    try:
        built = wheel.build(ROOT, defaults, ROOT / "build" / "wheel", report)
        verify.require(built, ROOT)
    except MlaError as error:
        print(error, file=sys.stderr)
        failed = Ended("wheel", Outcome.FAILED, time.monotonic() - started, error.code)
        return [failed, *(Ended(tier.name, Outcome.NOT_RUN, why="there is no wheel") for tier in chosen)]
    ended = [Ended("wheel", Outcome.PASSED, time.monotonic() - started)]
    ended += [tiers.run(ROOT, tier, built, stage, report) for tier in chosen]
    return ended
