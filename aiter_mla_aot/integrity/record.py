"""``RECORD``: the list of files, hashes and sizes that every wheel and every installed package carries."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..errors import PackageFileDamaged, RecordInvalid
from .report import Finding, finding

PACKAGE: Final = "aiter_mla_aot"


@dataclass(frozen=True, slots=True)
class Row:
    """One file of RECORD; ``digest`` is the SHA-256 as RECORD spells it, empty where RECORD gives no hash."""

    path: str
    digest: str
    size: str


def parse(data: bytes, path: str) -> tuple[dict[str, Row], list[Finding]]:
    """The rows of a RECORD by path, and what is wrong with its form."""
    rows: dict[str, Row] = {}
    findings: list[Finding] = []
    try:
        lines = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return rows, [finding(RecordInvalid, path, "UTF-8 text of comma separated values", error, "RECORD cannot be read")]
    for number, line in enumerate(lines, 1):
        if len(line) != 3:
            findings.append(finding(RecordInvalid, path, "path,hash,size", ",".join(line), f"line {number} is malformed"))
            continue
        name, digest, size = line
        if name in rows:
            findings.append(finding(RecordInvalid, path, "one line a file", name, f"line {number} repeats a file"))
        elif digest and not digest.startswith("sha256="):
            findings.append(finding(RecordInvalid, path, "a SHA-256", digest, f"line {number} has another kind of hash"))
        else:
            rows[name] = Row(name, digest, size)
    if not rows and not findings:
        findings.append(finding(RecordInvalid, path, "one line a file", "an empty file", "RECORD lists nothing"))
    return rows, findings


def encode_digest(data: bytes) -> str:
    """The SHA-256 of the bytes, as RECORD spells it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")


def check(row: Row, data: bytes) -> list[Finding]:
    """What differs between a file and its row."""
    digest = encode_digest(data)
    if row.digest and digest != row.digest:
        return [finding(PackageFileDamaged, row.path, row.digest, digest, "the bytes are not those that were built")]
    if row.size and row.size != str(len(data)):
        return [finding(PackageFileDamaged, row.path, f"{row.size} bytes", f"{len(data)} bytes", "the size differs from RECORD")]
    return []


def unhashed(rows: Mapping[str, Row], record_path: str) -> list[Finding]:
    """Rows of the package that no hash protects; RECORD itself and byte code caches have none by nature."""
    return [
        finding(RecordInvalid, row.path, "a SHA-256 in RECORD", "none", "no hash protects the file")
        for row in rows.values()
        if not row.digest and row.path.startswith(f"{PACKAGE}/") and row.path != record_path and not is_cache(row.path)
    ]


def is_cache(path: str) -> bool:
    """Whether a path is Python's byte code cache, which is made after installation."""
    return "__pycache__" in path.split("/") or path.endswith(".pyc")
