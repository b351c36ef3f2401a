"""The per-arch source of truth under ``hsa/<arch>/``, read into frozen dataclasses and checked as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

from aiter_mla_aot.rules import Claim, Fold, Gate
from build_tools.code_object import targets
from build_tools.code_object.targets import Target
from build_tools.data import data_file, hardware
from build_tools.data.claims import check_claim, check_gate
from build_tools.data.hardware import HardwareResult
from build_tools.errors import DataError, DuplicateKey, MissingObject, OrphanObject, SchemaDrift
from build_tools.providers import lock
from build_tools.providers.lock import Lock


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One published code object: what its ELF says, AITER's table keys, and the claim. Identity is ``sha256``."""

    file: str
    sha256: str
    symbol: str
    sources: tuple[str, ...]
    scope: str
    bytes: int
    e_flags: int
    elf_abiversion: int
    kernarg_segment_size: int
    last_arg_end: int
    lds_bytes: int
    vgpr: int
    sgpr: int
    max_workgroup: int
    upstream_keys: tuple[str, ...]
    agpr: int | None = None
    supersedes: str | None = None
    recipe: str | None = None
    sub_q: int | None = None
    not_served: str | None = None
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class Precondition:
    """What a caller must guarantee for kernels because the host cannot see it; ``explain`` shows it."""

    kernels: tuple[str, ...]
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class Report:
    """One public report of a fault, mapped to a gate or to a written reason why none is needed."""

    id: str
    url: str
    title: str
    arch: str
    family: str
    shape: str
    symptom: str
    state: str
    seen: date
    gate: str | None = None
    no_gate: str | None = None
    failed_batch: int | None = None
    failed_keys: int | None = None
    """Requests, and keys of each, of the smallest run that was reported to go wrong: less shows nothing against the report."""


@dataclass(frozen=True, slots=True)
class ArchCatalog:
    """All data of one arch."""

    arch: str
    device: Target
    kernels: tuple[KernelRow, ...]
    folds: tuple[Fold, ...]
    gates: tuple[Gate, ...]
    preconditions: tuple[Precondition, ...]
    reports: tuple[Report, ...]
    lock: Lock
    hardware: tuple[HardwareResult, ...] = ()

    def shipped(self) -> frozenset[str]:
        """SHA-256 of every decode kernel of the lock: what a wheel of this arch holds."""
        locked = {item.sha256 for item in self.lock.objects}
        return frozenset(row.sha256 for row in self.kernels if row.sha256 in locked and row.scope == "decode")

    @property
    def provider_sha256(self) -> str:
        """SHA-256 of the provider's wheel, empty for another kind of source."""
        return self.lock.provider.sha256 or ""

    def superseded(self) -> frozenset[str]:
        """SHA-256 of every object of which a newer one with the same file name exists."""
        return frozenset(row.supersedes for row in self.kernels if row.supersedes)

    def row(self, sha256: str) -> KernelRow:
        """The row of an object; raises ``OrphanObject`` if the catalog has none."""
        for candidate in self.kernels:
            if candidate.sha256 == sha256:
                return candidate
        raise OrphanObject(
            f"no row of hsa/{self.arch}/kernels.toml describes the object {sha256}",
            cause="the object is not catalogued",
            remedy="add its row; `python3 -m build_tools inspect FILE` prints what the object says of itself",
        )


def archs(hsa: Path) -> tuple[str, ...]:
    """The archs that have a folder of data, sorted."""
    return tuple(sorted(path.name for path in hsa.iterdir() if path.is_dir() and path.name.startswith("gfx")))


