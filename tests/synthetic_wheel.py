"""A small wheel of the package's form, for tests that need one to damage. Its code objects are headers with filler."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiter_mla_aot.table import AXES, CATALOGS, REFUSAL

MACH = {"gfx942": 0x4C, "gfx950": 0x4F}
TAG = "cp310-abi3-manylinux_2_28_x86_64"
LOCK_SHA256 = "0123456789ab" + "c" * 52
DATE = (2026, 11, 30, 0, 0, 0)
DEFAULT_PROVIDER = {"name": "amd-aiter", "version": "0.1.7.post2.dev18", "sha256": "f" * 64}


def code_object(arch: str, filler: bytes = b"code") -> bytes:
    """An ELF header of an AMDGPU code object for the arch, and filler."""
    header = struct.pack("<4s5B7x2HI3QI6H", b"\x7fELF", 2, 1, 1, 64, 3, 3, 224, 1, 0, 64, 0, 0x500 | MACH[arch], 64, 56, 0, 64, 0, 0)
    return header + filler * 50


def kernel(arch: str, file: str, data: bytes, *, shipped: bool = True, claim: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A kernel row of a table."""
    return {
        "file": file,
        "sha256": hashlib.sha256(data).hexdigest(),
        "symbol": f"_ZN5aiter{file}E",
        "scope": "decode" if shipped else "prefill",
        "shipped": shipped,
        "superseded": False,
        "recipe": "persistent",
        "claim": dict(claim) if claim else None,
        "not_served": None if claim else "a test row",
        "gates": [],
        "preconditions": [],
        "proof": None,
        "upstream_keys": [],
        "sources": ["test"],
        "bytes": len(data),
        "elf_abiversion": 3,
        "code_object_version": 5,
        "minimum_rocm": None,
    }


def claim(heads: int = 16) -> dict[str, Any]:
    """A claim row: persistent bf16/bf16 at page size 1."""
    return {
        "mode": "persistent",
        "q_dtype": "bf16",
        "kv_dtype": "bf16",
        "heads": heads,
        "tokens": 4,
        "min_tokens": 1,
        "mask": "causal",
        "causal": [True, False],
        "lse": False,
        "context_parallel": False,
        "ragged": False,
        "sparse": False,
        "page_sizes": [1],
        "folds": [],
    }


def diagram(answers: Mapping[tuple[int, ...], int], default: int) -> dict[str, Any]:
    """A decision diagram: ``answers`` by (leading) positions on the axes, the default elsewhere."""
    nodes: list[int] = []
    places: dict[tuple[int, ...], int] = {}

    def build(prefix: tuple[int, ...]) -> int:
        if len(prefix) == len(AXES) or prefix in answers:
            value = answers.get(prefix, default)
            return value if len(prefix) == len(AXES) else chain(len(prefix), value)
        if not any(key[: len(prefix)] == prefix for key in answers):
            return chain(len(prefix), default)
        return place(tuple(build((*prefix, value)) for value in range(AXES[len(prefix)][1])))

    def chain(level: int, value: int) -> int:
        for _, width in reversed(AXES[level:]):
            value = place((value,) * width)
        return value

    def place(entries: tuple[int, ...]) -> int:
        if entries not in places:
            places[entries] = len(nodes)
            nodes.extend(entries)
        return places[entries]

    return {"root": build(()), "nodes": nodes}


