"""Strict reading of a record: every field known, of its type and in its range, and nothing that contradicts itself."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.errors import InvalidProblem
from aiter_mla_aot.problem import FIELDS, Problem
from aiter_mla_aot.smoke.posed import LARGEST_BATCH, bound_of
from aiter_mla_aot.smoke.record import KIND, SCHEMA
from build_tools.data.hardware import OUTCOMES, SHA256, impossible, is_name, is_words
from build_tools.errors import (
    HardwareReportContradicts,
    HardwareReportEmulated,
    HardwareReportMalformed,
    HardwareReportUnreadable,
)

LARGEST_FILE: Final = 4 << 20
_REFUSED: Final = "refused"
_VERSION: Final = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}")
_PACKAGE: Final = re.compile(r"[0-9][0-9a-z.+]{0,99}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_ARCH: Final = re.compile(r"gfx[0-9a-f]{3,5}")
_TARGET: Final = re.compile(r"gfx[0-9a-f]{3,5}(:[a-z]+[+-])*")
_FILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\.co")
_REMEDY: Final = "give a file as `aiter-mla-aot smoke --record` wrote it"

Check = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Request:
    """One request that ran, and its place in the record."""

    number: int
    problem: Problem
    kv_lens: tuple[int, ...]
    forced: bool
    file: str
    sha256: str
    bytes: int
    outcome: str
    error: float | None
    bound: float
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a device. ``requests`` are those whose kernel ran; ``others`` counts what was refused or failed before a launch."""

    sha256: str
    date: str
    device: str
    arch: str
    target_id: str
    compute_units: int
    rocm: str
    package: str
    requests: tuple[Request, ...]
    others: int


def read(path: Path) -> Record:
    """The record in a file. Raises ``HardwareReportError`` kinds."""
    content = _content(path)
    data = _decoded(path, content)
    _fields(data, "the record", _HEAD)
    if data["tier"] == "emulator":
        raise HardwareReportEmulated(
            f"{path} was made on the emulator",
            cause="only a result from a real device outranks the emulator",
            remedy="run smoke --record on the GPU, without --emulate; what the emulator shows is for `build_tools prove`",
        )
    device, package = data["device"], data["package"]
    _fields(device, "device", _DEVICE)
    _fields(package, "package", _PACKAGE_FIELDS)
    if device["target_id"].partition(":")[0] != device["arch"]:
        raise _contradiction("device: arch and target_id differ", "the target id begins with the arch")
    requests, others = [], 0
    for number, row in enumerate(data["requests"]):
        found = _request(row, number, device["arch"])
        requests += [found] if found else []
        others += found is None
    digest = hashlib.sha256(content).hexdigest()
    facts = (data["date"], device["name"], device["arch"], device["target_id"], device["compute_units"], data["rocm"], package["version"])
    return Record(digest, *facts, tuple(requests), others)


