"""Integrity of the package: what lies on disk is what was built, byte for byte.

``load_object`` is the verified read on the way to the device; ``verify_installed`` and ``verify_wheel`` check everything and
list all findings. They only read, and start no process.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from .. import files, table
from ..errors import CodeObjectMismatch
from ..files import REINSTALL
from .report import Finding, VerifyReport

__all__ = ["Finding", "VerifyReport", "digest", "load_object", "verify_installed", "verify_wheel"]

PACKAGE_DIRECTORY: Final = Path(__file__).resolve().parent.parent


def digest(data: bytes) -> str:
    """The SHA-256 of the bytes in hex, as tables and locks spell it."""
    return hashlib.sha256(data).hexdigest()


def load_object(arch: str, file: str, package: Path = PACKAGE_DIRECTORY) -> bytes:
    """The bytes of a shipped code object, after their SHA-256 was found to be the one in the arch's table.

    Raises ``CodeObjectMismatch`` if the table names no such object or the hash differs, ``PackageFileMissing`` if the object
    or the table is absent, and ``PackageFileDamaged`` if either cannot be read.
    """
    kernels = table.load(arch, package / "tables").kernels
    expected = next((kernel.sha256 for kernel in kernels if kernel.file == file and kernel.shipped), None)
    if expected is None:
        raise CodeObjectMismatch(
            f"{arch}/{file} is not a code object of this package",
            cause=f"the table of {arch} names no shipped object of this name",
            remedy=f"use a file that `aiter-mla-aot kernels --arch {arch}` lists",
        )
    path = package / "kernels" / arch / file
    data = files.read(path)
    found = digest(data)
    if found != expected:
        raise CodeObjectMismatch(
            f"{path} is not the code object that was built",
            cause=f"its SHA-256 is {found}, the table says {expected}",
            remedy=REINSTALL,
        )
    return data


def verify_installed(package: Path = PACKAGE_DIRECTORY) -> VerifyReport:
    """Check an installed package, by default the one this code belongs to.

    Every file of RECORD is hashed again; then code objects, tables, extension and version label are checked against each other.
    """
    from . import installed

    return installed.verify(package)


def verify_wheel(path: Path) -> VerifyReport:
    """Check a wheel file of this package without installing it."""
    from . import wheel

    return wheel.verify(path)
