"""A small AITER for tests: a folder as a checkout has it, or a wheel, with the lock that fits."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from build_tools.providers import lock
from build_tools.providers.lock import Lock, LockedObject, Provider

LICENCE = b"A licence.\n"
OBJECTS: Mapping[str, Mapping[str, bytes]] = {
    "gfx942": {"mla_alpha.co": b"alpha for 942", "mla_beta.co": b"beta for 942"},
    "gfx950": {"mla_alpha.co": b"alpha for 950"},
}


def checkout(folder: Path, objects: Mapping[str, Mapping[str, bytes]] = OBJECTS) -> Path:
    """Write the objects as a checkout has them, with LICENSE; the folder."""
    for arch, files in objects.items():
        where = folder / "hsa" / arch / "mla"
        where.mkdir(parents=True)
        for name, data in files.items():
            (where / name).write_bytes(data)
    (folder / "LICENSE").write_bytes(LICENCE)
    return folder


def wheel(path: Path, objects: Mapping[str, Mapping[str, bytes]] = OBJECTS, *, version: str = "0.1.9") -> Path:
    """Write a wheel as AMD publishes it."""
    info = f"amd_aiter-{version}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for arch, files in objects.items():
            for name, data in files.items():
                archive.writestr(f"aiter_meta/hsa/{arch}/mla/{name}", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.2\nName: amd-aiter\nVersion: {version}\n\nText\n")
        archive.writestr(f"{info}/LICENSE", LICENCE)
    return path


def locks(hsa: Path, objects: Mapping[str, Mapping[str, bytes]] = OBJECTS, provider: Provider | None = None) -> Path:
    """Write the lock files that fit the objects; the folder of them."""
    whose = provider or Provider("aiter", "unknown", "checkout")
    lock.write(
        hsa,
        [
            Lock(arch, whose, tuple(LockedObject(name, hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()))
            for arch, files in objects.items()
        ],
    )
    return hsa