def dispatch_table(arch: str, kernels: Sequence[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    """A table in which kernel 0 serves persistent bf16/bf16 with 16 heads, and all else is refused."""
    served: dict[tuple[int, ...], int] = {(0, 0, 15): 0}
    table: dict[str, Any] = {
        "schema": 1,
        "arch": arch,
        "device": {"mach": MACH.get(arch, 0xFF), "lds_bytes": 65_536, "fp8": "e4m3fn"},
        "kernels": list(kernels),
        "folds": [],
        "gates": [],
        "reports": [],
        "plans": [{"kernel": 0, "single": False}],
        "refusals": ["heads", "page_size"],
        "catalogs": {name: diagram(served, REFUSAL) for name in CATALOGS},
        "counts": {},
    }
    return table | changes


NATIVE = "aiter_mla_aot/_native.abi3.so"
EMULATOR = "aiter_mla_aot/emulator/libaiter_mla_emulator.so"


class Wheel:
    """The files of a wheel, to be changed before they are written."""

    def __init__(self, archs: Sequence[str] = ("gfx942", "gfx950"), version: str = "0.1.0", provider: Mapping[str, str] = DEFAULT_PROVIDER):
        self.version = version
        self.dist_info = f"aiter_mla_aot-{version}.dist-info"
        self.file_name = f"aiter_mla_aot-{version}-{TAG}.whl"
        self.files: dict[str, bytes] = {"aiter_mla_aot/__init__.py": b'"""A package."""\n', "aiter_mla_aot/py.typed": b""}
        self.tables: dict[str, dict[str, Any]] = {}
        hashes = b""
        for arch in archs:
            objects = {f"mla_{name}.co": code_object(arch, name.encode()) for name in ("alpha", "beta")}
            for name, data in objects.items():
                self.files[f"aiter_mla_aot/kernels/{arch}/{name}"] = data
                hashes += hashlib.sha256(data).digest()
            rows = [kernel(arch, name, data, claim=claim()) for name, data in objects.items()]
            rows.append(kernel(arch, "mla_pfl_gamma.co", code_object(arch, b"gamma"), shipped=False))
            self.tables[arch] = dispatch_table(arch, rows)
        self.extension = b"\x7fELF\x02\x01\x01" + b"\0" * 57 + hashes
        self.files[NATIVE] = self.extension
        self.files[EMULATOR] = b"\x7fELF\x02\x01\x01" + b"\0" * 57
        self.build_info: dict[str, Any] = {
            "schema": 1,
            "version": version,
            "archs": list(archs),
            "known_archs": ["gfx942", "gfx950"],
            "source_date": "2026-11-30T00:00:00Z",
            "provider": dict(provider),
            "lock_sha256": LOCK_SHA256,
        }
        self.metadata = (
            f"Metadata-Version: 2.4\nName: aiter-mla-aot\nVersion: {version}\nLicense-Expression: MIT\nRequires-Python: >=3.10\n"
        )

    def package_files(self) -> dict[str, bytes]:
        """The files with the tables, and the extension compiled for them unless a test has put another in its place."""
        files = dict(self.files)
        tables = {arch: json.dumps(table).encode() for arch, table in self.tables.items()}
        for arch, table in tables.items():
            files[f"aiter_mla_aot/tables/{arch}.json"] = table
        index = {"schema": 1, "tables": {arch: hashlib.sha256(table).hexdigest() for arch, table in tables.items()}}
        files["aiter_mla_aot/tables/index.json"] = json.dumps(index).encode()
        if files.get(NATIVE) == self.extension:
            files[NATIVE] += b"".join(hashlib.sha256(table).digest() for table in tables.values())
        return files

    def contents(self) -> dict[str, bytes]:
        """Every file with RECORD last, as it goes into the archive."""
        files = self.package_files()
        files["aiter_mla_aot/build_info.json"] = json.dumps(self.build_info).encode()
        files[f"{self.dist_info}/METADATA"] = self.metadata.encode()
        files[f"{self.dist_info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
        record = f"{self.dist_info}/RECORD"
        return files | {record: record_of(files, record)}

    def write(self, directory: Path, contents: Mapping[str, bytes] | None = None) -> Path:
        """Write the wheel file, with the given files instead of its own where there are some."""
        path = directory / self.file_name
        path.write_bytes(b"")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in (self.contents() if contents is None else contents).items():
                archive.writestr(entry(name), data, zipfile.ZIP_DEFLATED)
        return path

    def install(self, site: Path) -> Path:
        """Unpack the files as an installer does; the package's directory."""
        contents = self.contents()
        record = f"{self.dist_info}/RECORD"
        contents[f"{self.dist_info}/INSTALLER"] = b"pip\n"
        contents[record] += f"{self.dist_info}/INSTALLER,{digest(b'pip' + bytes([10]))},4\n".encode()
        for name, data in contents.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_bytes(data)
        return site / "aiter_mla_aot"


def entry(name: str) -> zipfile.ZipInfo:
    """An archive entry of the plain form."""
    info = zipfile.ZipInfo(name, DATE)
    info.external_attr = (0o100664 if name.endswith(".dist-info/RECORD") else 0o100644) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def digest(data: bytes) -> str:
    """A SHA-256 as RECORD spells it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def record_of(files: Mapping[str, bytes], record: str) -> bytes:
    """RECORD for the files."""
    lines = [f"{name},{digest(data)},{len(data)}\n" for name, data in files.items()]
    return ("".join(lines) + f"{record},,\n").encode()


def digest_hex(data: bytes) -> str:
    """A SHA-256 as tables spell it."""
    return hashlib.sha256(data).hexdigest()
