"""The text of every instruction is that of llvm-objdump."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.emulator.isa.encodings import Encodings
from tests.emulator.isa.isa_library import IsaLibrary, assemble
from tests.emulator.isa.opcode_table import ARCHS, rows
from tests.emulator.isa.test_objects import locked, read_object

pytestmark = pytest.mark.llvm

LLVM: Final = 22
CANDIDATES: Final = (os.environ.get("LLVM_OBJDUMP", ""), f"llvm-objdump-{LLVM}", f"/usr/lib/llvm-{LLVM}/bin/llvm-objdump", "llvm-objdump")


@pytest.fixture(scope="session")
def objdump() -> str:
    for name in CANDIDATES:
        path = shutil.which(name) if name else None
        if path is not None:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            found = re.search(r"LLVM version (\d+)", version)
            if found is not None and int(found[1]) == LLVM:
                return path
    pytest.fail(f"no llvm-objdump of LLVM {LLVM}: install Debian's llvm-{LLVM} or name one in LLVM_OBJDUMP")


def llvm_listing(objdump: str, arch: str, code: bytes, directory: Path) -> list[str]:
    """What llvm-objdump prints for this code."""
    lines = [".byte " + ",".join(map(str, code[at : at + 64])) for at in range(0, len(code), 64)]
    assemble(arch, lines, directory)
    command = [objdump, "-d", f"--mcpu={arch}", "--no-show-raw-insn", "--no-leading-addr", str(directory / "text.o")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [" ".join(line.split("//")[0].split()) for line in printed.splitlines() if line.startswith("\t")]


def normal(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("arch", ARCHS)
def test_every_opcode_in_every_encoding_reads_as_llvm_prints_it(isa: IsaLibrary, objdump: str, arch: str, tmp_path: Path) -> None:
    encodings = Encodings(seed=7)
    drawn = [encodings.draw(row, form) for row in rows() if arch in row.archs for form in row.forms for _ in range(20)]
    ours = [isa.disassemble(arch, code)[0] for code in drawn]
    theirs = llvm_listing(objdump, arch, b"".join(drawn), tmp_path)
    assert len(theirs) == len(ours)
    assert [pair for pair in zip(ours, theirs, strict=True) if normal(pair[0]) != pair[1]] == []


@pytest.mark.parametrize(("arch", "file"), locked(), ids=lambda value: value.removesuffix(".co"))
def test_an_object_reads_as_llvm_prints_it(isa: IsaLibrary, objdump: str, arch: str, file: str, tmp_path: Path) -> None:
    code = read_object(arch, file)
    ours = [normal(text) for text, _ in isa.listing(arch, code)]
    assert ours == llvm_listing(objdump, arch, code, tmp_path)
