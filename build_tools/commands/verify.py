"""``verify``: checks wheels as they must be to be published."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from build_tools.entry import ROOT
from build_tools.wheels.verify import WheelReport, failure, verify


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("verify", help="check a wheel file")
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheel files, such as dist/*.whl")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check each wheel; 1 if an outside audit could not run under ``CI=true``, the error's code if anything is wrong."""
    reports = [verify(path, ROOT) for path in args.wheels]
    bad = any(not report.ok for report in reports)
    missing = sorted({name for report in reports for name in report.not_run})
    if args.json:
        answer = {"schema": 1, "command": "verify", "ok": not bad, "not_run": missing, "wheels": [report.to_json() for report in reports]}
        print(json.dumps(answer | ({"error": failure(reports).to_json()} if bad else {})))
    else:
        print("\n".join(line for report in reports for line in describe(report)))
        for name in missing:
            print(f"not run: {name} is not in this environment; `python3 -m build_tools test` installs and runs it")
    if bad:
        return failure(reports).exit_code
    return int(bool(missing) and os.environ.get("CI") == "true")


def describe(report: WheelReport) -> list[str]:
    """A report as lines of text."""
    objects = ", ".join(f"{count} for {arch}" for arch, count in sorted(report.integrity.objects.items())) or "none"
    audits = ", ".join(f"{name} {outcome}" for name, outcome in sorted(report.audits.items()))
    lines = [
        f"{report.path}: version {report.integrity.version or 'unknown'}, {report.integrity.files} files, code objects: {objects}; {audits}"
    ]
    verdict = "must not be published" if not report.ok else "may be published"
    if report.ok and "+" in report.integrity.version:
        verdict = "keeps every rule; its version has a local label, which public indexes do not take"
    return [*lines, *(f"  {item}" for item in report.findings), f"  {verdict}"]
