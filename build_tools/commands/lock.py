"""``lock``: writes the lock files of an AITER source."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from build_tools.entry import ROOT
from build_tools.environment.locking import lock_source
from build_tools.providers import lock
from build_tools.providers.aiter import open_source


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("lock", help="write the lock files of an AITER source")
    parser.add_argument("--aiter-source", type=Path, required=True, metavar="PATH", help="AITER checkout, installed aiter_meta, or wheel")
    parser.add_argument("--output", type=Path, default=ROOT / "hsa", metavar="DIR", help="where to write <arch>/lock.toml (default: hsa)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Lock every object of the source, or write nothing."""
    locks = lock_source(open_source(args.aiter_source))
    paths = lock.write(args.output, locks)
    rows = [{"arch": item.arch, "path": str(path), "objects": len(item.objects)} for item, path in zip(locks, paths, strict=True)]
    if args.json:
        print(json.dumps({"schema": 1, "command": "lock", "locks": rows}))
    else:
        for row in rows:
            print(f"{row['path']}: {row['objects']} objects of {row['arch']}")
    return 0
