"""The whole check of an installed package: its directory and the ``.dist-info`` beside it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from .. import native
from ..errors import ExtensionMismatch, NativeAbiMismatch, PackageFileDamaged, PackageFileMissing, PackageFileUnexpected, RecordInvalid
from ..table import Table
from . import record
from .content import EXTENSION, Content
from .report import Finding, VerifyReport, finding, plain

OWN_DIRECTORY: Final = Path(__file__).resolve().parent.parent
INSTALLER_FILES: Final = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
"""Files of ``.dist-info`` that installers write; they differ between machines."""
MAX_FILE_BYTES: Final = 64 << 20


def dist_infos(site: Path) -> list[str]:
    """Names of the package's ``.dist-info`` directories in a site-packages directory."""
    return sorted(path.name for path in site.glob("*.dist-info") if path.name.lower().startswith(f"{record.PACKAGE}-"))


def verify(package: Path) -> VerifyReport:
    """Check the package that lies in the directory ``package``."""
    site = package.parent
    names = dist_infos(site)
    findings: list[Finding] = []
    if len(names) != 1:
        findings.append(
            finding(
                RecordInvalid,
                str(site),
                f"one {record.PACKAGE}-*.dist-info",
                ", ".join(names) or "none",
                "the package is not installed once",
            )
        )
    dist_info = names[0] if names else f"{record.PACKAGE}-.dist-info"
    present = _walk(site, record.PACKAGE, findings) | _walk(site, dist_info, findings)
    files: dict[str, bytes] = {}
    for name in sorted(present):
        _read(site / name, name, files, findings)
    record_path = f"{dist_info}/RECORD"
    if record_path in files:
        findings += _check_record(site, files, record_path)
    elif names:
        findings.append(finding(RecordInvalid, record_path, "the file", "nothing", "the package has no RECORD"))
    content = Content({name: data for name, data in files.items() if not record.is_cache(name)}, dist_info)
    content.check()
    findings += content.findings
    if package == OWN_DIRECTORY and not any(item.path == EXTENSION or item.code == RecordInvalid.code for item in findings):
        # A damaged library could crash this process, so it is only loaded when its bytes are known to be right.
        findings += _check_loaded(content.archs, content.tables)
    return VerifyReport(str(package), plain(content.version), content.archs, len(content.files), dict(content.objects), tuple(findings))


def _check_loaded(archs: Sequence[str], tables: Mapping[str, Table]) -> list[Finding]:
    try:
        loaded_table = native.load().table()
    except (NativeAbiMismatch, PackageFileMissing) as error:
        return [
            finding(
                ExtensionMismatch,
                EXTENSION,
                "an extension of this package",
                f"{error.fact} ({error.cause})",
                "the extension cannot be used",
            )
        ]
    rows = loaded_table["kernels"]
    loaded = sorted((row["arch"], row["file"], row["sha256"]) for row in rows if row["arch"] in tables or row["arch"] not in archs)
    named = sorted((arch, row.file, row.sha256) for arch, data in tables.items() for row in data.kernels if row.shipped)
    if loaded != named:
        different = sorted(set(loaded) ^ set(named))
        return [finding(ExtensionMismatch, EXTENSION, "the kernels of the tables", different, "the extension knows other kernels")]
    return []


def _check_record(site: Path, files: dict[str, bytes], record_path: str) -> list[Finding]:
    rows, findings = record.parse(files[record_path], record_path)
    dist_info = record_path.split("/")[0]
    findings += record.unhashed(rows, record_path)
    outside: dict[str, bytes] = {}
    for name, row in rows.items():
        inside = name.startswith((f"{record.PACKAGE}/", f"{dist_info}/"))
        if not inside and row.digest:
            _read(site / name, name, outside, findings)
        data = files.get(name) if inside else outside.get(name)
        if data is not None:
            findings += record.check(row, data)
        elif inside and not record.is_cache(name):
            findings.append(finding(PackageFileMissing, name, row.digest or "the file", "nothing", "RECORD lists a file that is not there"))
    for name in sorted(files.keys() - rows.keys()):
        if not record.is_cache(name) and name not in {f"{dist_info}/{own}" for own in INSTALLER_FILES}:
            findings.append(finding(PackageFileUnexpected, name, "a line in RECORD", "none", "the file is not in RECORD"))
    return findings


def _walk(site: Path, top: str, findings: list[Finding]) -> set[str]:
    found: set[str] = set()

    def unreadable(error: OSError) -> None:
        findings.append(finding(PackageFileDamaged, top, "a readable directory", error, "the directory cannot be listed"))

    root = site / top
    if not root.is_dir():
        return found
    for directory, _, names in os.walk(root, onerror=unreadable):
        found |= {(Path(directory) / name).relative_to(site).as_posix() for name in names}
    return found


def _read(path: Path, name: str, files: dict[str, bytes], findings: list[Finding]) -> None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            findings.append(
                finding(
                    PackageFileDamaged,
                    name,
                    f"a regular file of at most {MAX_FILE_BYTES} bytes",
                    path,
                    "the file cannot be one of a package",
                )
            )
        else:
            files[name] = path.read_bytes()
    except FileNotFoundError:
        findings.append(finding(PackageFileMissing, name, "the file", "nothing", "RECORD lists a file that is not there"))
    except (OSError, ValueError) as error:
        # ValueError: the name holds a zero byte.
        findings.append(finding(PackageFileDamaged, name, "a readable file", error, "the file cannot be read"))