def load(hsa: Path, arch: str, *, locks: Path | None = None) -> ArchCatalog:
    """Read and check the data of one arch.

    locks: a directory of ``<arch>/lock.toml`` other than ``hsa``. Raises ``DataError`` and its kinds.
    """
    folder = hsa / arch
    kernels = data_file.read(folder / "kernels.toml", arch, {"kernel": KernelRow})["kernel"]
    folds = data_file.read(folder / "folds.toml", arch, {"fold": Fold})["fold"]
    gates = data_file.read(folder / "gates.toml", arch, {"gate": Gate, "precondition": Precondition})
    reports = data_file.read(folder / "reports.toml", arch, {"report": Report})["report"]
    catalog = ArchCatalog(
        arch,
        targets.load(folder / "device.toml"),
        tuple(sorted(kernels, key=lambda row: (row.file, row.sha256))),
        tuple(sorted(folds, key=lambda fold: fold.name)),
        tuple(sorted(gates["gate"], key=lambda gate: gate.id)),
        tuple(sorted(gates["precondition"], key=lambda row: (row.text, row.kernels))),
        tuple(sorted(reports, key=lambda report: report.id)),
        lock.read(locks or hsa, arch),
        hardware.read(hsa, arch, _files(kernels)),
    )
    _check(catalog)
    return catalog


def _files(kernels: Iterable[KernelRow]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in kernels:
        found.setdefault(row.sha256, set()).add(row.file)
    return found


def matches(file: str, patterns: Iterable[str]) -> bool:
    """Whether a file name matches one of the glob patterns of a gate or precondition."""
    return any(fnmatchcase(file, pattern) for pattern in patterns)


def _check(catalog: ArchCatalog) -> None:
    where = f"hsa/{catalog.arch}"
    _unique(where, "kernel sha256", (row.sha256 for row in catalog.kernels))
    _unique(where, "kernel file and source", (f"{row.file} of {source}" for row in catalog.kernels for source in row.sources))
    _unique(where, "fold name", (fold.name for fold in catalog.folds))
    _unique(where, "gate id", (gate.id for gate in catalog.gates))
    _unique(where, "report id", (report.id for report in catalog.reports))
    folds = {fold.name: fold for fold in catalog.folds}
    for row in catalog.kernels:
        check_claim(row, folds, where)
        if row.supersedes is not None:
            older = catalog.row(row.supersedes)
            if older.file != row.file:
                raise DataError(
                    f"{where}: {row.file} supersedes {older.file}",
                    cause="an object supersedes one of its own file name only",
                    remedy="correct `supersedes`",
                )
    for gate in catalog.gates:
        check_gate(gate, where)
    for patterns in [gate.kernels for gate in catalog.gates] + [row.kernels for row in catalog.preconditions]:
        for pattern in patterns:
            if not any(matches(row.file, (pattern,)) for row in catalog.kernels):
                raise MissingObject(
                    f"{where}/gates.toml: no kernel matches {pattern!r}", cause="the pattern names nothing", remedy="correct the pattern"
                )
    gates = {gate.id for gate in catalog.gates}
    for report in catalog.reports:
        if (report.gate is None) == (report.no_gate is None):
            raise SchemaDrift(
                f"{where}/reports.toml: {report.id} needs a gate or a reason",
                cause="exactly one of `gate` and `no_gate`",
                remedy="give one",
            )
        sizes = (report.failed_batch, report.failed_keys)
        if sizes != (None, None) and (report.gate is None or not all(size is not None and size > 0 for size in sizes)):
            raise SchemaDrift(
                f"{where}/reports.toml: {report.id} has half a size of the run that failed, or one without a gate",
                cause="`failed_batch` and `failed_keys` say together what lifts the report's gate",
                remedy="give both as numbers of 1 or more, or none",
            )
        if report.gate is not None and report.gate not in gates:
            raise MissingObject(
                f"{where}/reports.toml: {report.id} names gate {report.gate!r}", cause="no such gate", remedy="add it to gates.toml"
            )
    for item in catalog.lock.objects:
        if catalog.row(item.sha256).file != item.file:
            raise OrphanObject(
                f"{where}/lock.toml: {item.file} is not the file of {item.sha256}",
                cause="the catalog names it otherwise",
                remedy="write the lock again",
            )


def _unique(where: str, what: str, keys: Iterable[str]) -> None:
    for key, count in Counter(keys).items():
        if count > 1:
            raise DuplicateKey(
                f"{where}: {what} {key} occurs {count} times", cause="rows are identified by it", remedy="remove all but one"
            )
