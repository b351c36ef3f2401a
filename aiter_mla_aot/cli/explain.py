"""``aiter-mla-aot explain``: what runs for one problem, and why."""

from __future__ import annotations

import argparse
from typing import Any

from ..explanation import explain
from . import problem_flags
from .output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("explain", help="say what runs for one problem, and why", allow_abbrev=False)
    problem_flags.add(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the explanation."""
    payload = explain(problem_flags.problem(args), args.catalog).to_json()
    emit(args, payload, _text(payload))
    return 0


def _flag(name: str, value: Any) -> str:
    """The flag of this command that gives a field its value."""
    flag = "--" + {"batch": "batch-size"}.get(name, name.replace("_", "-"))
    if isinstance(value, bool):
        return flag if value else f"--no-{flag[2:]}" if name == "causal" else f"no {flag}"
    return f"{flag} {value}"


def _proof(proof: dict[str, Any]) -> list[str]:
    """What stands behind the evidence."""
    late = [f"{proof[key]} clocks of {name}" for name, key in (("memory", "memory_clocks"), ("LDS", "lds_clocks")) if proof[key]]
    timing = f"not right from {' or '.join(late)} on" if late else "not right under every timing model"
    if proof["timing"] == "strict":
        timing = "right under every timing model"
    return [
        f"  proof         {proof['classes']} classes, {proof['members']} runs, output error up to {proof['output_error']:.2g}, {timing}",
        f"                unused KV rows may hold NaN: {'yes' if proof['nan_safe'] else 'no'}",
    ]


def _text(answer: dict[str, Any]) -> str:
    lines = []
    if answer["outcome"] == "served":
        lines += [
            f"served by {answer['kernel']}",
            f"  object        {answer['object']}  sha256 {answer['sha256']}",
            f"  route         {answer['route']}: {answer['fold']['text']}, {answer['fold']['items_per_request']} item(s) a request",
            f"  recipe        {answer['recipe']}",
        ]
        if not answer["in_wheel"]:
            lines.append("  note          this kernel is not in this wheel")
        lines += [f"  precondition  {text}" for text in answer["preconditions"]]
        lines.append(f"  evidence      {answer['evidence']}")
        lines += _proof(answer["proof"]) if answer["proof"] else []
    else:
        lines.append(f"refused ({answer['refusal']}): {answer['reason']}")
        if answer["nearest"]:
            change = " ".join(_flag(name, value) for name, value in answer["nearest"]["change"].items())
            note = "" if answer["nearest"]["same_result"] else " (another computation)"
            lines.append(f"  nearest       served with {change}: {answer['nearest']['kernel']}, {answer['nearest']['route']}{note}")
        if answer["elsewhere"]:
            lines.append(
                f"  elsewhere     a wheel that holds {answer['elsewhere']['kernel']}, proven, serves it, {answer['elsewhere']['route']}"
            )
    for gate in answer["gates"]:
        state = "forbids kernels here" if gate["active"] else "does not hold here"
        lines.append(f"  gate          {gate['id']} ({state}): {gate['cause']} ({gate['reference']})")
    # A gate that was added is among the gates.
    for rule in (rule for rule in answer["hardware"] if rule["effect"] == "lifts"):
        kernel = next(row["kernel"] for row in answer["candidates"] if row["sha256"] == rule["sha256"])
        lines.append(f"  lifted        gate {rule['gate']} of {kernel}, for this problem alone: {rule['text']}")
    lines.append(f"  candidates    {len(answer['candidates'])} kernels take these dtypes in this mode")
    for candidate in answer["candidates"]:
        lines.append(f"    {candidate['verdict']:17} {candidate['kernel']}")
        lines += [f"      {reason}" for reason in candidate["reasons"]]
    return "\n".join(lines)
