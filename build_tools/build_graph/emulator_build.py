"""Compiles the emulator ``libaiter_mla_emulator.so`` with zig.

The machine itself (decoder, executors, scheduler) is compiled once for each level of x86-64 in a namespace of its own, which the
flag ``-Demulator=...`` names; the library picks a level by cpuid when it is first used. What faces HIP is compiled once.
The same inputs give the same bytes everywhere, as for the dispatch extension; the link names parts of glibc only.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from build_tools.errors import BuildError

SOURCE_DIR: Final = Path(__file__).resolve().parents[2] / "csrc" / "emulator"
"""Directory of the emulator's sources."""

LEVEL_DIRS: Final = ("exec", "isa", "machine", "numerics")
"""Folders compiled for every level."""

HOST_DIRS: Final = ("hip", "object")
"""Folders compiled once, for the baseline."""

NOT_LINKED: Final = frozenset({"c_abi.cpp"})
"""Faces of single parts for their own tests."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of x86-64: its namespace and the flags that select its instructions."""

    name: str
    flags: tuple[str, ...]


LEVELS: Final = (
    Level("emulator_v1", ("-mcpu=x86_64",)),
    Level("emulator_v3", ("-mcpu=x86_64_v3",)),
    Level("emulator_v4", ("-mcpu=x86_64_v4", "-mprefer-vector-width=512")),
)
"""All levels; results are the same on each."""

COMPILE_FLAGS: Final = (
    "-target",
    "x86_64-linux-gnu.2.28",
    "-std=c++20",
    "-O3",
    "-g0",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-psabi",  # wide vectors pass between functions of one object only
)

LINK_FLAGS: Final = (
    "-target",
    "x86_64-linux-gnu.2.28",
    "-shared",
    "-nostdlib++",
    "-g0",
    "-s",
    "-Wl,--build-id=none",
    "-Wl,--gc-sections",
    "-Wl,-z,defs",
    "-Wl,-soname,libaiter_mla_emulator.so",
    "-lpthread",
)


class EmulatorCompileFailed(BuildError):
    """The emulator could not be compiled or linked."""

    code = "MLA579"
    exit_code = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """One compilation: a source, and the level it is compiled for (None for the host side)."""

    source: Path
    level: Level | None

    def object_name(self) -> str:
        """File name of the object, different for every unit."""
        level = "host" if self.level is None else self.level.name
        return f"{level}-{self.source.parent.name}-{self.source.stem}.o"


def sources(source_dir: Path = SOURCE_DIR) -> tuple[Path, ...]:
    """Every source, sorted by name; those that every level compiles are first."""

    def within(folders: Sequence[str]) -> list[Path]:
        found = (path for folder in folders for path in (source_dir / folder).glob("*.cpp"))
        return sorted(path for path in found if path.name not in NOT_LINKED)

    return (*within(LEVEL_DIRS), *within(HOST_DIRS))


def units_of(source: Path) -> tuple[Unit, ...]:
    """The compilations of one source."""
    return tuple(Unit(source, level) for level in LEVELS) if source.parent.name in LEVEL_DIRS else (Unit(source, None),)


def units(source_dir: Path = SOURCE_DIR) -> tuple[Unit, ...]:
    """Every compilation, in link order: level by level, what faces HIP last."""
    found = [unit for source in sources(source_dir) for unit in units_of(source)]
    order: tuple[Level | None, ...] = (*LEVELS, None)
    return tuple(sorted(found, key=lambda unit: order.index(unit.level)))


def headers(source_dir: Path = SOURCE_DIR) -> tuple[Path, ...]:
    """Headers and tables, sorted: a change of one of them recompiles everything."""
    return tuple(sorted(path for path in source_dir.rglob("*") if path.suffix in {".hpp", ".def"}))


def compile_command(zig: Sequence[str], unit: Unit, obj: Path, source_dir: Path = SOURCE_DIR) -> list[str]:
    """Command that compiles one unit; ``zig`` is the command prefix of zig itself."""
    level = LEVELS[0] if unit.level is None else unit.level
    names = [] if unit.level is None else [f"-Demulator={level.name}", f'-DEMULATOR_LEVEL="{level.name.removeprefix("emulator_")}"']
    prefix = f"-ffile-prefix-map={source_dir}=csrc/emulator"
    return [*zig, "c++", *COMPILE_FLAGS, *level.flags, *names, prefix, "-c", str(unit.source), "-o", str(obj)]


def link_command(zig: Sequence[str], objects: Sequence[Path], out: Path) -> list[str]:
    """Command that links the objects, given in the order of ``units``."""
    return [*zig, "c++", *LINK_FLAGS, *map(str, objects), "-o", str(out)]


def compile_emulator(
    out: Path,
    zig: Sequence[str],
    *,
    jobs: int = 0,
    source_dir: Path = SOURCE_DIR,
    object_dir: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Compiles and links the emulator to ``out``.

    jobs: compilations at a time, 0 for one per CPU. object_dir: keeps the objects there, and compiles only what is older than its
    source or than any header; without it everything is compiled in a temporary folder. environment: environment of zig.

    ``out`` appears only when the link succeeded. Raises ``EmulatorCompileFailed`` with the compiler's messages.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".emulator-", dir=out.parent) as scratch:
        folder = object_dir or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        todo = units(source_dir)
        objects = [folder / unit.object_name() for unit in todo]
        newest = max(path.stat().st_mtime_ns for path in headers(source_dir))

        def compile_unit(unit: Unit, obj: Path) -> None:
            if obj.exists() and obj.stat().st_mtime_ns > max(newest, unit.source.stat().st_mtime_ns):
                return
            fresh = Path(scratch, obj.name + ".new")
            _run(compile_command(zig, unit, fresh, source_dir), environment)
            os.replace(fresh, obj)

        with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
            list(pool.map(compile_unit, todo, objects))
        linked = Path(scratch, out.name)
        _run(link_command(zig, objects, linked), environment)
        os.replace(linked, out)


def _run(command: Sequence[str], environment: Mapping[str, str] | None) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    except OSError as error:
        raise EmulatorCompileFailed(
            f"the compiler could not be started: {error}",
            cause=f"command: {' '.join(command)}",
            remedy="install the pinned ziglang package into the build environment",
        ) from error
    if done.returncode != 0:
        raise EmulatorCompileFailed(
            f"the emulator did not compile (exit code {done.returncode})",
            cause=f"{done.stderr.strip()}\ncommand: {' '.join(command)}",
            remedy="read the compiler's message above",
        )
