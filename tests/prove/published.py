"""Published objects for tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from build_tools.prove.execute import Subject
from build_tools.prove.subjects import load

ROOT = Path(__file__).resolve().parents[2]
OBJECTS = Path(os.environ.get("AITER_MLA_OBJECTS", ROOT / "build" / "objects"))
FP8 = {"gfx942": "e4m3fnuz", "gfx950": "e4m3fn"}


def path_of(arch: str, name: str) -> Path:
    path = OBJECTS / arch / f"{name}.co"
    if not path.exists():
        pytest.fail(f"{path} is missing: run `python3 -m build_tools wheel` first, or name the folder of the objects in AITER_MLA_OBJECTS")
    return path


def subject(arch: str, name: str) -> Subject:
    return load(path_of(arch, name), arch, FP8[arch])[0]
