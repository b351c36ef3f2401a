"""``aiter-mla-aot smoke``: real requests through the extension, on a device or on the emulator."""

from __future__ import annotations

import argparse
import math

from .. import emulator
from ..device import open_hip
from ..errors import SmokeNotRight
from ..smoke import Outcome, SmokeReport
from ..smoke import run as run_requests
from .output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("smoke", help="run a few real requests on a device or on the emulator", allow_abbrev=False)
    parser.add_argument("--emulate", choices=("gfx942", "gfx950"), metavar="ARCH", help="run on the CPU by the emulator: gfx942 or gfx950")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print each request with its error and time; 0 if everything that ran was right."""
    report = _on_emulator(args.emulate) if args.emulate else run_requests(open_hip(allow_load=True))
    if report.ok:
        emit(args, report.to_json(), text(report))
        return 0
    failed = [outcome for outcome in report.outcomes if outcome.outcome != "refused"]
    error = SmokeNotRight(
        f"not every request came out right on the {report.tier}",
        cause="; ".join(f"{outcome.kernel}: {outcome.outcome}" for outcome in failed) or "this wheel serves none of the requests",
        remedy="check the installation with aiter-mla-aot verify and aiter-mla-aot doctor; if both find nothing, report the output",
    )
    emit(args, {**report.to_json(), "error": error.to_json()}, f"{text(report)}\n{error}")
    return error.exit_code


def text(report: SmokeReport) -> str:
    """The report for people."""
    where = "the emulator" if report.tier == "emulator" else "the device"
    lines = [f"tier: {report.tier} ({report.target_id}, HIP {report.hip_version})", *map(_line, report.outcomes)]
    ran = sum(outcome.outcome == "right" for outcome in report.outcomes)
    if report.ok:
        lines.append(f"{ran} requests ran on {where} and gave the rows of the reference")
    return "\n".join(lines)


def _line(outcome: Outcome) -> str:
    problem = outcome.problem
    head = f"{outcome.outcome:8} {problem.mode:10} {problem.q_dtype}/{problem.kv_dtype} {problem.heads} heads {problem.q_len} q"
    if math.isnan(outcome.error):
        return f"{head:44} {outcome.kernel} {outcome.text}".rstrip()
    return f"{head:44} error {outcome.error:.1e} of {outcome.bound:.0e}  {1000 * outcome.seconds:.1f} ms  {outcome.kernel}"


def _on_emulator(arch: str) -> SmokeReport:
    # Whoever names an emulated arch knows that it is no GPU, also where there is one.
    face = emulator.activate(arch, beside_gpu=True)
    return run_requests(open_hip(), explain=lambda: str(face.report().get("fault", "")))
