"""``aiter-mla-aot verify``: re-hashes every file of the installed package, or of a wheel file, and lists all that is wrong."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InvalidProblem
from ..integrity import VerifyReport, verify_installed, verify_wheel
from .output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("verify", help="re-hash every file of the installed package or of a wheel", allow_abbrev=False)
    parser.add_argument("wheel", nargs="?", type=Path, metavar="WHEEL", help="a wheel file; without it the installed package is checked")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check, print the report, and return 0 or the exit code of the first finding's error."""
    if args.wheel is not None and not args.wheel.exists():
        raise InvalidProblem(f"there is no {args.wheel}", cause="the path does not exist", remedy="give an existing wheel file")
    report = verify_wheel(args.wheel) if args.wheel else verify_installed()
    error = report.error()
    payload = report.to_json()
    emit(args, payload | {"error": error.to_json()} if error else payload, describe(report))
    return error.exit_code if error else 0


def describe(report: VerifyReport) -> str:
    """The report as text."""
    objects = ", ".join(f"{count} for {arch}" for arch, count in sorted(report.objects.items())) or "none"
    lines = [f"{report.subject}: version {report.version or 'unknown'}, {report.files} files, code objects as built: {objects}"]
    lines += [str(item) for item in report.findings]
    error = report.error()
    lines.append(f"remedy: {error.remedy}" if error else "every file is the one that was built")
    return "\n".join(lines)
