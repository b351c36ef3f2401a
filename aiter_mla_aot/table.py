"""The static dispatch table of one arch, as the build wrote it, and the walk of its decision diagram.

The diagram of a catalog is one list of integers. A node is a run of as many entries as its axis has values; an entry is the
place of the next node, and on the last axis an answer: an index of ``plans`` below ``REFUSAL``, else ``REFUSAL`` plus an index
of ``refusals``. The C++ table is the same list.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from . import files
from .errors import PackageFileDamaged, PackageFileMissing
from .problem import DTYPE_PAIRS, KV_SPAN_LIMIT, MAX_HEADS, MAX_Q_LEN, MODES, PAGE_SIZES, Problem
from .proof import NONE, Proof
from .rules import Claim, Flags, Fold, Gate, HardwareRule

SCHEMA: Final = 1
REFUSAL: Final = 0x8000
CATALOGS: Final = ("shipped", "full")
DIRECTORY: Final = Path(__file__).parent / "tables"
INDEX: Final = "index.json"
"""The archs that have a table, and the SHA-256 of each."""
AXES: Final = (
    ("mode", len(MODES)),
    ("dtypes", len(DTYPE_PAIRS)),
    ("heads", MAX_HEADS),
    ("q_len", MAX_Q_LEN),
    ("ragged", 2),
    ("page_size", len(PAGE_SIZES)),
    ("causal", 2),
    ("lse", 2),
    ("context_parallel", 2),
    ("sparse", 2),
    ("kv_over_4gib", 2),
)
"""The axes of the diagram and their widths, outermost first. A boolean axis has false first."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One catalogued kernel. ``info`` holds the object's own metadata (bytes, registers, kernarg size and so on)."""

    file: str
    sha256: str
    symbol: str
    scope: str
    shipped: bool
    superseded: bool
    recipe: str | None
    claim: Claim | None
    not_served: str | None
    gates: tuple[str, ...]
    preconditions: tuple[str, ...]
    upstream_keys: tuple[str, ...]
    sources: tuple[str, ...]
    proof: Proof | None
    """What was shown for the kernel as its claim feeds it; None if it has no claim or was not run."""
    info: Mapping[str, Any]

    @property
    def evidence(self) -> str:
        """The words for what was shown: ``none``, ``proven on the emulator`` or ``proven on the emulator, timing-dependent``."""
        return self.proof.state if self.proof else NONE

    @property
    def name(self) -> str:
        """The file name without its suffix, as users and AITER call the kernel."""
        return self.file.removesuffix(".co")

    def in_catalog(self, catalog: str) -> bool:
        """Whether the catalog ``shipped`` (this wheel) or ``full`` (all published objects, newest of a name) holds it."""
        return self.shipped if catalog == "shipped" else not self.superseded


@dataclass(frozen=True, slots=True)
class Diagram:
    """The decision diagram of one catalog."""

    root: int
    nodes: tuple[int, ...]

    def leaf(self, problem: Problem) -> int:
        """The answer's number for a problem of this arch that lies inside the diagram's axes."""
        place = self.root
        for value in positions(problem):
            place = self.nodes[place + value]
        return place


@dataclass(frozen=True, slots=True)
class Table:
    """Everything the build decided for one arch."""

    arch: str
    device: Mapping[str, Any]
    """``mach`` (EF_AMDGPU_MACH of its objects), ``lds_bytes`` of a workgroup, and ``fp8``, the float8 format."""
    kernels: tuple[Kernel, ...]
    folds: Mapping[str, Fold]
    gates: Mapping[str, Gate]
    reports: tuple[Mapping[str, Any], ...]
    plans: tuple[tuple[int, bool], ...]
    """Per plan: index of its kernel, and whether every work item holds one query token."""
    refusals: tuple[str, ...]
    catalogs: Mapping[str, Diagram]
    counts: Mapping[str, Any]
    hardware: tuple[HardwareRule, ...]
    """What results from devices changed."""

    def lifts(self, kernel: Kernel) -> tuple[HardwareRule, ...]:
        """Gates of a kernel that results from devices lifted, each for one problem."""
        return tuple(rule for rule in self.hardware if rule.kernel == kernel.sha256 and rule.effect == "lifts")


