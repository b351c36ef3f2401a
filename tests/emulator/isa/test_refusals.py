"""What is no instruction is refused with its reason, whatever the bytes."""

from __future__ import annotations

import random
import struct

import pytest

from tests.emulator.isa.encodings import Encodings
from tests.emulator.isa.isa_library import IsaLibrary
from tests.emulator.isa.opcode_table import ARCHS, rows

UNKNOWN_OPCODE = "the format has no such opcode on this architecture"
BAD_OPERAND = "a field names no register"
TRUNCATED = "the code ends inside the instruction"


def words(*values: int) -> bytes:
    return b"".join(struct.pack("<I", value) for value in values)


@pytest.mark.parametrize("arch", ARCHS)
def test_opcodes_of_the_other_architecture_are_unknown(isa: IsaLibrary, arch: str) -> None:
    encodings = Encodings(seed=2)
    others = [(row, form) for row in rows() if arch not in row.archs for form in row.forms]
    assert others
    for row, form in others:
        assert isa.disassemble(arch, encodings.draw(row, form)) == (UNKNOWN_OPCODE, 0), row.name


@pytest.mark.parametrize("arch", ARCHS)
def test_code_that_ends_early_is_refused(isa: IsaLibrary, arch: str) -> None:
    encodings = Encodings(seed=3)
    for row in rows():
        if arch in row.archs:
            for form in row.forms:
                code = encodings.draw(row, form)
                for size in range(len(code)):
                    assert isa.disassemble(arch, code[:size]) == (TRUNCATED, 0), (row.name, size)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(words(0xE8000000, 0), "no format begins like this", id="MTBUF"),
        pytest.param(words(0xFFFFFFFF, 0), "no format begins like this", id="ones"),
        pytest.param(words(0xBE80FF00), UNKNOWN_OPCODE, id="number 255 of SOP1"),
        pytest.param(words(0xBE80007D), BAD_OPERAND, id="register 125"),
        pytest.param(words(0xC00A0000 | 100 << 6, 0), BAD_OPERAND, id="scalar tuple beyond s101"),
        pytest.param(words(0xD2800000 | 255, 0x20100), BAD_OPERAND, id="v[255:256]"),
        pytest.param(words(0xD1FF0000, 255), BAD_OPERAND, id="literal in VOP3"),
        pytest.param(words(0x020206FA, 0xFF010001 | 0x31 << 8), BAD_OPERAND, id="DPP control 0x131"),
        pytest.param(words(0x7E0006FA, 0xFF000000), BAD_OPERAND, id="quad_perm of a double"),
        pytest.param(words(0x680206F9, 0x06070602), BAD_OPERAND, id="SDWA selection 7"),
        pytest.param(words(0x680206F9, 0x06061E02), BAD_OPERAND, id="SDWA unused 3"),
        pytest.param(words(0xD3E18000, 0x00020100), BAD_OPERAND, id="MFMA with a scalar C"),
    ],
)
def test_fields_that_mean_nothing_are_refused(isa: IsaLibrary, code: bytes, reason: str) -> None:
    assert isa.disassemble("gfx950", code) == (reason, 0)


@pytest.mark.fuzz
@pytest.mark.parametrize("arch", ARCHS)
def test_random_bytes_give_an_instruction_or_a_reason(isa: IsaLibrary, arch: str) -> None:
    source = random.Random(4)
    sizes = set()
    for _ in range(200_000):
        code = source.randbytes(source.choice((0, 3, 4, 7, 8, 12, 16)))
        text, size = isa.disassemble(arch, code)
        assert size in (0, 4, 8, 12, 16)
        assert size <= len(code)
        assert text
        sizes.add(size)
    assert {0, 4, 8} <= sizes
