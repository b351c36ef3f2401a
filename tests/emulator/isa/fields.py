"""Random fields of machine code."""

from __future__ import annotations

import random
from typing import Final

from tests.emulator.isa.opcode_table import HALVES, Row, dwords

_INLINE: Final[tuple[int, ...]] = (*range(128, 209), *range(240, 249))
_SPECIAL: Final = (235, 236, 237, 238, 239, 251, 252, 253)
LITERAL: Final = 255
_EXEC: Final = 126
# Values that a literal shares with an inline constant of some type, and others next to them.
LITERALS: Final = (
    *(0, 1, 64, 65, 0xFFFFFFFF, 0xFFFFFFF0, 0xFFFFFFEF),
    *(0x3F000000, 0xBF800000, 0x40800000, 0x3E22F983, 0x12345678, 0x80000000),
)
_HALF_LITERALS: Final = (0, 1, 64, 65, 0x3C00, 0xBC00, 0x4400, 0x3118, 0x1234, 0x7FFF)
_DOUBLE_LITERALS: Final = (0x12345678, 0x3FC45F30, 0xFFF00000, 0x40590000)


class Fields:
    """Draws operands and modifiers."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._bus_free = True

    def _chance(self, probability: float) -> int:
        return int(self._random.random() < probability)

    def _below(self, limit: int) -> int:
        return self._random.randrange(limit)

    def _sgpr(self, type_name: str) -> int:
        count = dwords(type_name)
        if count <= 2 and self._chance(0.2):
            special = (106, 126, 102, 104, 108, 110) if count == 2 else (106, 107, 124, 126, 127, 102, 103, 108)
            return self._random.choice(special)
        alignment = 1 if count < 2 else 2 if count == 2 else 4
        return self._below(102 - count) // alignment * alignment

    def _vgpr(self, type_name: str) -> int:
        """A register, 0 for an operand that is not there. Tuples begin at even registers."""
        count = dwords(type_name)
        return 0 if count == 0 else self._below(257 - count) // min(count, 2) * min(count, 2)

    def _constant(self) -> int:
        return self._random.choice(_INLINE)

    def _literal(self, type_name: str) -> int:
        values = _HALF_LITERALS if type_name in HALVES else _DOUBLE_LITERALS if type_name == "f64" else LITERALS
        return self._random.choice(values)

    def _scalar_source(self, type_name: str) -> int:
        if type_name == "none":
            return 0
        draw = self._random.random()
        if draw < 0.5:
            return self._sgpr(type_name)
        return self._constant() if draw < 0.8 else LITERAL if draw < 0.95 else self._random.choice(_SPECIAL)

    def _scalar_register(self, type_name: str) -> int:
        return 0 if type_name == "none" else self._sgpr(type_name)

    def _source(self, type_name: str) -> int:
        """A nine-bit source. Only one of an instruction may be a scalar register."""
        if type_name == "none":
            return 0
        draw = self._random.random()
        if dwords(type_name) > 2 or draw < 0.5:
            return 256 + self._vgpr(type_name)
        # The name LLVM gives an inline float of sixteen integer bits is that of a literal.
        if draw < 0.75 and not type_name.endswith("16"):
            return self._constant()
        if not self._bus_free:
            return 256 + self._vgpr(type_name)
        self._bus_free = False
        return self._sgpr(type_name) if draw < 0.95 else self._random.choice(_SPECIAL)

    def _modifiers(self, row: Row, index: int) -> tuple[int, int]:
        """Negation and magnitude of a source."""
        return (self._below(2), self._below(2)) if row.has_modifiers(index) and self._chance(0.6) else (0, 0)

    def _sgpr_or_exec_free(self, type_name: str) -> int:
        """Scalar memory does not write EXEC or M0."""
        if type_name == "none":
            return 0
        while (register := self._sgpr(type_name)) in (124, _EXEC, _EXEC + 1):
            pass
        return register
