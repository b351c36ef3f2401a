"""``aiter-mla-aot doctor``: reports on this installation, its devices and its environment."""

from __future__ import annotations

import argparse

from ..doctor import diagnose
from ..errors import PackageFileDamaged
from .output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("doctor", help="report on this installation, its devices and its environment", allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the diagnosis; 0 unless something of the package is broken."""
    diagnosis = diagnose()
    lines = [f"{check.status:8} {check.name:12} {check.text}" for check in diagnosis.checks]
    lines.append("the package can work" if diagnosis.ok else "something of the package is broken: see the lines marked problem")
    emit(args, diagnosis.to_json(), "\n".join(lines))
    return 0 if diagnosis.ok else PackageFileDamaged.exit_code
