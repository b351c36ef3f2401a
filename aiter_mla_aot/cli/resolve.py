"""``aiter-mla-aot resolve``: answers for many problems, JSON lines in and JSON lines out."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from .. import json_object
from ..dispatch import refused_at_sight, resolve
from ..errors import InvalidProblem
from ..problem import FIELDS, Problem
from ..table import positions
from . import problem_flags
from .output import SCHEMA, write

REMEMBERED: Final = 1 << 16
"""Answers that are kept for lines that ask the same; bounded, so that input of any length needs the same memory."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "resolve",
        help="answer problems given as JSON lines",
        description=f"One JSON object a line, with the fields {', '.join(FIELDS)}; one answer a line, in the same order.",
        allow_abbrev=False,
    )
    parser.add_argument("--batch", required=True, metavar="FILE", help="JSON lines of problems; - for standard input")
    problem_flags.add_catalog(parser)
    parser.add_argument("--json", action="store_true", help="print JSON lines (without it, one line of text a problem)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Answer every line; 0, or 2 if a line was no problem (its answer is then an error with the line's number)."""
    failed = False
    with _open(args.batch) as lines:
        for answer in answers(lines, args.catalog):
            failed = failed or "error" in answer
            write(json.dumps(answer) if args.json else _text(answer))
    return InvalidProblem.exit_code if failed else 0


def answers(lines: Iterable[str], catalog: str) -> Iterator[dict[str, Any]]:
    """The answer to every line that is not blank: the plan, the refusal or the error, with the line's number."""
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            problem = Problem.from_mapping(json_object.parse(line))
        except InvalidProblem as error:
            yield {"schema": SCHEMA, "line": number, "outcome": "error", "error": error.to_json()}
            continue
        code = refused_at_sight(problem)
        key = (problem.arch, *positions(problem)) if code is None else (code,)
        answer = known.get(key)
        if answer is None:
            if len(known) >= REMEMBERED:
                known.clear()
            answer = known[key] = resolve(problem, catalog).to_json()
        yield {"schema": SCHEMA, "line": number} | answer


def _open(name: str) -> Any:
    if name == "-" and sys.stdin is None:
        raise InvalidProblem("standard input cannot be read", cause="it is closed", remedy="give a file of JSON lines")
    if name == "-":
        # One decoding for files and standard input, whatever the locale says.
        return nullcontext(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))
    try:
        return Path(name).open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidProblem(f"{name} cannot be read", cause=error.strerror or str(error), remedy="give a file of JSON lines") from error


def _text(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return f"{answer['line']}: error {answer['error']['code']}: {answer['error']['fact']}; {answer['error']['cause']}"
    if answer["outcome"] == "served":
        return f"{answer['line']}: served by {answer['kernel']}, {answer['route']}"
    return f"{answer['line']}: refused ({answer['refusal']})"
