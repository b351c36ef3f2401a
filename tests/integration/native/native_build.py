"""Compiles what the native tests need with zig: the extension over a test table, and the HIP recorder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from build_tools.build_graph.extension import COMPILE_FLAGS, LINK_FLAGS, SOURCE_DIR, compile_extension

ZIG: Final = (sys.executable, "-m", "ziglang")
RECORDER_DIR: Final = Path(__file__).resolve().parents[2] / "native" / "hip_recorder"


def build_extension(table_header: str, directory: Path) -> Path:
    """The extension, compiled over the given text of ``dispatch_table.hpp``."""
    generated = directory / "generated"
    generated.mkdir(parents=True)
    (generated / "dispatch_table.hpp").write_text(table_header)
    out = directory / "_native.abi3.so"
    compile_extension(generated, out, ZIG)
    return out


def recorder_objects(directory: Path) -> list[Path]:
    """Compiles the recorder's sources; the objects can be linked under several sonames."""
    directory.mkdir(parents=True, exist_ok=True)
    sources = [*sorted(RECORDER_DIR.glob("*.cpp")), SOURCE_DIR / "sha256.cpp"]
    objects = []
    for source in sources:
        objects.append(directory / f"{source.stem}.o")
        run([*ZIG, "c++", *COMPILE_FLAGS, f"-I{SOURCE_DIR}", "-c", str(source), "-o", str(objects[-1])])
    return objects


def link_recorder(objects: Sequence[Path], out: Path, soname: str, *, versions: Path = RECORDER_DIR / "versions.map") -> Path:
    """Links the recorder as ``out`` with a soname of its own, as ROCm and as the PyTorch wheels do."""
    out.parent.mkdir(parents=True, exist_ok=True)
    run([*ZIG, "c++", *LINK_FLAGS, f"-Wl,-soname,{soname}", f"-Wl,--version-script={versions}", *map(str, objects), "-o", str(out)])
    return out


def run(command: Sequence[str]) -> None:
    """Runs a build command; its messages are in the error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, env=_zig_environment(), check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")


@cache
def _zig_environment() -> dict[str, str]:
    return dict(os.environ)
