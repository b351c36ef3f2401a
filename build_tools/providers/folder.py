"""AITER's code objects in a folder: a checkout, an installed ``aiter_meta``, or an unpacked wheel."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from build_tools.errors import LicenceMissing, SourceMissing, SourceUnreadable, SourceUnsafe
from build_tools.providers.lock import Provider
from build_tools.providers.view import MAX_LICENCE_BYTES, MAX_OBJECT_BYTES, OBJECT_PATH

_REMEDY: Final = "give an AITER checkout (hsa/<arch>/mla), an installed aiter_meta, or a wheel"
_LICENCES: Final = ("LICENSE", "LICENSE.txt", "licenses/LICENSE")
_DIST_INFO: Final = re.compile(r"(amd_aiter|aiter)-([A-Za-z0-9.+_!]+)\.dist-info")


class FolderSource:
    """A folder, or its ``aiter_meta``, that holds ``hsa/<arch>/mla/*.co``."""

    def __init__(self, path: Path) -> None:
        self._base = next((base for base in (path, path / "aiter_meta") if (base / "hsa").is_dir()), path)
        self._objects: dict[str, tuple[str, ...]] = {}
        try:
            for folder in sorted((self._base / "hsa").glob("gfx*/mla")):
                for part in (folder, folder.parent, folder.parent.parent):
                    if part.is_symlink():
                        raise SourceUnsafe(f"{part} is refused", cause="it is a symbolic link", remedy="give a source with real folders")
                self._objects[folder.parent.name] = self._names(folder)
        except OSError as error:
            raise self._unreadable(self._base, error) from error
        if not any(self._objects.values()):
            raise SourceMissing(
                f"{path} holds no hsa/<arch>/mla/*.co", cause="no MLA code object lies where AITER keeps them", remedy=_REMEDY
            )

    @property
    def provider(self) -> Provider:
        """Installed packages name their version; a checkout names none."""
        for folder in self._metadata():
            match = _DIST_INFO.fullmatch(folder.name)
            if match:
                return Provider(match[1].replace("_", "-"), match[2], "installed")
        return Provider("aiter", "unknown", "checkout")

    def archs(self) -> tuple[str, ...]:
        """The archs it has objects for, sorted."""
        return tuple(sorted(arch for arch, files in self._objects.items() if files))

    def files(self, arch: str) -> tuple[str, ...]:
        """The file names of an arch's objects, sorted."""
        return self._objects.get(arch, ())

    def read(self, arch: str, file: str) -> bytes:
        """The bytes of one object."""
        return self._read(self._base / "hsa" / arch / "mla" / file, MAX_OBJECT_BYTES)

    def licence(self) -> bytes:
        """The checkout's LICENSE, or that of the installed package."""
        for folder in [self._base, *self._metadata()]:
            for name in _LICENCES:
                if (folder / name).exists():
                    return self._read(folder / name, MAX_LICENCE_BYTES)
        raise LicenceMissing(
            f"{self._base} has no licence text",
            cause="AMD's licence must go with the objects: a checkout has LICENSE, an installed package has it in its .dist-info",
            remedy="give the whole checkout, or the wheel",
        )

    def _metadata(self) -> list[Path]:
        return sorted(path for path in self._base.parent.glob("*.dist-info") if _DIST_INFO.fullmatch(path.name))

    def _names(self, folder: Path) -> tuple[str, ...]:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".co"))
        for name in names:
            if not OBJECT_PATH.fullmatch(f"hsa/{folder.parent.name}/mla/{name}"):
                raise SourceUnsafe(f"{folder}: file {name!r:.200} is refused", cause="a code object has a plain file name", remedy=_REMEDY)
        return tuple(names)

    def _read(self, path: Path, limit: int) -> bytes:
        # O_NONBLOCK: opening a named pipe must not wait for a writer.
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if path.is_symlink():
                raise SourceUnsafe(f"{path} is refused", cause="it is a symbolic link", remedy="give a source with real files") from error
            raise self._unreadable(path, error) from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SourceUnsafe(f"{path} is refused", cause="it is not a regular file", remedy="give a source with real files")
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        except OSError as error:
            raise self._unreadable(path, error) from error
        finally:
            os.close(descriptor)
        if len(data) > limit:
            raise SourceUnsafe(f"{path} is refused", cause=f"it is larger than {limit} bytes", remedy="an MLA code object is far smaller")
        return data

    def _unreadable(self, path: Path, error: OSError) -> SourceUnreadable:
        return SourceUnreadable(f"{path} cannot be read", cause=str(error), remedy="check the path and its permissions")
