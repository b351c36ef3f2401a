"""The whole check of a wheel file."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Final

from ..errors import PackageFileMissing, PackageFileUnexpected, RecordInvalid, VersionLabelMismatch, WheelInvalid
from . import archive, record
from .content import Content
from .report import Finding, VerifyReport, finding, plain

_FILE_NAME: Final = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


def read_wheel(path: Path) -> tuple[dict[str, bytes], list[Finding]]:
    """The files of a wheel by name, and what is wrong with the archive."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return {}, [finding(WheelInvalid, path.name, "a regular file", stat.filemode(status.st_mode), "the path is no wheel file")]
        size = status.st_size
        if size > archive.MAX_ARCHIVE_BYTES:
            return {}, [
                finding(
                    WheelInvalid, path.name, f"at most {archive.MAX_ARCHIVE_BYTES} bytes", size, "the file is too large for this package"
                )
            ]
        data = path.read_bytes()
    except OSError as error:
        return {}, [finding(WheelInvalid, path.name, "a readable file", error.strerror, "the wheel cannot be read")]
    try:
        entries = archive.entries(data)
    except archive.Malformed as error:
        return {}, [error.finding(path.name)]
    files: dict[str, bytes] = {}
    findings: list[Finding] = []
    for entry in entries:
        content = archive.read(data, entry)
        if isinstance(content, Finding):
            findings.append(content)
        else:
            files[entry.name] = content
    return files, findings


def verify(path: Path) -> VerifyReport:
    """Check a wheel file: archive, RECORD, code objects, tables, extension and version label."""
    files, findings = read_wheel(path)
    if not files:
        return VerifyReport(path.name, "", (), 0, {}, tuple(findings))
    unreadable = {item.path for item in findings}
    dist_infos = sorted({name.split("/")[0] for name in files if name.split("/")[0].endswith(".dist-info")})
    if len(dist_infos) != 1:
        findings.append(finding(RecordInvalid, path.name, "one .dist-info", ", ".join(dist_infos) or "none", "a wheel holds one package"))
    dist_info = dist_infos[0] if dist_infos else f"{record.PACKAGE}.dist-info"
    findings += _check_record(files, dist_info, unreadable)
    content = Content(files, dist_info)
    content.check()
    findings += [item for item in content.findings if item.path not in unreadable]
    findings += _check_file_name(path.name, content.version, files.get(f"{dist_info}/WHEEL", b""))
    return VerifyReport(path.name, plain(content.version), content.archs, len(files), dict(content.objects), tuple(findings))


def _check_record(files: dict[str, bytes], dist_info: str, unreadable: set[str]) -> list[Finding]:
    path = f"{dist_info}/RECORD"
    if path not in files:
        return [] if path in unreadable else [finding(RecordInvalid, path, "the file", "nothing", "the wheel has no RECORD")]
    rows, findings = record.parse(files[path], path)
    for name, row in rows.items():
        if name in files:
            findings += record.check(row, files[name])
            if name != path and not row.digest:
                findings.append(finding(RecordInvalid, name, "a SHA-256 in RECORD", "none", "no hash protects the file"))
        elif name not in unreadable:
            findings.append(finding(PackageFileMissing, name, row.digest or "the file", "nothing", "RECORD lists a file that is not there"))
    for name in files:
        if name not in rows:
            findings.append(finding(PackageFileUnexpected, name, "a line in RECORD", "none", "the file is not in RECORD"))
        if name.split("/")[0] not in (record.PACKAGE, dist_info):
            findings.append(
                finding(PackageFileUnexpected, name, f"only {record.PACKAGE} and {dist_info}", name, "the file lies outside the package")
            )
    return findings


def _check_file_name(name: str, version: str, wheel: bytes) -> list[Finding]:
    match = _FILE_NAME.fullmatch(name)
    if match is None or match["name"] != record.PACKAGE:
        return [
            finding(
                WheelInvalid,
                name,
                f"{record.PACKAGE}-<version>-<python>-<abi>-<platform>.whl",
                name,
                "the file name is no wheel name of this package",
            )
        ]
    findings = []
    if match["version"] != version:
        findings.append(finding(VersionLabelMismatch, name, version, match["version"], "the file name's version is not that of METADATA"))
    tag = f"{match['python']}-{match['abi']}-{match['platform']}"
    tags = [line.removeprefix(b"Tag: ").decode("utf-8", "replace") for line in wheel.splitlines() if line.startswith(b"Tag: ")]
    if tags != [tag]:
        findings.append(finding(WheelInvalid, name, ", ".join(tags) or "a Tag in WHEEL", tag, "the file name's tag is not that of WHEEL"))
    return findings
