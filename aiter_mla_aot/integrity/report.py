"""What a check of the package found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import (
    CodeObjectMismatch,
    ExtensionMismatch,
    MlaError,
    PackageFileDamaged,
    PackageFileMissing,
    PackageFileUnexpected,
    RecordInvalid,
    TableMismatch,
    VersionLabelMismatch,
    WheelInvalid,
)
from ..files import REINSTALL

_KINDS: Final = {
    kind.code: kind
    for kind in (
        PackageFileMissing,
        PackageFileDamaged,
        PackageFileUnexpected,
        RecordInvalid,
        CodeObjectMismatch,
        TableMismatch,
        VersionLabelMismatch,
        WheelInvalid,
        ExtensionMismatch,
    )
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. ``code`` is the code of the error class, ``path`` a file of the package or the wheel itself."""

    code: str
    path: str
    expected: str
    found: str
    text: str

    def __str__(self) -> str:
        return f"{self.code} {self.path}: {self.text} (expected {self.expected}, found {self.found})"

    def to_json(self) -> dict[str, str]:
        """The finding as an object of ``findings``."""
        return {"code": self.code, "path": self.path, "expected": self.expected, "found": self.found, "text": self.text}


def finding(kind: type[MlaError], path: str, expected: object, found: object, text: str) -> Finding:
    """A finding of an error class; what was found is cut to a readable length."""
    return Finding(kind.code, plain(path), plain(expected), plain(found), text)


def plain(value: object) -> str:
    """A short text of a value from a file: what cannot be printed is escaped, so that it cannot steer a terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in f"{value!s:.200}")


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of a whole check. ``objects`` counts the code objects per arch that are the ones their table names."""

    subject: str
    version: str
    archs: tuple[str, ...]
    files: int
    objects: Mapping[str, int]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """The report as `verify --json` prints it."""
        return {
            "subject": self.subject,
            "version": self.version,
            "archs": list(self.archs),
            "files": self.files,
            "objects": dict(self.objects),
            "ok": self.ok,
            "findings": [item.to_json() for item in self.findings],
        }

    def error(self) -> MlaError | None:
        """The findings as one error, of the class of the first; None if nothing is wrong."""
        if not self.findings:
            return None
        first = self.findings[0]
        count = len(self.findings)
        return _KINDS[first.code](
            f"{self.subject} is not as it was built: {count} finding{'s' if count > 1 else ''}",
            cause="\n".join(str(item) for item in self.findings),
            remedy=REINSTALL,
        )
