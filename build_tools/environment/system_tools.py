"""Tools that are not on PyPI: found on PATH, else installed through apt where the command runs as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SystemTool:
    """A command, and the Debian package that has it."""

    command: str
    package: str


STRACE: Final = SystemTool("strace", "strace")
LLVM: Final = SystemTool("llvm-objdump-22", "llvm-22")


def ensure(tool: SystemTool, report: Callable[[str], None]) -> str | None:
    """Make the tool available; None if it is, else why it is not."""
    if shutil.which(tool.command):
        return None
    if not shutil.which("apt-get"):
        return f"{tool.command} is not installed, and there is no apt-get"
    if os.geteuid() != 0:
        return f"{tool.command} is not installed; as root: apt-get install {tool.package}"
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", tool.package]
    # A new machine has no package lists yet, a used one may have old ones.
    for command in (["apt-get", "update"], install):
        report(" ".join(command))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if shutil.which(tool.command):
        return None
    return f"apt-get could not install {tool.package}: {done.stderr.strip()[-300:]}"