def positions(problem: Problem) -> tuple[int, ...]:
    """The problem's place on every axis, in the order of ``AXES``. Its dtype pair must be one of ``DTYPE_PAIRS``."""
    return (
        MODES.index(problem.mode),
        DTYPE_PAIRS.index((problem.q_dtype, problem.kv_dtype)),
        problem.heads - 1,
        problem.q_len - 1,
        int(problem.ragged),
        problem.page_size.bit_length() - 1,
        int(problem.causal),
        int(problem.lse),
        int(problem.cp_world_size > 1),
        int(problem.sparse),
        int(problem.kv_bytes > KV_SPAN_LIMIT),
    )


def flags(problem: Problem) -> Flags:
    """The axes of the problem on which no size depends."""
    return Flags(
        problem.ragged,
        problem.page_size,
        problem.causal,
        problem.lse,
        problem.cp_world_size > 1,
        problem.sparse,
        problem.kv_bytes > KV_SPAN_LIMIT,
    )


@cache
def index(directory: Path = DIRECTORY) -> Mapping[str, str]:
    """SHA-256 of the table of every arch of this package, by arch, sorted.

    Raises ``PackageFileMissing`` or ``PackageFileDamaged``.
    """
    path = directory / INDEX
    data = _decoded(path, files.read(path))
    tables = data.get("tables") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if not isinstance(tables, dict) or not tables or not all(isinstance(value, str) for value in tables.values()):
        raise _damaged(path, "it names no tables of this schema")
    return dict(sorted(tables.items()))


def archs(directory: Path = DIRECTORY) -> tuple[str, ...]:
    """The archs that have a table, sorted. Raises what ``index`` raises."""
    return tuple(index(directory))


@cache
def load(arch: str, directory: Path = DIRECTORY) -> Table:
    """Read one arch's table.

    Raises ``PackageFileMissing`` if there is none and ``PackageFileDamaged`` if it is not, byte for byte, the table that was built.
    """
    path = directory / f"{arch}.json"
    expected = index(directory).get(arch)
    if expected is None:
        raise PackageFileMissing(
            f"there is no table of {arch}",
            cause="this package was built for other archs",
            remedy=f"use one of {', '.join(archs(directory))}",
        )
    data = files.read(path)
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise _damaged(path, f"its SHA-256 is {found}, {INDEX} says {expected}")
    try:
        return parse(_decoded(path, data))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise _damaged(path, f"it is no dispatch table of schema {SCHEMA}: {error!r}") from error


def evidence_counts(directory: Path = DIRECTORY) -> dict[str, int]:
    """Kernels of this package that have a claim, by the words for what was shown of them. Raises what ``load`` raises."""
    rows = [kernel for arch in archs(directory) for kernel in load(arch, directory).kernels if kernel.shipped and kernel.claim]
    return dict(sorted(Counter(kernel.evidence for kernel in rows).items()))


def _decoded(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is not JSON: {error}") from error


def _damaged(path: Path, cause: str) -> PackageFileDamaged:
    return PackageFileDamaged(f"{path} is not the file that was built", cause=cause, remedy=files.REINSTALL)


def parse(data: Mapping[str, Any]) -> Table:
    """Build a table from its decoded JSON; raises what dict and dataclass raise where a field is wrong."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']!r}")
    return Table(
        arch=data["arch"],
        device=data["device"],
        kernels=tuple(_kernel(row) for row in data["kernels"]),
        folds={row["name"]: Fold(**_tuples(row)) for row in data["folds"]},
        gates={row["id"]: Gate(**_tuples(row)) for row in data["gates"]},
        reports=tuple(data["reports"]),
        plans=tuple((row["kernel"], row["single"]) for row in data["plans"]),
        refusals=tuple(data["refusals"]),
        catalogs={name: Diagram(data["catalogs"][name]["root"], tuple(data["catalogs"][name]["nodes"])) for name in CATALOGS},
        counts=data["counts"],
        # Only a table with such results has the key.
        hardware=tuple(HardwareRule(**row) for row in data.get("hardware", ())),
    )


_KERNEL_FIELDS: Final = frozenset(field.name for field in fields(Kernel)) - {"info", "claim", "proof"}


def _kernel(row: Mapping[str, Any]) -> Kernel:
    named = _tuples({name: row[name] for name in _KERNEL_FIELDS})
    claim = row["claim"] and Claim(**_tuples(row["claim"]))
    proof = row["proof"] and Proof.from_json(row["proof"])
    info = {name: value for name, value in row.items() if name not in _KERNEL_FIELDS | {"claim", "proof"}}
    return Kernel(**named, claim=claim, proof=proof, info=info)


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
