"""Results from real devices, ``hsa/<arch>/hardware.toml``: written by ``build_tools import-report``, one row for each request that ran."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.dispatch import refused_at_sight
from aiter_mla_aot.errors import InvalidProblem
from aiter_mla_aot.problem import FIELDS, Problem
from aiter_mla_aot.smoke import posed
from aiter_mla_aot.smoke.record import LARGEST_TEXT
from build_tools.data import data_file
from build_tools.errors import DuplicateKey, SchemaDrift

NAME: Final = "hardware.toml"
OUTCOMES: Final = ("right", "wrong", "failed", "unfinished")
"""``unfinished``: the process ended during the launch, as it does where a GPU memory fault kills it."""
SHA256: Final = re.compile(r"[0-9a-f]{64}")
_HEAD: Final = "# Results from real devices; written by `python3 -m build_tools import-report FILE`. Fields: docs/data.md."


@dataclass(frozen=True, slots=True)
class HardwareResult:
    """What one request gave on one device. Identity is ``record`` (SHA-256 of the record's file) and ``request`` (its place in it)."""

    sha256: str
    file: str
    outcome: str
    device: str
    target_id: str
    compute_units: int
    rocm: str
    package: str
    date: str
    record: str
    request: int
    forced: bool
    bound: float
    kv_lens: tuple[int, ...]
    problem: Mapping[str, Any]
    error: float | None = None
    text: str = ""

    @property
    def posed(self) -> Problem:
        """The problem that ran. Raises ``InvalidProblem``."""
        return Problem.from_mapping(self.problem)

    @property
    def place(self) -> tuple[Any, ...]:
        """Where the row stands in its file."""
        return (self.sha256, json.dumps(dict(self.problem), sort_keys=True), self.record, self.request)

    @property
    def source(self) -> str:
        """Where it ran, for people."""
        return f"{self.device}, ROCm {self.rocm}"


def path_of(hsa: Path, arch: str) -> Path:
    """The file of an arch; it exists once a result was imported."""
    return hsa / arch / NAME


def read(hsa: Path, arch: str, files: Mapping[str, set[str]]) -> tuple[HardwareResult, ...]:
    """The results of an arch, in the order of the file that ``text_of`` makes; none without a file.

    files: SHA-256 of every catalogued object to its file names. Raises ``DataError`` kinds.
    """
    path = path_of(hsa, arch)
    if not path.exists():
        return ()
    rows = data_file.read(path, arch, {"result": HardwareResult})["result"]
    for number, row in enumerate(rows, 1):
        fault = _fault(row, arch, files)
        if fault:
            raise SchemaDrift(f"{path}: result {number}: {fault}", cause="the row states something impossible", remedy="restore the file")
    if len({(row.record, row.request) for row in rows}) != len(rows):
        raise DuplicateKey(f"{path}: a request of a record occurs twice", cause="rows are identified by it", remedy="remove all but one")
    return tuple(sorted(rows, key=lambda row: row.place))


def is_words(value: Any) -> bool:
    """Whether it is printable text of a length that smoke writes."""
    return type(value) is str and value.isprintable() and len(value) <= LARGEST_TEXT


def is_name(value: Any) -> bool:
    """Whether it is a device's name: words without blanks around them."""
    return is_words(value) and value.strip() == value != ""


def impossible(problem: Problem, lengths: Sequence[int]) -> str:
    """Why no kernel can have run a problem with these numbers of keys; empty if one can."""
    refused = refused_at_sight(problem)
    return f"it is refused for {refused}" if refused else posed.fault_of(problem, list(lengths))


def _fault(row: HardwareResult, arch: str, files: Mapping[str, set[str]]) -> str:
    if row.file not in files.get(row.sha256, ()):
        return f"no object {row.sha256:.80} of the name {row.file!a:.80} is catalogued"
    if row.outcome not in OUTCOMES or (row.outcome == "right") != (row.error is not None and 0.0 <= row.error <= row.bound):
        return f"outcome {row.outcome!a:.80} does not follow from error {row.error} and bound {row.bound}"
    if row.error is not None and not 0.0 <= row.error < math.inf:
        return f"error is {row.error}"
    if not SHA256.fullmatch(row.record) or row.request < 0 or row.compute_units < 1:
        return "record, request or compute_units is out of range"
    if not is_name(row.device) or not is_words(row.text) or row.target_id.partition(":")[0] != arch:
        return "device, text or target_id is not what a device of the arch gives"
    if row.problem.keys() != FIELDS.keys():
        return "the problem has not exactly the fields of a problem"
    try:
        problem = row.posed
    except InvalidProblem as error:
        return error.fact
    if problem.arch != arch:
        return "the problem is of another arch"
    if row.bound != posed.bound_of(problem):
        return f"bound is {row.bound}, not {posed.bound_of(problem)}"
    return impossible(problem, row.kv_lens)


def text_of(arch: str, rows: Iterable[HardwareResult]) -> str:
    """The file's text: the same rows give the same bytes."""
    lines = [_HEAD, f"schema = {data_file.SCHEMA}", f'arch = "{arch}"']
    for row in sorted(rows, key=lambda row: row.place):
        values = {name: value for name, value in asdict(row).items() if value is not None}
        lines += ["", "[[result]]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml(item)}' for name, item in value.items())} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # Texts are printable, and TOML escapes those as JSON does; numbers are finite.
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
