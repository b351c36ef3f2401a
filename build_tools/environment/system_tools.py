"""Tools that are not on PyPI: found on PATH, else installed through apt where the command runs as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class SystemTool:
    """A command, and the Debian packages that have it and what it needs.

    library: for a compiler, a library that it must find (``-print-file-name``), since that may be a package of its own.
    """

    command: str
    packages: tuple[str, ...]
    library: str | None = None


STRACE: Final = SystemTool("strace", ("strace",))
LLVM: Final = SystemTool("llvm-objdump-22", ("llvm-22",))
CLANG: Final = SystemTool("clang-22", ("clang-22", "libclang-rt-22-dev"), "libclang_rt.asan-x86_64.so")
"""Compiles with sanitizers."""


def ensure(tool: SystemTool, report: Callable[[str], None]) -> str | None:
    """Make the tool available; None if it is, else why it is not."""
    if _is_there(tool):
        return None
    missing = f"{tool.command} with {tool.library}" if tool.library else tool.command
    if not shutil.which("apt-get"):
        return f"{missing} is not installed, and there is no apt-get"
    if os.geteuid() != 0:
        return f"{missing} is not installed; as root: apt-get install {' '.join(tool.packages)}"
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *tool.packages]
    # A new machine has no package lists yet, a used one may have old ones.
    for command in (["apt-get", "update"], install):
        report(" ".join(command))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if _is_there(tool):
        return None
    return f"apt-get could not install {' '.join(tool.packages)}: {done.stderr.strip()[-300:]}"


def _is_there(tool: SystemTool) -> bool:
    if not shutil.which(tool.command):
        return False
    if tool.library is None:
        return True
    done = subprocess.run([tool.command, f"-print-file-name={tool.library}"], capture_output=True, text=True, check=False)
    # A compiler that does not find it gives the name back as it is.
    return done.returncode == 0 and Path(done.stdout.strip()).is_file()
