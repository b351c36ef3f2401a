"""``diff OLD NEW``: what a new wheel answers, holds and claims otherwise than an old one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from build_tools.wheels.diagram_diff import Outcome
from build_tools.wheels.diff import Differences, diff

_BOXES: Final = 12
"""Ranges of problems printed for one change; ``--json`` has them all."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("diff", help="compare two wheels")
    parser.add_argument("old", type=Path, metavar="OLD", help="a wheel")
    parser.add_argument("new", type=Path, metavar="NEW", help="the wheel to compare with it")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the differences; 0 whether there are any or not."""
    found = diff(args.old, args.new)
    if args.json:
        print(json.dumps({"schema": 1, "command": "diff"} | found.to_json()))
    else:
        print("\n".join(describe(found)))
    return 0


def describe(found: Differences) -> Iterator[str]:
    """The differences as lines of text."""
    old, new = found.versions
    yield f"version {old}" if old == new else f"version {old} -> {new}"
    if found.same:
        yield "nothing differs"
        return
    for kind, archs in found.archs.items():
        yield from (f"arch {arch} {kind}" for arch in archs)
    for arch, answers in found.answers.items():
        total = sum(box.problems for boxes in answers.values() for box in boxes)
        yield f"{arch}: {total:,} problems get another answer"
        for (before, after), boxes in answers.items():
            yield f"  {sum(box.problems for box in boxes):,}: {_outcome(before)} -> {_outcome(after)}"
            yield from (f"    {box.problems:,}: {box}" for box in boxes[:_BOXES])
            if len(boxes) > _BOXES:
                yield f"    and {len(boxes) - _BOXES} more ranges"
    for arch, lines in found.rules.items():
        yield from (f"{arch}: {line}" for line in lines)
    for title, rows in (("object", found.objects), ("file", found.files)):
        for kind, names in rows.items():
            yield from (f"{title} {kind}: {name}" for name in names)


def _outcome(outcome: Outcome) -> str:
    kind, detail = outcome
    return f"refused ({detail})" if kind == "refused" else f"{kind.removesuffix('.co')} ({detail})"
