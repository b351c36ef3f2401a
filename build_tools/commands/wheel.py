"""``wheel``: builds the wheel, verifies it, and tries it in a new environment."""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

from build_tools import settings
from build_tools.entry import ROOT, report
from build_tools.wheels import smoke, verify, wheel


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("wheel", help="build, verify and try the wheel")
    parser.add_argument("--arch", action="append", metavar="ARCH", help="build for this arch only (default: all)")
    parser.add_argument("--aiter-source", type=Path, metavar="PATH", help="AITER checkout, installed aiter_meta, or wheel (default: PyPI)")
    parser.add_argument("--allow-unproven", action="store_true", help="serve kernels without evidence too; marks the version")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", metavar="DIR", help="where the wheel goes (default: dist)")
    parser.add_argument("--build-only", action="store_true", help="leave out verification and the trial installation")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Build the wheel; options win over the environment variables of the build."""
    chosen = settings.read(ROOT / "hsa", os.environ)
    if args.arch:
        chosen = replace(chosen, archs=settings.select_archs(ROOT / "hsa", args.arch))
    if args.aiter_source:
        chosen = replace(chosen, aiter_source=args.aiter_source.absolute())
    if args.allow_unproven:
        chosen = replace(chosen, allow_unproven=True)
    figures: dict[str, float] = {}
    started = time.monotonic()
    path = wheel.build(ROOT, chosen, args.output.absolute(), report)
    figures["build_seconds"] = round(time.monotonic() - started, 2)
    figures["size_bytes"] = path.stat().st_size
    if not args.build_only:
        started = time.monotonic()
        verify.require(path, ROOT)
        figures["verify_seconds"] = round(time.monotonic() - started, 2)
        started = time.monotonic()
        smoke.smoke(path, chosen.archs, ROOT / "build", report)
        figures["smoke_seconds"] = round(time.monotonic() - started, 2)
    if args.json:
        print(json.dumps({"schema": 1, "command": "wheel", "wheel": str(path), "archs": list(chosen.archs), "figures": figures}))
    else:
        print(f"{path}\n" + "\n".join(f"  {name.replace('_', ' ')}: {value:,}" for name, value in figures.items()))
    return 0
