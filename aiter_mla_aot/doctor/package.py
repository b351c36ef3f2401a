"""What the package is: build record, integrity, extension and evidence."""

from __future__ import annotations

from pathlib import Path

from .. import build_info, native, table
from ..errors import MlaError
from ..integrity import PACKAGE_DIRECTORY, VerifyReport, labels
from ..proof import NONE
from .check import NOTE, OK, PROBLEM, Check


def package(directory: Path = PACKAGE_DIRECTORY) -> Check:
    """Version, its labels, archs and origin of the code objects."""
    try:
        info = build_info.load(directory / "build_info.json")
    except MlaError as error:
        return Check("package", PROBLEM, f"{error.code}: {error.fact}", {"path": str(directory), "error": error.to_json()})
    label = labels.parse(info["version"])
    special = [] if label is None else [*label.archs, *(["other AITER objects"] if label.lock else [])]
    if label is not None:
        special += [word for word, is_set in (("unproven", label.unproven), ("dirty", label.dirty)) if is_set]
    text = f"aiter-mla-aot {info['version']} for {', '.join(map(str, info.get('archs', [])))} at {directory}"
    facts = {"path": str(directory), "build_info": info, "labels": special}
    if special:
        return Check("package", NOTE, f"{text}; not the public build: {', '.join(special)}", facts)
    return Check("package", OK, text, facts)


def integrity(report: VerifyReport) -> Check:
    """The result of the whole check of the installed files."""
    if report.ok:
        objects = ", ".join(f"{count} code objects for {arch}" for arch, count in sorted(report.objects.items()))
        return Check("integrity", OK, f"{report.files} files are as built, {objects}", report.to_json())
    text = f"{len(report.findings)} findings, the first: {report.findings[0]}; `aiter-mla-aot verify` lists all"
    return Check("integrity", PROBLEM, text, report.to_json())


def extension(report: VerifyReport) -> Check:
    """Whether the dispatch extension loads and has the layout these Python files need."""
    if any("_native" in item.path for item in report.findings):
        return Check("extension", PROBLEM, "not loaded, because its file is damaged or missing")
    try:
        facts = dict(native.load().abi_info())
    except MlaError as error:
        return Check("extension", PROBLEM, f"{error.code}: {error.fact} ({error.cause})", {"error": error.to_json()})
    return Check("extension", OK, f"loads, C interface version {facts['abi_version']}", facts)


def evidence(directory: Path = PACKAGE_DIRECTORY) -> Check:
    """What has been shown of the kernels that this wheel serves."""
    try:
        counted = table.evidence_counts(directory / "tables")
    except MlaError as error:
        return Check("evidence", PROBLEM, f"{error.code}: {error.fact}", {"error": error.to_json()})
    text = ", ".join(f"{count} kernels {state if state != NONE else 'without evidence'}" for state, count in counted.items())
    return Check("evidence", NOTE if NONE in counted else OK, text, {"kernels": counted})


def minimum_rocm(archs: tuple[str, ...], directory: Path = PACKAGE_DIRECTORY) -> str | None:
    """The oldest ROCm that loads every shipped object, or None if any does."""
    found = [
        str(kernel.info["minimum_rocm"])
        for arch in archs
        for kernel in table.load(arch, directory / "tables").kernels
        if kernel.shipped and kernel.info.get("minimum_rocm")
    ]
    return max(found, key=lambda version: [int(part) for part in version.split(".")], default=None)
