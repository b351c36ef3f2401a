"""The two libraries of a proof: the emulator of the build, and the host planner, which no wheel holds and the proof compiles."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from build_tools.build_graph.extension import COMPILE_FLAGS, LINK_FLAGS

from .case import key
from .errors import PlannerCompileFailed

PLANNER_DIR: Final = Path(__file__).resolve().parents[2] / "csrc" / "planner"


@dataclass(frozen=True, slots=True)
class Libraries:
    """Where the emulator and the planner are."""

    emulator: Path
    planner: Path


def planner_in(folder: Path, environment: Mapping[str, str] | None = None) -> Path:
    """The planner compiled from the sources of this tree; nothing is done where the folder holds it already.

    environment: of zig. Raises ``PlannerCompileFailed`` with the compiler's messages.
    """
    sources = sorted(PLANNER_DIR.glob("*.cpp"))
    texts = [path.read_text("utf-8") for path in sorted(PLANNER_DIR.iterdir()) if path.suffix in (".cpp", ".hpp", ".h")]
    out = folder / f"planner-{key(*texts, COMPILE_FLAGS, LINK_FLAGS)[:12]}.so"
    if out.is_file():
        return out
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".planner-", dir=folder) as scratch:
        objects = [Path(scratch, f"{path.stem}.o") for path in sources]
        commands = [[*COMPILE_FLAGS, "-c", str(path), "-o", str(obj)] for path, obj in zip(sources, objects, strict=True)]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            list(pool.map(lambda command: _zig(command, environment), commands))
        linked = Path(scratch, out.name)
        _zig([*LINK_FLAGS, *map(str, objects), "-o", str(linked)], environment)
        os.replace(linked, out)
    return out


def _zig(arguments: Sequence[str], environment: Mapping[str, str] | None) -> None:
    command = [sys.executable, "-m", "ziglang", "c++", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode != 0:
        raise PlannerCompileFailed(
            f"the planner did not compile (exit code {done.returncode})",
            cause=f"{done.stderr.strip()}\ncommand: {' '.join(command)}",
            remedy="read the compiler's message above",
        )
