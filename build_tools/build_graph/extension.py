"""Compiles the dispatch extension ``_native.abi3.so`` with zig.

The same inputs give the same bytes in every directory: no debug information, source paths mapped away, no build id, a fixed
order of objects, and an explicit target (without one zig compiles for the CPU of the build machine). The link names libc and
libdl only: ``-nostdlib++`` keeps zig from building and linking its own libc++, and CPython's symbols stay open until import.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from build_tools.errors import ExtensionCompileFailed

SOURCE_DIR: Final = Path(__file__).resolve().parents[2] / "csrc" / "dispatch"
"""Directory of the extension's sources."""

CORE_SOURCES: Final = (
    "abi.cpp",
    "code_object.cpp",
    "device_info.cpp",
    "hip_binding.cpp",
    "kernarg.cpp",
    "kernel_source.cpp",
    "launch.cpp",
    "lookup.cpp",
    "module_store.cpp",
    "sha256.cpp",
    "stage1_checks.cpp",
    "status.cpp",
)
"""Sources that know nothing of Python; tests and benchmarks in C++ link these."""

PYTHON_SOURCES: Final = (
    "py_device.cpp",
    "py_launch.cpp",
    "py_lookup.cpp",
    "py_module.cpp",
    "py_support.cpp",
    "py_tensor.cpp",
)
"""Sources of the CPython face of the extension."""

SOURCES: Final = CORE_SOURCES + PYTHON_SOURCES
"""All sources, in link order."""

GENERATED_HEADER: Final = "dispatch_table.hpp"
"""The header with the table, written by ``build_tools.dispatch_table.table``."""

COMPILE_FLAGS: Final = (
    "-target",
    "x86_64-linux-gnu.2.28",
    "-std=c++20",
    "-O2",
    "-g0",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
)

LINK_FLAGS: Final = ("-target", "x86_64-linux-gnu.2.28", "-shared", "-nostdlib++", "-g0", "-s", "-Wl,--build-id=none", "-Wl,--gc-sections")


def headers(source_dir: Path = SOURCE_DIR) -> tuple[Path, ...]:
    """Hand-written headers of the extension, sorted: a change of one of them recompiles everything."""
    return tuple(sorted(path for path in source_dir.iterdir() if path.suffix in {".h", ".hpp"}))


def compile_command(zig: Sequence[str], source: Path, generated: Path, obj: Path) -> list[str]:
    """Command that compiles one source file.

    ``zig`` is the command prefix of zig itself (for example ``[sys.executable, "-m", "ziglang"]``); ``generated`` is the
    directory that holds ``dispatch_table.hpp``.
    """
    here = source.parent
    maps = [f"-ffile-prefix-map={here}=csrc/dispatch", f"-ffile-prefix-map={generated}=generated"]
    return [*zig, "c++", *COMPILE_FLAGS, *maps, f"-I{here}", f"-I{generated}", "-c", str(source), "-o", str(obj)]


def link_command(zig: Sequence[str], objects: Sequence[Path], out: Path) -> list[str]:
    """Command that links the objects, given in the order of ``SOURCES``."""
    return [*zig, "c++", *LINK_FLAGS, *map(str, objects), "-o", str(out)]


def compile_extension(
    generated: Path,
    out: Path,
    zig: Sequence[str],
    *,
    jobs: int = 0,
    source_dir: Path = SOURCE_DIR,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Compiles and links the extension to ``out``.

    generated: directory holding ``dispatch_table.hpp``. zig: command prefix of zig. jobs: compilations at a time, 0 for one
    per CPU. environment: environment of zig, by default that of this process; zig needs a writable ``HOME`` or
    ``ZIG_GLOBAL_CACHE_DIR``.

    ``out`` appears only when the link succeeded. Raises ``ExtensionCompileFailed`` with the compiler's messages.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".extension-", dir=out.parent) as scratch:
        objects = [Path(scratch, f"{Path(name).stem}.o") for name in SOURCES]
        commands = [compile_command(zig, source_dir / name, generated.resolve(), obj) for name, obj in zip(SOURCES, objects, strict=True)]
        with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
            list(pool.map(lambda command: _run(command, environment), commands))
        linked = Path(scratch, out.name)
        _run(link_command(zig, objects, linked), environment)
        os.replace(linked, out)


def _run(command: Sequence[str], environment: Mapping[str, str] | None) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    except OSError as error:
        raise ExtensionCompileFailed(
            f"the compiler could not be started: {error}",
            cause=f"command: {' '.join(command)}",
            remedy="install the pinned ziglang package into the build environment",
        ) from error
    if done.returncode != 0:
        raise ExtensionCompileFailed(
            f"the dispatch extension did not compile (exit code {done.returncode})",
            cause=f"{done.stderr.strip()}\ncommand: {' '.join(command)}",
            remedy="read the compiler's message above; the generated header must be that of this source tree",
        )
