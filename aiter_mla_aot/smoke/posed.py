"""The problems that smoke poses: a few of its own, or those of a file, each with the number of keys of every request."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from .. import json_object
from ..errors import InvalidProblem
from ..problem import KV_SPAN_LIMIT, Problem

HEADS: Final = 16
LENGTHS: Final = (150, 3)
"""Keys of the requests of every batch for which none are given."""
PROBLEMS: Final = (
    ("persistent", "bf16", "bf16", 1),
    ("persistent", "bf16", "fp8", 1),
    ("persistent", "fp8", "fp8", 1),
    ("persistent", "bf16", "bf16", 2),
    ("persistent", "fp8", "fp8", 2),
    ("split", "bf16", "bf16", 1),
    ("split", "fp8", "fp8", 1),
)
"""Mode, types of q and KV, and query tokens of each batch: pages of one token, causal."""
LARGEST_FILE: Final = 16 << 20
LARGEST_BATCH: Final = 1024
LARGEST_KEYS: Final = 1 << 20
"""Keys of a whole batch."""
BOUND: Final = {"bf16": 1e-2, "fp8": 4e-2}
"""Largest relative error by the narrower of the two input formats."""
_REMEDY: Final = "give one problem a line, as `resolve` takes them, with `kv_lens` beside its fields if wanted"


@dataclass(frozen=True, slots=True)
class Posed:
    """A problem and how many keys each of its requests has."""

    problem: Problem
    lengths: tuple[int, ...]


def bound_of(problem: Problem) -> float:
    """Largest relative Frobenius error of the output that is right."""
    return BOUND["bf16" if problem.q_dtype == problem.kv_dtype == "bf16" else "fp8"]


def own(arch: str) -> list[Posed]:
    """The problems that smoke poses where none are given."""
    return [Posed(Problem(arch, mode, q, kv, HEADS, q_len, 1, batch=len(LENGTHS)), LENGTHS) for mode, q, kv, q_len in PROBLEMS]


def read(name: str) -> list[Posed]:
    """The problems of a file of JSON lines. Raises ``InvalidProblem`` for a line that is none, or none that smoke can pose."""
    try:
        with Path(name).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidProblem(f"{name} cannot be read", cause=str(error), remedy="give a file of JSON lines") from error
    if len(content) > LARGEST_FILE:
        raise InvalidProblem(f"{name} is larger than {LARGEST_FILE} bytes", cause="no list of problems to run is", remedy=_REMEDY)
    found = parse(io.StringIO(text))
    if not found:
        raise InvalidProblem(f"{name} holds no problem", cause="every line is blank", remedy=_REMEDY)
    return found


def parse(lines: Iterable[str]) -> list[Posed]:
    """The problems of JSON lines; blank lines are skipped."""
    return [_posed(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _posed(number: int, line: str) -> Posed:
    try:
        values = json_object.parse(line, _REMEDY)
    except InvalidProblem as error:
        raise InvalidProblem(f"line {number}: {error.fact}", cause=error.cause, remedy=error.remedy) from error
    lengths = values.pop("kv_lens", None)
    try:
        problem = Problem.from_mapping(values)
    except InvalidProblem as error:
        raise InvalidProblem(f"line {number}: {error.fact}", cause=error.cause, remedy=error.remedy) from error
    if lengths is None:
        count = problem.batch if "batch" in values else len(LENGTHS)
        lengths = [max(LENGTHS[place % len(LENGTHS)], problem.q_len) for place in range(min(count, LARGEST_BATCH + 1))]
    if "batch" not in values and isinstance(lengths, list) and lengths:
        problem = replace(problem, batch=len(lengths))
    fault = fault_of(problem, lengths)
    if fault:
        raise InvalidProblem(f"line {number}: {fault}", cause="smoke cannot pose such a problem", remedy=_REMEDY)
    return Posed(problem, tuple(lengths))


def fault_of(problem: Problem, lengths: Any) -> str:
    """Why smoke cannot pose a problem with these numbers of keys, which may be anything; empty if it can."""
    if not isinstance(lengths, list) or not 1 <= len(lengths) <= LARGEST_BATCH or problem.batch != len(lengths):
        return f"it has {problem.batch} requests, and kv_lens is no list of as many numbers, 1 to {LARGEST_BATCH}"
    if any(type(length) is not int or length < problem.q_len for length in lengths) or sum(lengths) > LARGEST_KEYS:
        return f"kv_lens holds something else than numbers from q_len on, or more than {LARGEST_KEYS} keys in all"
    plain = {"lse": False, "ragged": False, "sparse": False, "cp_world_size": 1}
    odd = [name for name, value in plain.items() if getattr(problem, name) != value]
    odd += ["kv_dtype"] if problem.kv_dtype == "byte" else []
    odd += ["kv_bytes"] if problem.kv_bytes > KV_SPAN_LIMIT else []
    return f"{odd[0]} is {getattr(problem, odd[0])}" if odd else ""