def _content(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise HardwareReportUnreadable(f"{path} is no regular file", cause="a record is a file", remedy=_REMEDY)
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise HardwareReportUnreadable(f"{path} cannot be read", cause=error.strerror or str(error), remedy=_REMEDY) from error
    if len(content) > LARGEST_FILE:
        raise HardwareReportUnreadable(f"{path} is larger than {LARGEST_FILE} bytes", cause="no record is", remedy=_REMEDY)
    return content


def _decoded(path: Path, content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise HardwareReportUnreadable(f"{path} is not JSON", cause=str(error), remedy=_REMEDY) from error
    if not isinstance(data, dict) or data.get("kind") != KIND or type(data.get("schema")) is not int or data["schema"] != SCHEMA:
        raise HardwareReportUnreadable(f"{path} is no smoke record of schema {SCHEMA}", cause="kind or schema differs", remedy=_REMEDY)
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a field is given twice")
    return values


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _text(pattern: re.Pattern[str]) -> Check:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


def _date(value: Any) -> bool:
    if type(value) is not str or not _DATE.fullmatch(value):
        return False
    try:
        datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def _count(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _number(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= sys.float_info.max)


_HEAD: Final[Mapping[str, Check]] = {
    "schema": _count(SCHEMA, SCHEMA),
    "kind": lambda value: value == KIND,
    "date": _date,
    "tier": lambda value: value in ("device", "emulator"),
    "device": lambda value: isinstance(value, dict),
    "rocm": _text(_VERSION),
    "package": lambda value: isinstance(value, dict),
    "requests": lambda value: isinstance(value, list) and len(value) <= 10_000,
}
_DEVICE: Final[Mapping[str, Check]] = {
    "name": is_name,
    "arch": _text(_ARCH),
    "target_id": _text(_TARGET),
    "compute_units": _count(1, 100_000),
}
_PACKAGE_FIELDS: Final[Mapping[str, Check]] = {"version": _text(_PACKAGE), "table_sha256": _text(SHA256), "lock_sha256": _text(SHA256)}
_REQUEST: Final[Mapping[str, Check]] = {
    "problem": lambda value: isinstance(value, dict) and value.keys() == FIELDS.keys(),
    "kv_lens": lambda value: isinstance(value, list) and 0 < len(value) <= LARGEST_BATCH and all(map(_count(0, 1 << 31), value)),
    "forced": lambda value: type(value) is bool,
    "kernel": lambda value: value is None or isinstance(value, dict),
    "fold": lambda value: value is None or isinstance(value, dict),
    "outcome": lambda value: value in (*OUTCOMES, _REFUSED),
    "launched": lambda value: type(value) is bool,
    "error": _number,
    "bound": _number,
    "text": is_words,
}
_KERNEL: Final[Mapping[str, Check]] = {"file": _text(_FILE), "sha256": _text(SHA256), "bytes": _count(1, 1 << 30)}


def _fields(values: Mapping[str, Any], where: str, checks: Mapping[str, Check]) -> None:
    if values.keys() != checks.keys():
        odd = sorted(values.keys() ^ checks.keys())
        fact = f"{where}: field {odd[0]!a:.80} is {'missing' if odd[0] in checks else 'unknown'}"
        raise HardwareReportMalformed(fact, cause=f"it holds exactly {', '.join(checks)}", remedy=_REMEDY)
    for name, check in checks.items():
        if not check(values[name]):
            raise HardwareReportMalformed(
                f"{where}: {name} is {values[name]!a:.80}", cause="it is of another type or outside its range", remedy=_REMEDY
            )


def _request(row: Any, number: int, arch: str) -> Request | None:
    """A request whose kernel ran on the device; None for one that did not get so far."""
    where = f"request {number}"
    if not isinstance(row, dict):
        raise HardwareReportMalformed(f"{where} is no object", cause="it is of another type", remedy=_REMEDY)
    _fields(row, where, _REQUEST)
    try:
        problem = Problem.from_mapping(row["problem"])
    except InvalidProblem as error:
        raise HardwareReportMalformed(f"{where}: {error.fact}", cause=error.cause, remedy=_REMEDY) from error
    outcome, kernel, deviation, bound = row["outcome"], row["kernel"], row["error"], row["bound"]
    if problem.arch != arch or problem.batch != len(row["kv_lens"]):
        raise _contradiction(f"{where}: arch or batch of the problem", "they differ from the device's arch or the number of kv_lens")
    if (outcome == _REFUSED) != (kernel is None) or (outcome == _REFUSED and row["launched"]):
        raise _contradiction(f"{where}: outcome {outcome} and its kernel", "what is refused has no kernel, everything else has one")
    if kernel is None:
        return None
    _fields(kernel, f"{where}: kernel", _KERNEL)
    if row["fold"] is None:
        raise _contradiction(f"{where}: fold is null", "a kernel runs by a fold")
    if bound != bound_of(problem):
        raise _contradiction(f"{where}: bound {bound}", f"for these dtypes the bound is {bound_of(problem)}")
    within = deviation is not None and deviation <= bound
    if within != (outcome == "right") or (deviation is not None and outcome not in ("right", "wrong")):
        raise _contradiction(f"{where}: outcome {outcome} with error {deviation}", f"right means an error of at most {bound}")
    if not row["launched"]:
        if outcome != "failed":
            raise _contradiction(f"{where}: outcome {outcome} without a launch", "only a request that failed may not have been launched")
        return None
    fault = impossible(problem, row["kv_lens"])
    if fault:
        raise _contradiction(f"{where}: it ran, though {fault}", "smoke launches no such problem")
    facts = (
        row["forced"],
        kernel["file"],
        kernel["sha256"],
        kernel["bytes"],
        outcome,
        None if deviation is None else float(deviation),
        float(bound),
    )
    return Request(number, problem, tuple(row["kv_lens"]), *facts, row["text"])


def _contradiction(fact: str, cause: str) -> HardwareReportContradicts:
    return HardwareReportContradicts(fact, cause=cause, remedy=_REMEDY)
