"""The extension over the project's own table, with the emulator as its HIP."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aiter_mla_aot import emulator
from aiter_mla_aot.native_types import Native
from build_tools.build_graph.emulator_build import compile_emulator
from tests.integration.native.conftest import load_copy
from tests.integration.native.native_build import build_extension

ROOT = Path(__file__).resolve().parents[3]
GENERATED = ROOT / "build" / "generated" / "dispatch_table.hpp"
OBJECTS = Path(os.environ.get("AITER_MLA_OBJECTS", ROOT / "build" / "objects"))
PREBUILT = "AITER_MLA_EMULATOR_TEST_LIBRARY"
UNITS = 20


@pytest.fixture(scope="session")
def library() -> Path:
    """The emulator of this tree."""
    if PREBUILT in os.environ:
        return Path(os.environ[PREBUILT])
    out = ROOT / "build" / "emulator" / "libaiter_mla_emulator.so"
    compile_emulator(out, [sys.executable, "-m", "ziglang"], object_dir=out.parent / "objects")
    return out


@pytest.fixture(scope="session")
def face(library: Path) -> emulator.Emulator:
    return emulator.load(library)


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not GENERATED.is_file() or not OBJECTS.is_dir():
        pytest.fail("the table or the objects are not there: run `python3 -m build_tools wheel` first", pytrace=False)
    return build_extension(GENERATED.read_text(encoding="utf-8"), tmp_path_factory.mktemp("extension"))


@pytest.fixture
def on_device(face: emulator.Emulator, extension: Path, tmp_path: Path) -> Callable[[str], Native]:
    """Makes an extension of its own whose device 0 is an emulated one of an arch, with AMD's objects loaded."""

    def make(arch: str) -> Native:
        face.set_devices([arch], UNITS)
        face.set_options(timing="latency", poison="finite", uninitialised=False, budget=100_000_000)
        native = load_copy(extension, tmp_path)
        native.hip_open(face.path, False)
        native.prepare(0, arch, OBJECTS)
        return native

    return make
