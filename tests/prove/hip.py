"""Test kernels compiled from HIP C++ by the clang of ziglang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ziglang

from build_tools.prove.execute import Subject
from build_tools.prove.subjects import load
from tests.prove.published import FP8

ZIG = Path(ziglang.__file__).parent
SOURCE = Path(__file__).with_name("kernels") / "decode.hip"
DEFAULTS = {
    "NAME": "decode",
    "SLOTS": 23,
    "THREADS": 256,
    "HEADS": 16,
    "MASK": 0,
    "KV": 0,
    "Q_FP8": 0,
    "ROWS_ARE_HEADS": 0,
    "RANKS": 0,
    "SPLIT": 0,
    "SINGLE": 0,
    "SUB_Q": 64,
}


def compile_kernel(folder: Path, arch: str, **macros: int | str) -> Path:
    """A code object of the test kernel."""
    linker = folder / "bin" / "lld"
    if not linker.exists():
        # clang asks for "lld -flavor gnu ...", which ziglang has under another name.
        linker.parent.mkdir()
        linker.write_text(f'#!/bin/sh\nshift 2\nexec "{ZIG / "zig"}" ld.lld "$@"\n')
        linker.chmod(0o755)
    out = folder / f"{len(list(folder.glob('*.co')))}.co"
    flags = f"-x hip --offload-device-only --no-gpu-bundle-output --offload-arch={arch} -nogpuinc -nogpulib -nostdlibinc -ffreestanding"
    flags += " -O3 -std=c++20 -Wall -Wextra -fuse-cuid=none -fno-ident -mcode-object-version=5 -Xoffload-linker -s"
    defines = [f"-D{name}={value}" for name, value in (DEFAULTS | macros).items()]
    command = [sys.executable, "-m", "ziglang", "clang", *flags.split(), "-resource-dir", str(ZIG / "lib"), "-B", str(linker.parent)]
    done = subprocess.run([*command, *defines, "-c", str(SOURCE), "-o", str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def subjects(folder: Path, arch: str, **macros: int | str) -> list[Subject]:
    """Its kernels."""
    return load(compile_kernel(folder, arch, **macros), arch, FP8[arch])
