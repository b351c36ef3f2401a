"""Checks of the package's parts against each other, the same for an installed package and for a wheel."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from typing import Any, Final

from .. import build_info, table
from ..errors import (
    CodeObjectMismatch,
    ExtensionMismatch,
    PackageFileDamaged,
    PackageFileMissing,
    PackageFileUnexpected,
    TableMismatch,
    VersionLabelMismatch,
)
from ..table import Table
from . import elf, labels, table_check
from .record import PACKAGE
from .report import Finding, finding

DISTRIBUTION: Final = "aiter-mla-aot"
BUILD_INFO: Final = f"{PACKAGE}/build_info.json"
EXTENSION: Final = f"{PACKAGE}/_native.abi3.so"
EMULATOR: Final = f"{PACKAGE}/emulator/libaiter_mla_emulator.so"
NEEDED: Final = (f"{PACKAGE}/__init__.py", BUILD_INFO, EXTENSION, EMULATOR)


@dataclass(slots=True)
class Content:
    """Files of the package by their path in RECORD, and what the checks make of them."""

    files: Mapping[str, bytes]
    dist_info: str
    version: str = ""
    archs: tuple[str, ...] = ()
    tables: dict[str, Table] = field(default_factory=dict)
    objects: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def check(self) -> None:
        """Run every check; fills the other fields."""
        for path in NEEDED:
            if path not in self.files:
                self.add(PackageFileMissing, path, "the file", "nothing", "a file of every build of this package is missing")
        metadata = self._metadata()
        info = self._build_info()
        self._check_version(metadata, info)
        self._check_index()
        self._check_tables()
        for arch in self.archs:
            self._check_objects(arch)
        self._check_strays()
        self._check_extension()
        self._check_emulator()

    def add(self, kind: Any, path: str, expected: object, found: object, text: str) -> None:
        """Note something that is wrong."""
        self.findings.append(finding(kind, path, expected, found, text))

    def _metadata(self) -> Message:
        path = f"{self.dist_info}/METADATA"
        message: Message = BytesParser().parsebytes(self.files.get(path, b""), headersonly=True)
        if path not in self.files:
            self.add(PackageFileMissing, path, "the file", "nothing", "the package has no metadata")
        elif str(message["Name"] or "").lower().replace("_", "-") != DISTRIBUTION:
            self.add(VersionLabelMismatch, path, f"Name: {DISTRIBUTION}", message["Name"], "the metadata is of another package")
        return message

    def _build_info(self) -> Mapping[str, Any]:
        info = self._json(BUILD_INFO)
        if info is None:
            return {}
        wrong = build_info.fault(info)
        if wrong:
            self.add(TableMismatch, BUILD_INFO, *wrong, "the file is not a build record of the schema this package reads")
            return {}
        self.archs = tuple(info["archs"])
        return info

    def _check_version(self, metadata: Message, info: Mapping[str, Any]) -> None:
        self.version = str(metadata["Version"] or "")
        directory = self.dist_info.removesuffix(".dist-info").partition("-")[2]
        if directory != self.version:
            self.add(VersionLabelMismatch, self.dist_info, self.version, directory, "the directory's version is not that of METADATA")
        if info and info["version"] != self.version:
            self.add(VersionLabelMismatch, BUILD_INFO, self.version, info["version"], "the recorded version is not that of METADATA")
        if info:
            stated = (info["archs"], info["known_archs"], info["provider"]["name"], info["lock_sha256"])
            for expected, found in labels.contradictions(self.version, *stated):
                self.add(VersionLabelMismatch, BUILD_INFO, expected, found, "the version label does not say what the package holds")

    def _check_index(self) -> None:
        path = f"{PACKAGE}/tables/{table.INDEX}"
        index = self._json(path)
        hashes = {arch: hashlib.sha256(self.files.get(f"{PACKAGE}/tables/{arch}.json", b"")).hexdigest() for arch in self.archs}
        if index is not None and index != {"schema": table.SCHEMA, "tables": hashes}:
            self.add(TableMismatch, path, hashes, index.get("tables"), "the index is not that of the tables")

    def _check_tables(self) -> None:
        for arch in self.archs:
            path = f"{PACKAGE}/tables/{arch}.json"
            data = self._json(path)
            if data is None:
                continue
            try:
                parsed = table_check.load(data)
            except table_check.TableFault as fault:
                expected, found = fault.args
                self.add(TableMismatch, path, expected, found, "the table cannot be used")
                continue
            if parsed.arch != arch:
                self.add(TableMismatch, path, arch, parsed.arch, "the table is of another arch")
                continue
            self.tables[arch] = parsed

    def _check_objects(self, arch: str) -> None:
        if arch not in self.tables:
            return
        for kernel in self.tables[arch].kernels:
            path = f"{PACKAGE}/kernels/{arch}/{kernel.file}"
            if not kernel.shipped:
                continue
            if path not in self.files:
                self.add(PackageFileMissing, path, kernel.sha256, "nothing", "a code object that the table names is missing")
                continue
            data = self.files[path]
            digest = hashlib.sha256(data).hexdigest()
            wrong = elf.fault(data, self.tables[arch].device["mach"])
            if wrong:
                self.add(CodeObjectMismatch, path, *wrong, f"the file is no code object for {arch}")
            if len(data) != kernel.info.get("bytes"):
                self.add(CodeObjectMismatch, path, f"{kernel.info.get('bytes')} bytes", f"{len(data)} bytes", "the size is not the table's")
            if digest != kernel.sha256:
                self.add(CodeObjectMismatch, path, kernel.sha256, digest, "the SHA-256 is not the table's")
            if not wrong and digest == kernel.sha256:
                self.objects[arch] += 1

    def _check_strays(self) -> None:
        named = {f"{PACKAGE}/tables/{name}" for name in (table.INDEX, *(f"{arch}.json" for arch in self.archs))}
        for arch, parsed in self.tables.items():
            named |= {f"{PACKAGE}/kernels/{arch}/{kernel.file}" for kernel in parsed.kernels if kernel.shipped}
        unread = tuple(f"{PACKAGE}/kernels/{arch}/" for arch in self.archs if arch not in self.tables)
        for path in sorted(self.files):
            if path.startswith((f"{PACKAGE}/kernels/", f"{PACKAGE}/tables/")) and path not in named and not path.startswith(unread):
                self.add(PackageFileUnexpected, path, "only what the tables name", path, "no table of this package names the file")

    def _check_extension(self) -> None:
        binary = self.files.get(EXTENSION)
        if binary is None:
            return
        if binary[:7] != elf.ELF64_LITTLE:
            self.add(ExtensionMismatch, EXTENSION, "a 64-bit ELF library", binary[:7].hex(), "the extension is no library")
        for arch, parsed in self.tables.items():
            digest = hashlib.sha256(self.files[f"{PACKAGE}/tables/{arch}.json"])
            if digest.digest() not in binary:
                text = "the extension was compiled for another table"
                self.add(ExtensionMismatch, EXTENSION, f"the hash of tables/{arch}.json, {digest.hexdigest()}", "no such hash", text)
            shipped = {kernel.sha256 for kernel in parsed.kernels if kernel.shipped}
            for kernel in parsed.kernels:
                compiled_in = bytes.fromhex(kernel.sha256) in binary
                if kernel.shipped and not compiled_in:
                    self.add(
                        ExtensionMismatch, EXTENSION, f"the hash of {arch}/{kernel.file}", "no such hash", "the extension does not know it"
                    )
                if not kernel.shipped and kernel.sha256 not in shipped and compiled_in:
                    self.add(
                        ExtensionMismatch,
                        EXTENSION,
                        f"no {arch}/{kernel.file}",
                        "its hash",
                        "the extension knows an object that is not shipped",
                    )

    def _check_emulator(self) -> None:
        start = self.files.get(EMULATOR, elf.ELF64_LITTLE)[:7]
        if start != elf.ELF64_LITTLE:
            self.add(PackageFileDamaged, EMULATOR, "a 64-bit ELF library", start.hex(), "the emulator is no library")

    def _json(self, path: str) -> Mapping[str, Any] | None:
        """The decoded object of a file, or None with a finding; a missing file is noted where it is not already."""
        if path not in self.files:
            if path not in NEEDED:
                self.add(PackageFileMissing, path, "the file", "nothing", "a file that build_info.json announces is missing")
            return None
        try:
            data = json.loads(self.files[path])
        except (ValueError, RecursionError) as error:
            self.add(TableMismatch, path, "JSON", error, "the file cannot be read")
            return None
        if not isinstance(data, dict):
            self.add(TableMismatch, path, "a JSON object", type(data).__name__, "the file cannot be read")
            return None
        return data
