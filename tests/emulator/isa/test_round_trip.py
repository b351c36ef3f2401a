"""What the disassembler writes, LLVM's assembler reads back to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.isa.encodings import Encodings
from tests.emulator.isa.isa_library import IsaLibrary, assemble
from tests.emulator.isa.opcode_table import ARCHS, rows

DRAWS = 12


@pytest.mark.parametrize("arch", ARCHS)
def test_every_opcode_in_every_encoding_assembles_to_the_bytes_it_was_decoded_from(isa: IsaLibrary, arch: str, tmp_path: Path) -> None:
    encodings = Encodings(seed=20261130)
    # Both encodings of v_nop and v_clrexcp have one name.
    drawn = [
        encodings.draw(row, form)
        for row in rows()
        if arch in row.archs
        for form in row.forms
        if form != "e64" or "plain" not in row.traits
        for _ in range(DRAWS)
    ]
    texts = [isa.disassemble(arch, code) for code in drawn]
    refused = [(text, code.hex()) for (text, size), code in zip(texts, drawn, strict=True) if size != len(code)]
    assert refused == []
    again = isa.listing(arch, assemble(arch, [text for text, _ in texts], tmp_path))
    changed = [
        (text, code.hex(), text_again, code_again.hex())
        for (text, _), code, (text_again, code_again) in zip(texts, drawn, again, strict=True)
        if code != code_again
    ]
    assert changed == []


def test_the_names_drawn_are_all_of_the_table(isa: IsaLibrary) -> None:
    encodings = Encodings(seed=1)
    names = set()
    for row in rows():
        for form in row.forms:
            text, _ = isa.disassemble(row.archs[0], encodings.draw(row, form))
            names.add(text.split(" ")[0].removesuffix(f"_{form}"))
    assert names == {row.name for row in rows()}
