"""``import-report``: imports what `aiter-mla-aot smoke --record` wrote on a real device. It is the only way a hardware gate is lifted."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from build_tools.entry import ROOT
from build_tools.errors import SettingInvalid
from build_tools.hardware import record
from build_tools.hardware.importing import Imported, import_record


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("import-report", help="import a record of a real device into hsa/*/hardware.toml")
    parser.add_argument("file", type=Path, metavar="FILE", help="what `aiter-mla-aot smoke --record FILE` wrote")
    parser.add_argument("--hsa", type=Path, default=ROOT / "hsa", metavar="DIR", help="the data (default: hsa)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Import the record and say of each of its results what it changes."""
    if not args.hsa.is_dir():
        raise SettingInvalid(f"{args.hsa} is no folder", cause="the data lies in a folder for each arch", remedy="name the folder hsa")
    given = record.read(args.file)
    done = import_record(args.hsa, given)
    if args.json:
        facts = {"record": given.sha256, "arch": given.arch, "device": given.device, "rocm": given.rocm, "not_run": given.others}
        print(json.dumps({"schema": 1, "command": "import-report", **facts, "results": [one.to_json() for one in done]}))
        return 0
    new = sum(one.new for one in done)
    print(f"reported from hardware: {given.device}, ROCm {given.rocm}")
    print(f"{new} of {len(done)} results are new; {given.others} requests did not run")
    for one in done:
        print(_line(one))
    if any(one.new and one.verdict.effect != "none" for one in done):
        print("next: python3 -m build_tools coverage (with --accept-fewer after a gate was added), then see what changed in hsa/ and docs/")
    return 0


def _line(one: Imported) -> str:
    problem = one.row.posed
    mask = "causal" if problem.causal else "full"
    where = f"{problem.mode} {problem.q_dtype}/{problem.kv_dtype} {problem.heads} heads {problem.q_len} q page {problem.page_size} {mask}"
    said = {"lifts": "lifts", "forbids": "adds gate"}.get(one.verdict.effect)
    gates = ", ".join(rule.gate for rule in one.verdict.rules)
    changed = f"{said} {gates} for exactly this problem" if said else "changes no gate"
    old = "" if one.new else ", imported before"
    why = f" ({one.verdict.why})" if one.verdict.why else ""
    return f"  {one.row.outcome:10} {one.row.file} {where}{old}: {changed}{why}"
