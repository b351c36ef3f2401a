"""AITER's code objects in a wheel, or in a zip file of a checkout."""

from __future__ import annotations

import hashlib
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from build_tools.errors import LicenceMissing, SourceMissing, SourceUnreadable, SourceUnsafe
from build_tools.providers.lock import Provider
from build_tools.providers.view import MAX_LICENCE_BYTES, MAX_OBJECT_BYTES, OBJECT_PATH

MAX_MEMBERS: Final = 200_000
# RuntimeError is what zipfile raises for an encrypted member, or for a compression method it does not know.
_DAMAGE: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, UnicodeDecodeError, ValueError)
_LICENCES: Final = ("LICENSE", "LICENSE.txt", "licenses/LICENSE")

_PLAIN: Final = re.compile(r"[A-Za-z0-9._+!-]{1,64}")


class ArchiveSource:
    """A wheel or zip file; opened anew for each read, so that no handle outlives a call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._list():
            self._add(info)
        matches = {name: OBJECT_PATH.search(name) for name in self._members}
        roots = {name[: match.start()] for name, match in matches.items() if match and match.end() == len(name)}
        if len(roots) != 1:
            raise SourceMissing(
                f"{path} holds {len(roots)} trees hsa/<arch>/mla",
                cause="an AITER wheel or checkout holds exactly one",
                remedy="give a wheel of amd-aiter or a zip file of a checkout",
            )
        self._root = roots.pop()
        self._objects: dict[str, dict[str, str]] = {}
        for name in self._members:
            match = OBJECT_PATH.fullmatch(name.removeprefix(self._root))
            if name.startswith(self._root) and match:
                self._objects.setdefault(match[1], {})[match[2]] = name

    @property
    def provider(self) -> Provider:
        """Name and version from the wheel's metadata, and the hash of the file."""
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        for name in self._members:
            path = PurePosixPath(name)
            if len(path.parts) == 2 and path.parts[0].endswith(".dist-info") and path.name == "METADATA":
                header = self._read(name, MAX_LICENCE_BYTES).decode("utf-8", "replace").split("\n\n")[0]
                fields = dict(line.partition(": ")[::2] for line in header.splitlines())
                return Provider(_plain(fields.get("Name")), _plain(fields.get("Version")), "wheel", digest)
        return Provider("aiter", "unknown", "archive", digest)

    def archs(self) -> tuple[str, ...]:
        """The archs it has objects for, sorted."""
        return tuple(sorted(self._objects))

    def files(self, arch: str) -> tuple[str, ...]:
        """The file names of an arch's objects, sorted."""
        return tuple(sorted(self._objects.get(arch, {})))

    def read(self, arch: str, file: str) -> bytes:
        """The bytes of one object."""
        return self._read(self._objects[arch][file], MAX_OBJECT_BYTES)

    def licence(self) -> bytes:
        """The licence of the wheel's metadata folder, or at the top of the checkout."""
        for name in sorted(self._members):
            head, _, rest = name.partition("/")
            if (head.endswith(".dist-info") and rest in _LICENCES) or name in [self._root + licence for licence in _LICENCES]:
                return self._read(name, MAX_LICENCE_BYTES)
        raise LicenceMissing(
            f"{self._path} holds no licence text",
            cause="AMD's licence must go with the objects",
            remedy="give the wheel as published, or a checkout with its LICENSE",
        )

    def _list(self) -> list[zipfile.ZipInfo]:
        try:
            with zipfile.ZipFile(self._path) as archive:
                members = archive.infolist()
        except _DAMAGE as error:
            raise self._damaged(error) from error
        if len(members) > MAX_MEMBERS:
            raise self._unsafe(f"{len(members)} members", f"more than {MAX_MEMBERS}")
        return members

    def _add(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in info.orig_filename or "\0" in info.orig_filename or name[1:2] == ":":
            raise self._unsafe(f"member {name!r:.200}", "its name leads outside the archive")
        if name in self._members:
            raise self._unsafe(f"member {name!r:.200}", "it occurs twice")
        if info.is_dir():
            return
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            if OBJECT_PATH.search(name):
                raise self._unsafe(f"member {name!r:.200}", "it is not a regular file")
            return
        self._members[name] = info

    def _read(self, name: str, limit: int) -> bytes:
        info = self._members[name]
        if info.flag_bits & 1:
            raise SourceUnreadable(f"{self._path}: {name} is encrypted", cause="no password is ever asked for", remedy="give a plain wheel")
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(info) as member:
                # The size in the header may lie: read one byte more than allowed and no further.
                data = member.read(limit + 1)
                while len(data) <= limit and (more := member.read(limit + 1 - len(data))):
                    data += more
        except _DAMAGE as error:
            raise self._damaged(error) from error
        if len(data) > limit:
            raise self._unsafe(f"member {name}", f"it is larger than {limit} bytes")
        return data

    def _damaged(self, error: Exception) -> SourceUnreadable:
        return SourceUnreadable(
            f"{self._path} cannot be read as a wheel or zip file",
            cause=f"{type(error).__name__}: {error}",
            remedy="download it again",
        )

    def _unsafe(self, what: str, cause: str) -> SourceUnsafe:
        return SourceUnsafe(f"{self._path}: {what} is refused", cause=cause, remedy="use an archive as AMD publishes it")


def _plain(text: str | None) -> str:
    """Text of a wheel's metadata as a lock may hold it: what is no plain name or version is unknown."""
    return text if text is not None and _PLAIN.fullmatch(text) else "unknown"
