"""What a published wheel holds: metadata, licences, bill of materials, times, and nothing of the machine that built it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from email import policy
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot import integrity
from aiter_mla_aot.integrity import Finding, archive, labels
from build_tools.errors import WheelCheckFailed
from build_tools.wheels import sbom
from build_tools.wheels.release import Release

PACKAGE: Final = "aiter_mla_aot"
LICENCES: Final = ("AMD-AITER-LICENSE", "LICENSE", "NOTICE")
METADATA: Final = {
    "Metadata-Version": re.compile(r"2\.[4-9]"),
    "Name": re.compile(r"aiter-mla-aot"),
    "Summary": re.compile(r".{20,}"),
    "Requires-Python": re.compile(r">=3\.10"),
    "License-Expression": re.compile(r"MIT"),
    "Description-Content-Type": re.compile(r"text/markdown.*"),
}
FORBIDDEN_FIELDS: Final = ("Requires-Dist", "Requires-External", "Provides-Extra")
MACHINE_PATH: Final = re.compile(rb"(?<![\w./$<>{}*-])/(?:home|root|tmp|var/tmp|Users|build|work|github|project|io)/[\w.+-]+[\w./+-]*")
"""Absolute paths of the kind that a build machine has. Devices, /opt and /usr are facts of the user's machine."""


def finding(path: str, expected: object, found: object, text: str) -> Finding:
    """A broken rule of a release."""
    return Finding(WheelCheckFailed.code, path, f"{expected!s:.200}", f"{found!s:.200}", text)


def check(path: Path, files: Mapping[str, bytes], release: Release, root: Path) -> list[Finding]:
    """Every rule about the content of a wheel that was read whole."""
    dist_info = next((name.split("/")[0] for name in files if ".dist-info/" in name), f"{PACKAGE}.dist-info")
    return [
        *_metadata(files, dist_info, release),
        *_build_info(files, release),
        *_licences(files, dist_info),
        *_inventory(files, dist_info),
        *_times(path, release),
        *_no_prefill(files),
        *_no_machine_paths(files, root),
    ]


def _metadata(files: Mapping[str, bytes], dist_info: str, release: Release) -> Iterator[Finding]:
    path = f"{dist_info}/METADATA"
    message = _message(files.get(path, b""))
    for name, pattern in METADATA.items():
        values = [str(value) for value in message.get_all(name, [])]
        if len(values) != 1 or not pattern.fullmatch(values[0]):
            yield finding(path, f"{name}: {pattern.pattern}", ", ".join(values) or "nothing", "a field of the metadata is wrong")
    for name in FORBIDDEN_FIELDS:
        for value in message.get_all(name, []):
            yield finding(path, f"no {name}", value, "the package depends on nothing, so that pip never replaces a ROCm torch")
    if str(message["Version"] or "").partition("+")[0] != release.version:
        yield finding(path, release.version, message["Version"], "the version is not that of release.toml")
    listed = sorted(str(value) for value in message.get_all("License-File", []))
    if listed != sorted(LICENCES):
        yield finding(path, ", ".join(LICENCES), ", ".join(listed) or "nothing", "the licence files listed are not those that apply")
    if not str(message.get_payload()).strip():
        yield finding(path, "the readme", "nothing", "the metadata has no description")
    wheel = _message(files.get(f"{dist_info}/WHEEL", b""))
    if str(wheel["Root-Is-Purelib"]).lower() != "false":
        yield finding(f"{dist_info}/WHEEL", "Root-Is-Purelib: false", wheel["Root-Is-Purelib"], "a wheel with an extension is not pure")
    command = f"{PACKAGE}.cli:main"
    if f"aiter-mla-aot = {command}" not in files.get(f"{dist_info}/entry_points.txt", b"").decode("utf-8", "replace").splitlines():
        yield finding(f"{dist_info}/entry_points.txt", f"aiter-mla-aot = {command}", "no such line", "the command is missing")


