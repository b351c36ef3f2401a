"""The emulator and the planner, compiled once, and the published objects."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from build_tools.emulator_build import compile_emulator
from build_tools.prove.device import Emulator
from build_tools.prove.execute import Bench
from build_tools.prove.planner import Planner
from build_tools.prove.session import Libraries
from tests.planner.library import build

ROOT = Path(__file__).resolve().parents[2]
PREBUILT = "AITER_MLA_EMULATOR_TEST_LIBRARY"


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    planner = build(tmp_path_factory.mktemp("planner"))
    if PREBUILT in os.environ:
        return Libraries(Path(os.environ[PREBUILT]), planner)
    out = ROOT / "build" / "emulator" / "libaiter_mla_emulator.so"
    compile_emulator(out, [sys.executable, "-m", "ziglang"], object_dir=out.parent / "objects")
    return Libraries(out, planner)


@pytest.fixture(scope="session")
def bench(libraries: Libraries) -> Bench:
    return Bench(Emulator(libraries.emulator), Planner(libraries.planner))
