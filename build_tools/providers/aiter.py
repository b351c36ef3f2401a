"""The ``aiter`` provider: brings AMD's published code objects, exactly those of the lock, into the build directory."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from build_tools.environment import pip_settings
from build_tools.environment.pip_run import report_os_errors, run_pip
from build_tools.errors import ObjectChanged, ObjectMissing, ObjectUnknown, SourceMissing
from build_tools.providers import lock
from build_tools.providers.archive import ArchiveSource
from build_tools.providers.folder import FolderSource
from build_tools.providers.lock import Lock, LockedObject
from build_tools.providers.view import Source

LICENCE: Final = "AMD-AITER-LICENSE"
"""File name of AMD's licence text, beside the folders of objects."""

_LOCK: Final = "use the source that the lock names, or write a new lock with `python3 -m build_tools lock --aiter-source PATH`"


def open_source(path: Path) -> Source:
    """The view of a folder, wheel or zip file. Raises ``ProviderError`` kinds."""
    if path.is_dir():
        return FolderSource(path)
    if path.is_file():
        return ArchiveSource(path)
    raise SourceMissing(
        f"the AITER source {path} does not exist",
        cause="it is neither a folder nor a regular file",
        remedy="give an AITER checkout, an installed aiter_meta, or a wheel",
    )


def fetch(hsa: Path, archs: Sequence[str], aiter_source: Path | None, cache: Path, out: Path, report: Callable[[str], None]) -> None:
    """Write ``out/<arch>/*.co`` and AMD's licence as ``out/AMD-AITER-LICENSE``.

    aiter_source: None for the wheel that the lock names, which pip downloads under its hash and ``cache`` keeps.
    Raises ``ProviderError`` kinds before anything of an arch is written; files appear whole or not at all.
    """
    locks = lock.read_all(hsa, archs)
    source = open_source(aiter_source if aiter_source is not None else pinned_wheel(locks[0], cache, report))
    found = {item.arch: select(source, item) for item in locks}
    licence = source.licence()
    with report_os_errors(out):
        for arch, objects in found.items():
            folder = out / arch
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in objects.items():
                write(folder / name, data)
            for stranger in sorted(path for path in folder.iterdir() if path.name not in objects):
                stranger.unlink()
        write(out / LICENCE, licence)


def select(source: Source, locked: Lock) -> dict[str, bytes]:
    """The locked objects of one arch, by file name, every hash checked. The source may hold no other object of the arch.

    Raises ``ObjectUnknown``, ``ObjectChanged`` or ``ObjectMissing``, the first two with both hashes.
    """
    wanted = {item.file: item for item in locked.objects}
    objects = {}
    for name in source.files(locked.arch):
        data = source.read(locked.arch, name)
        _check(locked.arch, name, data, wanted.get(name))
        objects[name] = data
    for item in locked.objects:
        if item.file not in objects:
            raise ObjectMissing(
                f"{locked.arch}/{item.file} is not in the source",
                cause=f"the lock names it with SHA-256 {item.sha256}",
                remedy=_LOCK,
            )
    return objects


def pinned_wheel(locked: Lock, cache: Path, report: Callable[[str], None]) -> Path:
    """The wheel that a lock names: from the cache if its bytes are right, else downloaded by pip under its hash."""
    provider = locked.provider
    if provider.kind != "wheel" or provider.sha256 is None:
        raise SourceMissing(
            f"the lock of {locked.arch} names no published wheel",
            cause=f"it was written from a source of kind {provider.kind!r}",
            remedy="give that source with --aiter-source PATH",
        )
    folder = cache / provider.sha256
    for path in sorted(folder.glob("*.whl")):
        if hashlib.sha256(path.read_bytes()).hexdigest() == provider.sha256:
            return path
    report(f"downloading {provider.name} {provider.version}")
    with report_os_errors(cache):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=cache) as scratch:
            requirement = Path(scratch, "requirement.txt")
            requirement.write_text(f"{provider.name}=={provider.version} --hash=sha256:{provider.sha256}\n", encoding="utf-8")
            files = Path(scratch, "files")
            # Which interpreter runs this build says nothing about where the objects run.
            options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--ignore-requires-python"]
            environment = pip_settings.environment(sys.executable, keep_python_path=True)
            arguments = ["download", *options, "--dest", str(files), "--requirement", str(requirement)]
            run_pip(sys.executable, arguments, environment, report, isolated=False)
            (wheel,) = files.glob("*.whl")
            os.replace(wheel, folder / wheel.name)
    return folder / wheel.name


def write(path: Path, data: bytes) -> None:
    """Write a file atomically; a file that already holds these bytes keeps its time, so that nothing is rebuilt for it."""
    if path.is_file() and path.read_bytes() == data:
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError:
        # Nothing half-written stays, as where the disk is full.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _check(arch: str, name: str, data: bytes, wanted: LockedObject | None) -> None:
    found = hashlib.sha256(data).hexdigest()
    if wanted is None:
        raise ObjectUnknown(
            f"the lock does not know {arch}/{name}",
            cause=f"SHA-256 in the source: {found}; in the lock: none",
            remedy=_LOCK,
        )
    if found != wanted.sha256:
        raise ObjectChanged(
            f"{arch}/{name} is not the object of the lock",
            cause=f"SHA-256 in the source: {found} ({len(data)} bytes); in the lock: {wanted.sha256} ({wanted.bytes} bytes)",
            remedy=_LOCK,
        )
