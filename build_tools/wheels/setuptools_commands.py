"""The commands of setuptools that this project replaces: the package comes from the build graph, and the wheel carries an inventory."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Final

from setuptools import Distribution
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

from aiter_mla_aot.integrity.content import EMULATOR, EXTENSION
from build_tools import settings
from build_tools.build_graph import layout, pipeline
from build_tools.entry import report
from build_tools.providers.aiter import LICENCE
from build_tools.wheels import release, sbom

ROOT: Final = Path(__file__).resolve().parents[2]


class BinaryDistribution(Distribution):
    """A distribution with an extension that setuptools does not build itself."""

    def has_ext_modules(self) -> bool:
        """True: the wheel is not pure."""
        return True


class BuildPackage(build_py):
    """``build_py``: runs the build graph and takes over the staged package as it is."""

    def run(self) -> None:
        """Copy the staged package to where setuptools builds, and nothing left from another build."""
        result = pipeline.build(ROOT, settings.read(ROOT / "hsa", os.environ), report)
        target = Path(self.build_lib)
        shutil.rmtree(target, ignore_errors=True)
        for path in sorted(result.stage.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = target / path.relative_to(result.stage)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
                copy.chmod(0o644)


class WheelWithInventory(bdist_wheel):
    """``bdist_wheel``: adds AMD's licence and the bill of materials to the metadata folder."""

    def write_wheelfile(self, wheelfile_base: str, generator: str | None = None) -> None:
        """Called by setuptools when the metadata folder is complete but for what is added here."""
        if generator is None:
            super().write_wheelfile(wheelfile_base)
        else:
            super().write_wheelfile(wheelfile_base, generator)
        folder = Path(wheelfile_base)
        (folder / "licenses" / LICENCE).write_bytes((ROOT / layout.OBJECTS / LICENCE).read_bytes())
        metadata = folder / "METADATA"
        lines = metadata.read_text(encoding="utf-8").split("\n")
        last = max(number for number, line in enumerate(lines[: lines.index("")]) if line.startswith("License-File: "))
        lines.insert(last + 1, f"License-File: {LICENCE}")
        metadata.write_text("\n".join(lines), encoding="utf-8")
        inventory = folder / "sboms" / sbom.FILE_NAME
        inventory.parent.mkdir(exist_ok=True)
        inventory.write_bytes(_inventory(self.distribution.get_version()))
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def _inventory(version: str) -> bytes:
    chosen = settings.read(ROOT / "hsa", os.environ)
    files = {EXTENSION: layout.of(ROOT, chosen.archs).extension, EMULATOR: layout.EMULATOR}
    libraries = {name: hashlib.sha256((ROOT / path).read_bytes()).hexdigest() for name, path in files.items()}
    return sbom.sbom_bytes(ROOT / "hsa", chosen.archs, version, release.read(ROOT).epoch, libraries)
