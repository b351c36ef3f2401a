"""Compiles the emulator and the fuzz targets with AddressSanitizer, UndefinedBehaviorSanitizer and libFuzzer.

zig ships the run time of UndefinedBehaviorSanitizer only, so this takes LLVM's own clang. The machine is compiled for one level of
x86-64; the levels differ in what the compiler makes of the same sources.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import ninja

from build_tools.build_graph.emulator_build import HOST_DIRS, LEVEL_DIRS, SOURCE_DIR, sources
from build_tools.environment.system_tools import CLANG

TARGETS: Final = Path(__file__).resolve().parent / "targets"
FUZZERS: Final = ("decoder", "machine", "objects", "planted")
HARNESS: Final = TARGETS.parents[1] / "emulator" / "alu" / "harness.cpp"
REPLACED: Final = "level.cpp"
"""What chooses among the levels; ``one_level.cpp`` stands in its place."""

SANITIZE: Final = "-fsanitize=address,undefined,float-cast-overflow"
FLAGS: Final = (
    "-std=c++20",
    "-O1",
    "-gline-tables-only",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fno-omit-frame-pointer",
    "-fconstexpr-steps=100000000",  # tables made of the opcodes' names; the standard library of the system takes more steps than zig's
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-psabi",
    SANITIZE,
    "-fsanitize=fuzzer-no-link",
    "-fno-sanitize-recover=all",
)


@dataclass(frozen=True)
class Sanitized:
    """What was built: the library, the executors with the harness of their tests, a program for each fuzz target, and the run time
    that a process must load first."""

    library: Path
    executors: Path
    fuzzers: dict[str, Path]
    runtime: Path


def build(folder: Path) -> Sanitized:
    """Compile what changed since the last time. Raises ``RuntimeError`` with the compiler's messages."""
    clang = shutil.which(CLANG.command)
    if clang is None:
        raise RuntimeError(f"{CLANG.command} is not installed: apt-get install {' '.join(CLANG.packages)}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "build.ninja").write_text(_graph(clang), encoding="utf-8")
    _run([str(Path(ninja.BIN_DIR, "ninja")), "-C", str(folder), "--quiet"])
    runtime = _run([clang, "-print-file-name=libclang_rt.asan-x86_64.so"]).strip()
    return Sanitized(folder / "libemulator.so", folder / "executors.so", {name: folder / name for name in FUZZERS}, Path(runtime))


def _graph(clang: str) -> str:
    units = [path for path in sources() if path.name != REPLACED] + [TARGETS / "one_level.cpp"]
    assert {path.parent.name for path in units[:-1]} <= {*LEVEL_DIRS, *HOST_DIRS}
    objects = [f"{path.parent.name}-{path.stem}.o" for path in units]
    lines = [
        "ninja_required_version = 1.10",
        "rule compile",
        f"  command = {clang} {' '.join(FLAGS)} -DEMULATOR_LEVEL='\"sanitized\"' -I{_escaped(SOURCE_DIR)} -MD -MF $out.d -c $in -o $out",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule library",
        f"  command = {clang} {SANITIZE} -shared-libasan -shared $in -o $out",
        "rule fuzzer",
        f"  command = {clang} {SANITIZE} -fsanitize=fuzzer $in -o $out",
    ]
    lines += [f"build {obj}: compile {_escaped(path)}" for obj, path in zip(objects, units, strict=True)]
    lines += [f"build target-{name}.o: compile {_escaped(TARGETS / f'{name}.cpp')}" for name in FUZZERS]
    lines += [f"build harness.o: compile {_escaped(HARNESS)}"]
    lines += [f"build libemulator.so: library {' '.join(objects)}"]
    lines += [f"build executors.so: library harness.o {' '.join(objects)}"]
    lines += [f"build {name}: fuzzer target-{name}.o {' '.join(objects)}" for name in FUZZERS]
    return "\n".join(lines) + "\n"


def _escaped(path: Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout
