"""The emulator and the planner, compiled once, and the published objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_tools.build_graph.layout import EMULATOR
from build_tools.prove.device import Emulator
from build_tools.prove.execute import Bench
from build_tools.prove.libraries import Libraries, planner_in
from build_tools.prove.planner import Planner

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def libraries() -> Libraries:
    planner = planner_in(ROOT / "build" / "lib")
    out = ROOT / EMULATOR
    if not out.is_file():
        pytest.fail(f"{out} is missing: run `python3 -m build_tools wheel` first")
    return Libraries(out, planner)


@pytest.fixture(scope="session")
def bench(libraries: Libraries) -> Bench:
    return Bench(Emulator(libraries.emulator), Planner(libraries.planner))
