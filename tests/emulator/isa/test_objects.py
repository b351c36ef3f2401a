"""Every instruction of every pinned object decodes, and reassembles to its bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest
import tomllib

from tests.emulator.isa.isa_library import IsaLibrary, assemble, code_of
from tests.emulator.isa.opcode_table import ARCHS

ROOT: Final = Path(__file__).resolve().parents[3]
OBJECTS: Final = Path(os.environ.get("AITER_MLA_OBJECTS", ROOT / "build" / "objects"))


def locked() -> list[tuple[str, str]]:
    """Arch and file of every object a build may use, those for prefill too."""
    return [(arch, row["file"]) for arch in ARCHS for row in tomllib.loads((ROOT / "hsa" / arch / "lock.toml").read_text())["object"]]


def read_object(arch: str, file: str) -> bytes:
    path = OBJECTS / arch / file
    if not path.is_file():
        pytest.fail(f"{path} is missing: fetch the objects with `python3 -m build_tools wheel`, or name their folder in AITER_MLA_OBJECTS")
    return code_of(path.read_bytes())


@pytest.mark.parametrize(("arch", "file"), locked(), ids=lambda value: value.removesuffix(".co"))
def test_an_object_reassembles_to_its_bytes(isa: IsaLibrary, arch: str, file: str, tmp_path: Path) -> None:
    code = read_object(arch, file)
    listing = isa.listing(arch, code)
    again = assemble(arch, [text for text, _ in listing], tmp_path)
    assert again == code
