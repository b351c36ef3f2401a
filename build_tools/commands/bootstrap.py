"""``bootstrap``: makes the private environment and prints its interpreter."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from build_tools.entry import ROOT, report
from build_tools.environment import bootstrap


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("bootstrap", help="make the private environment .env/")
    parser.add_argument("--set", choices=sorted(bootstrap.LOCKS), default="build", help="packages to install (default: build)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make or repair the environment; does nothing when it is as the lock files say."""
    python: Path = bootstrap.ensure(ROOT, args.set, report)
    print(json.dumps({"schema": 1, "command": "bootstrap", "set": args.set, "python": str(python)}) if args.json else python)
    return 0