def _build_info(files: Mapping[str, bytes], release: Release) -> Iterator[Finding]:
    path = f"{PACKAGE}/build_info.json"
    info = _object(files.get(path, b""))
    if info.get("source_date") != release.source_date_text:
        yield finding(path, release.source_date_text, info.get("source_date"), "the date is not that of release.toml")
    label = labels.parse(str(info.get("version")))
    provider = info.get("provider")
    digest = provider.get("sha256") if isinstance(provider, dict) else None
    if label is not None and not label.lock and digest != release.aiter_sha256:
        yield finding(path, release.aiter_sha256, digest, "objects of another AITER wheel need a version label")


def _licences(files: Mapping[str, bytes], dist_info: str) -> Iterator[Finding]:
    for name in LICENCES:
        path = f"{dist_info}/licenses/{name}"
        if not files.get(path, b"").strip():
            yield finding(path, "a licence text", "nothing", "a licence is missing")
    amd = f"{dist_info}/licenses/{LICENCES[0]}"
    if amd in files and b"Advanced Micro Devices" not in files[amd]:
        yield finding(amd, "the licence of AMD's code objects", "another text", "the objects' own licence must travel with them")


def _inventory(files: Mapping[str, bytes], dist_info: str) -> Iterator[Finding]:
    path = f"{dist_info}/sboms/{sbom.FILE_NAME}"
    if path not in files:
        yield finding(path, "the file", "nothing", "the bill of materials is missing")
        return
    data = _object(files[path])
    if (data.get("bomFormat"), data.get("specVersion")) != ("CycloneDX", "1.6"):
        yield finding(
            path, "CycloneDX 1.6", f"{data.get('bomFormat')} {data.get('specVersion')}", "the bill of materials is of another format"
        )
    rows = [item for item in _list(data.get("components")) if item.get("type") == "file"]
    listed = sorted((str(item.get("name")), str(digest.get("content"))) for item in rows for digest in _list(item.get("hashes")))
    held = sorted((name, integrity.digest(content)) for name, content in files.items() if name.endswith((".co", ".so")))
    for name, digest in sorted(set(held) - set(listed)):
        yield finding(path, f"{name} {digest}", "no such component", "the bill of materials lacks a binary of the wheel")
    for name, digest in sorted(set(listed) - set(held)):
        yield finding(path, "only binaries of the wheel", f"{name} {digest}", "the bill of materials lists what the wheel does not hold")


def _times(path: Path, release: Release) -> Iterator[Finding]:
    for entry in archive.entries(path.read_bytes()):
        date, time = entry.date, entry.time
        moment = ((date >> 9) + 1980, date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2)
        # The archive counts in steps of two seconds.
        wanted = (*release.source_date.timetuple()[:5], release.source_date.second // 2 * 2)
        if moment != wanted:
            yield finding(entry.name, _spell(wanted), _spell(moment), "the time is not the release's")


def _spell(moment: tuple[int, ...]) -> str:
    return "{}-{:02}-{:02} {:02}:{:02}:{:02}".format(*moment)


def _no_prefill(files: Mapping[str, bytes]) -> Iterator[Finding]:
    for name in sorted(files):
        if name.rsplit("/", 1)[-1].startswith("mla_pfl_"):
            yield finding(name, "decode kernels only", "a prefill kernel", "prefill kernels are catalogued, not shipped")


def _no_machine_paths(files: Mapping[str, bytes], root: Path) -> Iterator[Finding]:
    own = str(root.resolve()).encode()
    for name, content in sorted(files.items()):
        found = sorted({match.group() for match in MACHINE_PATH.finditer(content)})
        if len(own) > 1 and own in content:
            found.insert(0, own)
        if found:
            yield finding(
                name, "no path of a build machine", found[0].decode("utf-8", "replace"), "the file names a path of the build machine"
            )


def _message(data: bytes) -> Message:
    return BytesParser(policy=policy.compat32).parsebytes(data)


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Iterable[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
