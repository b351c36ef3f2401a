"""One wave of the emulator: registers as arrays, one instruction run at a time."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from build_tools.build_graph.emulator_build import COMPILE_FLAGS, Level

Words = NDArray[np.uint32]
ROOT = Path(__file__).resolve().parents[3]
EMULATOR = ROOT / "csrc" / "emulator"
FORMATS = {"vop1": 6, "vop2": 7, "vop3": 8, "vop3p": 9, "vopc": 10, "mai": 11}
ENCODINGS = {"e32": 0, "e64": 1, "dpp": 2, "sdwa": 3}
ALL_LANES = (1 << 64) - 1
NO_EXECUTOR = -1
UNSUPPORTED = 11


@dataclass(frozen=True)
class Operand:
    """An operand as the decoder gives it."""

    kind: int
    index: int
    value: int = 0
    high: int = 0


def sgpr(index: int) -> Operand:
    """Scalar register."""
    return Operand(1, index)


def vgpr(index: int) -> Operand:
    """Vector register."""
    return Operand(2, index)


def agpr(index: int) -> Operand:
    """Accumulation register."""
    return Operand(3, index)


def constant(value: int, high: int = 0) -> Operand:
    """Constant."""
    return Operand(4, 255, value & 0xFFFFFFFF, high & 0xFFFFFFFF)


VCC, EXEC, M0 = sgpr(106), sgpr(126), 124


def build(directory: Path, level: Level) -> Path:
    """Compiles the executors and the harness for one level of x86-64, as the emulator itself is compiled."""
    patterns = ("operands.cpp", "vector_*.cpp", "mfma_*.cpp", "matrix_*.cpp")
    sources = [path for pattern in patterns for path in sorted((EMULATOR / "exec").glob(pattern))]
    sources += [*sorted((EMULATOR / "numerics").glob("*.cpp")), Path(__file__).with_name("harness.cpp")]
    zig = [sys.executable, "-m", "ziglang", "c++", *COMPILE_FLAGS, *level.flags]

    def compile_one(source: Path) -> Path:
        target = directory / f"{source.stem}.o"
        subprocess.run([*zig, "-c", str(source), "-o", str(target)], check=True)
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sources))
    library = directory / "alu.so"
    subprocess.run([*zig, "-shared", "-nostdlib++", *map(str, objects), "-o", str(library)], check=True)
    return library


class Machine:
    """The state of the wave and the means to run one instruction on it."""

    def __init__(self, library: Path) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.lib.alu_vector_registers.restype = ctypes.POINTER(ctypes.c_uint32)
        self.lib.alu_scalar_registers.restype = ctypes.POINTER(ctypes.c_uint32)
        self.lib.alu_name.restype = ctypes.c_char_p
        self.lib.alu_operand.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32]
        self.lib.alu_run.argtypes = [ctypes.c_long]
        self.v: Words = np.ctypeslib.as_array(self.lib.alu_vector_registers(), (512, 64))
        self.s: Words = np.ctypeslib.as_array(self.lib.alu_scalar_registers(), (128,))

    def names(self) -> list[str]:
        """Every opcode there is."""
        names: list[str] = []
        while (name := self.lib.alu_name(len(names))) is not None:
            names.append(name.decode())
        return names

    def has_executor(self, name: str) -> bool:
        return bool(self.lib.alu_has_executor(self.lib.alu_opcode(name.encode())))

    def pair(self, index: int) -> int:
        """A 64-bit scalar register pair."""
        return int(self.s[index]) | int(self.s[index + 1]) << 32

    def set_pair(self, index: int, value: int) -> None:
        self.s[index] = value & 0xFFFFFFFF
        self.s[index + 1] = value >> 32

    def run(
        self,
        name: str,
        dst: Operand | None,
        src: Sequence[Operand],
        *,
        fmt: str = "vop3",
        enc: str = "e64",
        sdst: Operand | None = None,
        arch: int = 942,
        denorm32: int = 3,
        denorm16: int = 3,
        ieee: bool = False,
        clamps: bool = False,
        index_mask: int = 0,
        rounding: int = 0,
        exec_mask: int = ALL_LANES,
        neg: int = 0,
        abs_: int = 0,
        neg_hi: int = 0,
        op_sel: int = 0,
        op_sel_hi: int = 7,
        clamp: bool = False,
        omod: int = 0,
        cbsz: int = 0,
        abid: int = 0,
        blgp: int = 0,
        imm: int = 0,
        dpp: tuple[int, int, int, bool] | None = None,
        sdwa: tuple[int, int, int, int, bool, bool] | None = None,
    ) -> int:
        """Runs one instruction; the kind of its fault, 0 without."""
        op = self.lib.alu_opcode(name.encode())
        assert op >= 0, name
        self.set_pair(126, exec_mask)
        encoding = "dpp" if dpp else "sdwa" if sdwa else enc
        self.lib.alu_begin(op, FORMATS[fmt], ENCODINGS[encoding], arch, denorm32, denorm16, int(ieee), int(clamps), index_mask, rounding)
        for which, operand in enumerate([dst, sdst, *src]):
            if operand is not None:
                self.lib.alu_operand(which, operand.kind, operand.index, operand.value, operand.high)
        self.lib.alu_modifiers(neg, abs_, neg_hi, op_sel, op_sel_hi, int(clamp), omod)
        self.lib.alu_matrix(cbsz, abid, blgp, imm)
        if dpp:
            self.lib.alu_dpp(*map(int, dpp))
        if sdwa:
            self.lib.alu_sdwa(*map(int, sdwa))
        return int(self.lib.alu_run(1))
