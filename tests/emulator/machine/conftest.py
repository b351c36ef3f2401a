"""The library, compiled once, and a folder for compiled kernels."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from build_tools.build_graph.emulator_build import compile_emulator
from tests.emulator.machine.hip import Hip

ROOT = Path(__file__).resolve().parents[3]
PREBUILT = "AITER_MLA_EMULATOR_TEST_LIBRARY"
DEFAULTS = "timing=latency,seed=0,lds_latency=130,memory_latency=600,budget=100000000,threads=0,poison=finite,uninitialised=0,hazards=0"


@pytest.fixture(scope="session")
def library() -> Path:
    """The emulator of this tree; objects stay in the build folder, so that only what changed is compiled."""
    if PREBUILT in os.environ:
        return Path(os.environ[PREBUILT])
    out = ROOT / "build" / "emulator" / "libaiter_mla_emulator.so"
    compile_emulator(out, [sys.executable, "-m", "ziglang"], object_dir=out.parent / "objects")
    return out


@pytest.fixture(scope="session")
def loaded(library: Path) -> Hip:
    return Hip(library)


@pytest.fixture
def hip(loaded: Hip) -> Iterator[Hip]:
    """The library with default devices and options, restored for every test."""
    loaded.devices("gfx942")
    loaded.options(DEFAULTS)
    yield loaded
    loaded.devices("gfx942")
    loaded.options(DEFAULTS)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")
