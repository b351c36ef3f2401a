"""The rows of ``opcodes.def``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ISA_DIR: Final = Path(__file__).resolve().parents[3] / "csrc" / "emulator" / "isa"
ARCHS: Final = ("gfx942", "gfx950")

FLOATS: Final = frozenset({"f16", "bf16", "f32", "f64", "pk_f16", "pk_bf16", "pk_f32"})
HALVES: Final = frozenset({"b16", "i16", "u16", "f16", "bf16"})
_DWORDS: Final = {"none": 0, "f64": 2, "i64": 2, "u64": 2, "pk_b32": 2, "pk_f32": 2, "f64x4": 8}


def dwords(type_name: str) -> int:
    """Registers that an operand of this type takes."""
    if type_name in _DWORDS:
        return _DWORDS[type_name]
    if lanes := re.fullmatch(r"[fi]32x(\d+)", type_name):
        return int(lanes[1])
    if bits := re.fullmatch(r"b(\d+)", type_name):
        return max(int(bits[1]) // 32, 1)
    return 1


@dataclass(frozen=True, slots=True)
class Row:
    """One opcode."""

    name: str
    format: str
    number: int
    archs: tuple[str, ...]
    forms: tuple[str, ...]  # one empty name where the format has a single encoding
    dst: str
    src: tuple[str, str, str]
    traits: frozenset[str]

    @property
    def sources(self) -> int:
        return sum(source != "none" for source in self.src)

    def has_modifiers(self, index: int) -> bool:
        """Whether a source has its magnitude and its negation in the 64-bit encoding."""
        if "modifiers" in self.traits:
            return index < 2
        barred = "no_modifiers" in self.traits or (index == 1 and "no_modifiers_src1" in self.traits)
        return self.src[index] in FLOATS and not barred


def _names(column: str) -> tuple[str, ...]:
    return () if column == "0" else tuple(column.split(" | "))


@cache
def rows() -> tuple[Row, ...]:
    """All opcodes, in the order of the table."""
    found = []
    for line in (ISA_DIR / "opcodes.def").read_text().splitlines():
        if line.startswith("EMULATOR_OPCODE("):
            name, form, number, archs, forms, dst, *src, traits = line.removeprefix("EMULATOR_OPCODE(").removesuffix(")").split(", ")
            on = {"both": ARCHS, "cdna3": ARCHS[:1], "cdna4": ARCHS[1:]}[archs]
            found.append(Row(name, form, int(number), on, _names(forms) or ("",), dst, (src[0], src[1], src[2]), frozenset(_names(traits))))
    return tuple(found)
