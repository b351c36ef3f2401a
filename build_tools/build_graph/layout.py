"""Where a build writes: everything is below ``build/``, and a wheel of one arch has its own folder there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from build_tools.settings import known_archs

CACHE = "build/cache"
OBJECTS = "build/objects"
ZIG_CACHE = "build/zig"
EXTENSION_NAME = "_native.abi3.so"
EMULATOR_NAME = "libaiter_mla_emulator.so"
EMULATOR = f"build/lib/{EMULATOR_NAME}"
"""The linked emulator. Wheels of every choice of archs hold the same one, so it is built once."""
EMULATOR_OBJECTS = "build/obj/emulator"
SHARED_STAMPS = "build/stamps"


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one build, relative to the root of the source tree."""

    base: str

    @property
    def graph(self) -> str:
        """The saved graph."""
        return f"{self.base}/graph.json"

    @property
    def ninja(self) -> str:
        """The file that ninja reads."""
        return f"{self.base}/build.ninja"

    @property
    def generated(self) -> str:
        """Generated tables and header."""
        return f"{self.base}/generated"

    @property
    def extension(self) -> str:
        """The linked extension."""
        return f"{self.base}/lib/{EXTENSION_NAME}"

    @property
    def stage(self) -> str:
        """The folder that holds the package as it is installed."""
        return f"{self.base}/stage"


def of(root: Path, archs: Sequence[str]) -> Layout:
    """The layout of a build of some archs."""
    return Layout("build" if tuple(archs) == known_archs(root / "hsa") else f"build/only-{'-'.join(archs)}")
