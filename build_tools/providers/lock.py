"""Lock files ``hsa/<arch>/lock.toml``: which provider, and the exact bytes of every object that a build may use."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from build_tools.data import data_file
from build_tools.errors import DuplicateKey, SchemaDrift

_REMEDY: Final = "write the lock with `python3 -m build_tools lock --aiter-source PATH`"
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.co")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Provider:
    """Where locked objects come from. ``kind`` is wheel, archive, installed or checkout; ``sha256`` is that of a wheel file."""

    name: str
    version: str
    kind: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class LockedObject:
    """A code object that a build may use."""

    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock file; objects are sorted by file name."""

    arch: str
    provider: Provider
    objects: tuple[LockedObject, ...]


def path_of(hsa: Path, arch: str) -> Path:
    """The lock file of an arch."""
    return hsa / arch / "lock.toml"


def read(hsa: Path, arch: str) -> Lock:
    """Read and check a lock file. Raises ``DataError`` kinds."""
    path = path_of(hsa, arch)
    data = data_file.load(path)
    rows, provider = data.pop("object", None), data.pop("provider", None)
    if data != {"schema": data_file.SCHEMA, "arch": arch} or not isinstance(provider, dict) or not _tables(rows):
        raise SchemaDrift(f"{path} is not a lock of {arch}", cause="it needs schema, arch, [provider] and [[object]] only", remedy=_REMEDY)
    objects = [data_file.record(LockedObject, row, f"{path}: object {number}") for number, row in enumerate(rows, 1)]
    for item in objects:
        if not _FILE_NAME.fullmatch(item.file) or not _SHA256.fullmatch(item.sha256) or item.bytes <= 0:
            raise SchemaDrift(f"{path}: object {item.file!r}", cause="file name, hash or size is malformed", remedy=_REMEDY)
    if len({item.file for item in objects}) != len(objects):
        raise DuplicateKey(f"{path}: one file name occurs twice", cause="objects are identified by it", remedy=_REMEDY)
    return Lock(arch, data_file.record(Provider, provider, f"{path}: provider"), tuple(sorted(objects, key=lambda item: item.file)))


def read_all(hsa: Path, archs: Iterable[str]) -> tuple[Lock, ...]:
    """The locks of some archs, sorted by arch. Raises ``DataError`` kinds, also where they name different providers."""
    locks = tuple(read(hsa, arch) for arch in sorted(archs))
    for item in locks:
        if item.provider != locks[0].provider:
            raise SchemaDrift(
                f"{path_of(hsa, item.arch)} names another provider than that of {locks[0].arch}",
                cause="all objects of a wheel come from one source",
                remedy=_REMEDY,
            )
    return locks


def digest(hsa: Path, archs: Iterable[str]) -> str:
    """One SHA-256 over the lock files of some archs, whatever their order."""
    lines = [f"{arch} {hashlib.sha256(path_of(hsa, arch).read_bytes()).hexdigest()}\n" for arch in sorted(archs)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def render(lock: Lock) -> str:
    """The text of a lock file: the same lock gives the same bytes."""
    lines = [
        "# Written by `python3 -m build_tools lock`; every code object that a build may use, by its bytes.",
        f"schema = {data_file.SCHEMA}",
        f'arch = "{lock.arch}"',
        "",
        "[provider]",
        *_fields(asdict(lock.provider)),
    ]
    for item in sorted(lock.objects, key=lambda item: item.file):
        lines += ["", "[[object]]", *_fields(asdict(item))]
    return "\n".join(lines) + "\n"


def write(directory: Path, locks: Sequence[Lock]) -> tuple[Path, ...]:
    """Write lock files to ``directory/<arch>/lock.toml``, each atomically, and return their paths."""
    paths = []
    for lock in locks:
        path = path_of(directory, lock.arch)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".lock.toml.{os.getpid()}")
        temporary.write_text(render(lock), encoding="utf-8")
        os.replace(temporary, path)
        paths.append(path)
    return tuple(paths)


def _fields(values: dict[str, Any]) -> list[str]:
    return [f"{name} = {value}" if isinstance(value, int) else f'{name} = "{value}"' for name, value in values.items() if value is not None]


def _tables(rows: object) -> bool:
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)
