"""Audits of the compiled libraries: what they link, and what auditwheel and abi3audit say of the wheel."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import StringTableSection

from aiter_mla_aot.integrity import Finding
from aiter_mla_aot.integrity.content import EMULATOR, EXTENSION
from build_tools.wheels.wheel_content import finding

LIBRARIES: Final = {
    EXTENSION: frozenset({"libc.so.6", "libdl.so.2"}),
    # The dynamic loader itself gives threads their variables.
    EMULATOR: frozenset({"libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}),
}
"""The libraries of a wheel, and what each may link."""
GLIBC: Final = (2, 28)
PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_RUN: Final = "not run"


def check_libraries(files: Mapping[str, bytes]) -> list[Finding]:
    """Each library of the wheel links what it may only, needs no glibc newer than the wheel's tag, and has no search path."""
    found = []
    for path in sorted(name for name in files if name.endswith(".so")):
        if path not in LIBRARIES:
            found.append(finding(path, " and ".join(LIBRARIES), path, "the wheel holds a library that is none of this package"))
            continue
        try:
            found += _dynamic(path, ELFFile(io.BytesIO(files[path])))
        except (ELFError, ValueError, KeyError, UnicodeDecodeError) as error:
            found.append(finding(path, "an ELF library", error, "the library cannot be read"))
    return found


def _dynamic(path: str, elf: ELFFile) -> Iterator[Finding]:
    dynamic = [section for section in elf.iter_sections() if isinstance(section, DynamicSection)]
    tags = [tag for section in dynamic for tag in section.iter_tags()]
    if not tags:
        yield finding(path, "a dynamic section", "none", "the file is no shared library")
    strings = elf.get_section_by_name(".dynstr")
    names = strings.get_string if isinstance(strings, StringTableSection) else str
    needed = {names(tag.entry.d_val) for tag in tags if tag.entry.d_tag == "DT_NEEDED"}
    if needed - LIBRARIES[path]:
        yield finding(path, f"{', '.join(sorted(LIBRARIES[path]))} only", ", ".join(sorted(needed)), "the library links other libraries")
    for tag in tags:
        if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH"):
            yield finding(path, "no library search path", tag.entry.d_tag, "the library looks for libraries of its own")
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for _, versions in section.iter_versions():
                for version in versions:
                    match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version.name)
                    if match is None or (int(match[1]), int(match[2])) > GLIBC:
                        text = "the library needs a newer glibc"
                        yield finding(path, f"symbols of glibc {GLIBC[0]}.{GLIBC[1]} or older", version.name, text)


def run(wheel: Path) -> tuple[dict[str, str], list[Finding]]:
    """Run auditwheel and abi3audit on a wheel: the outcome of each, and what they found."""
    outcomes: dict[str, str] = {}
    found: list[Finding] = []
    for name, command in (
        ("auditwheel", ["-m", "auditwheel", "show", "--json", str(wheel)]),
        ("abi3audit", ["-m", "abi3audit", "--strict", "--report", str(wheel)]),
    ):
        if importlib.util.find_spec(name) is None:
            outcomes[name] = NOT_RUN
            continue
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, errors="replace", check=False)
        wrong = list(_judge(name, wheel, done))
        outcomes[name] = FAILED if wrong else PASSED
        found += wrong
    return outcomes, found


def _judge(name: str, wheel: Path, done: subprocess.CompletedProcess[str]) -> Iterator[Finding]:
    if done.returncode != 0:
        yield finding(wheel.name, f"{name} to pass", (done.stderr or done.stdout).strip()[-200:], f"{name} ended with {done.returncode}")
    elif name == "auditwheel":
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            yield finding(wheel.name, "JSON", done.stdout[:200], "auditwheel gave another answer than this check reads")
            return
        tag = re.fullmatch(r"manylinux_2_(\d+)_x86_64", str(answer.get("overall_tag")))
        if tag is None or int(tag[1]) > GLIBC[1]:
            yield finding(
                wheel.name, f"manylinux_2_{GLIBC[1]}_x86_64 or older", answer.get("overall_tag"), "auditwheel sees a newer platform"
            )
        if answer.get("external_libs") != {}:
            yield finding(wheel.name, "no external libraries", answer.get("external_libs"), "auditwheel sees libraries outside the wheel")
