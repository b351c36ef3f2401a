"""The decoder and the disassembler compiled alone, and LLVM's assembler as their counterpart."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

from elftools.elf.elffile import ELFFile

from tests.emulator.isa.opcode_table import ISA_DIR

ZIG: Final = (sys.executable, "-m", "ziglang")
_TARGET: Final = ("-target", "x86_64-linux-gnu.2.28")
_FLAGS: Final = ("-std=c++20", "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Werror")
_TEXT_CAPACITY: Final = 256


KINDS: Final = ("none", "sgpr", "vgpr", "agpr", "constant", "special")
PLACES: Final = ("dst", "sdst", "src0", "src1", "src2", "src3", "src4")


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand as executors see it."""

    kind: str
    dwords: int
    index: int
    value: int
    high: int


class IsaLibrary:
    """The C interface of the compiled library."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self._function = library.emulator_disassemble
        self._function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
        self._function.restype = ctypes.c_int
        self._operand = library.emulator_operand
        self._operand.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_uint32)]
        self._operand.restype = ctypes.c_bool
        self._buffer = ctypes.create_string_buffer(_TEXT_CAPACITY)

    def disassemble(self, arch: str, code: bytes) -> tuple[str, int]:
        """Text and bytes of the first instruction; the reason and 0 if there is none."""
        size = self._function(code, len(code), 0, int(arch.removeprefix("gfx")), self._buffer, _TEXT_CAPACITY)
        return self._buffer.value.decode(), size

    def operand(self, arch: str, code: bytes, place: str) -> Operand:
        """One operand of the first instruction."""
        fields = (ctypes.c_uint32 * 5)()
        if not self._operand(code, len(code), int(arch.removeprefix("gfx")), PLACES.index(place), fields):
            raise ValueError(f"no instruction: {code.hex()}")
        kind, dwords, index, value, high = fields
        return Operand(KINDS[kind], dwords, index, value, high)

    def listing(self, arch: str, code: bytes) -> list[tuple[str, bytes]]:
        """Text and bytes of every instruction of a stretch of code. Raises ``ValueError`` at the first that is none."""
        found = []
        at = 0
        while at < len(code):
            text, size = self.disassemble(arch, code[at : at + 16])
            if size == 0:
                raise ValueError(f"{at:#x}: {text}: {code[at : at + 8].hex()}")
            found.append((text, code[at : at + size]))
            at += size
        return found


def build_library(directory: Path) -> IsaLibrary:
    """Compiles ``csrc/emulator/isa``."""
    sources = sorted(ISA_DIR.glob("*.cpp"))
    objects = [directory / f"{source.stem}.o" for source in sources]
    commands = [[*ZIG, "c++", *_TARGET, *_FLAGS, "-c", str(source), "-o", str(out)] for source, out in zip(sources, objects, strict=True)]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(_run, commands))
    library = directory / "libisa.so"
    _run([*ZIG, "c++", *_TARGET, "-shared", "-nostdlib++", *map(str, objects), "-o", str(library)])
    return IsaLibrary(library)


def assemble(arch: str, lines: Sequence[str], directory: Path) -> bytes:
    """The machine code LLVM's assembler makes of these lines. Raises ``RuntimeError`` with its messages."""
    source, out = directory / "text.s", directory / "text.o"
    source.write_text("\n".join(lines) + "\n")
    _run([*ZIG, "clang", "-x", "assembler", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", str(source), "-o", str(out)])
    return code_of(out.read_bytes())


def code_of(elf: bytes) -> bytes:
    """The section ``.text`` of an object."""
    section = ELFFile(BytesIO(elf)).get_section_by_name(".text")
    if section is None:
        raise ValueError("the object has no section .text")
    return bytes(section.data())


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
