"""``aiter-mla-aot smoke``: real requests through the extension, on a device or on the emulator."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Final

from .. import emulator
from ..device import open_hip
from ..errors import InvalidProblem, SmokeNotRight
from ..smoke import Asked, Outcome, SmokeReport, posed
from ..smoke import run as run_requests
from ..smoke.record import Recorder
from .output import emit

_CHECK: Final = "check the installation with aiter-mla-aot verify and aiter-mla-aot doctor; if both find nothing, report the output"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("smoke", help="run a few real requests on a device or on the emulator", allow_abbrev=False)
    parser.add_argument("--emulate", choices=("gfx942", "gfx950"), metavar="ARCH", help="run on the CPU by the emulator: gfx942 or gfx950")
    parser.add_argument("--problem", metavar="FILE", help="JSON lines of problems to run instead of the usual few, with kv_lens if wanted")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what ran where, and how it ended, to a new file")
    parser.add_argument(
        "--force-kernel",
        metavar="NAME",
        help="run the problems on this kernel although gates that rest on devices forbid it: IT MAY FAULT THE GPU",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print each request with its error and time; 0 if everything that ran was right."""
    asked = _asked(args)
    report = _on_emulator(args.emulate, asked) if args.emulate else run_requests(open_hip(allow_load=True), asked=asked)
    if report.ok:
        emit(args, report.to_json(), text(report))
        return 0
    failed = [outcome for outcome in report.outcomes if outcome.outcome != "refused"]
    error = SmokeNotRight(
        f"not every request came out right on the {report.place.tier}" if failed else "no request ran",
        cause="; ".join(f"{outcome.kernel}: {outcome.outcome}" for outcome in failed) or _reasons(report),
        remedy=_CHECK if failed else "ask aiter-mla-aot explain what serves them; docs/cli.md lists what smoke does not pose",
    )
    emit(args, {**report.to_json(), "error": error.to_json()}, f"{text(report)}\n{error}")
    return error.exit_code


def _reasons(report: SmokeReport) -> str:
    """Why requests were refused, each reason once."""
    return "; ".join(dict.fromkeys(outcome.text for outcome in report.outcomes))


def text(report: SmokeReport) -> str:
    """The report for people."""
    place = report.place
    where = "the emulator" if place.tier == "emulator" else "the device"
    lines = [f"tier: {place.tier} ({place.target_id}, HIP {place.hip_version})", *map(_line, report.outcomes)]
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


def _asked(args: argparse.Namespace) -> Asked:
    if args.force_kernel is not None and (args.problem is None or args.record is None):
        raise InvalidProblem(
            "--force-kernel without --problem and --record",
            cause="a kernel is forced to learn what a device does with it on a given problem",
            remedy="give both; --record names a new file",
        )
    problems = posed.read(args.problem) if args.problem is not None else []
    recorder = Recorder(args.record) if args.record is not None else None
    if args.force_kernel is not None and not args.emulate:
        print(
            f"{args.force_kernel} is forced: it may fault the GPU and end this process; {args.record} keeps what was reached",
            file=sys.stderr,
        )
    return Asked(problems, args.force_kernel, recorder.write if recorder else None)


def _on_emulator(arch: str, asked: Asked) -> SmokeReport:
    # Whoever names an emulated arch knows that it is no GPU, also where there is one.
    face = emulator.activate(arch, beside_gpu=True)
    return run_requests(open_hip(), explain=lambda: str(face.report().get("fault", "")), asked=asked)
