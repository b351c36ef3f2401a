"""``_step``: one step of the build graph, started by ninja."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from aiter_mla_aot.errors import MlaError
from build_tools.build_graph import graph, steps
from build_tools.entry import ROOT, report
from build_tools.providers.aiter import write


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("_step")
    parser.add_argument("graph", type=Path, help="the saved graph")
    parser.add_argument("name", help="the step")
    parser.add_argument("declaration", help="hash of the step's declaration, for ninja to see that it changed")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the step; a typed error is left beside the graph for the process that started ninja."""
    base = (ROOT / args.graph).parent
    try:
        ran = steps.run(ROOT, graph.load(ROOT / args.graph)[args.name], base / "stamps", report)
    except MlaError as error:
        write(base / "error.json", json.dumps({"step": args.name, **error.to_json()}).encode())
        return error.exit_code
    if ran:
        with (base / "journal").open("a", encoding="utf-8") as journal:
            journal.write(f"{args.name}{os.linesep}")
    return 0
