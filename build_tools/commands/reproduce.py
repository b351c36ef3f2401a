"""``reproduce``: builds the wheel under different conditions and compares the bytes."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace

from build_tools import settings
from build_tools.entry import ROOT, report
from build_tools.wheels.reproduce import reproduce


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("reproduce", help="build under different conditions and compare the bytes")
    parser.add_argument("--arch", action="append", metavar="ARCH", help="build for this arch only (default: all)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Build and compare; raises ``NotReproducible``. Conditions that this machine cannot vary are named, and fail under ``CI=true``."""
    chosen = settings.read(ROOT / "hsa", os.environ)
    if args.arch:
        chosen = replace(chosen, archs=settings.select_archs(ROOT / "hsa", args.arch))
    found = reproduce(ROOT, chosen, ROOT / "build" / "reproduce", report)
    wheels = [{"conditions": built.conditions, "wheel": built.path.name, "sha256": built.sha256} for built in found.wheels]
    if args.json:
        print(json.dumps({"schema": 1, "command": "reproduce", "same": True, "wheels": wheels, "not_varied": found.not_varied}))
    else:
        print(f"{wheels[0]['wheel']}: {len(wheels)} builds, the same bytes, SHA-256 {wheels[0]['sha256']}")
        for reason in found.not_varied:
            print(f"not varied: {reason}")
    return int(bool(found.not_varied) and os.environ.get("CI") == "true")
