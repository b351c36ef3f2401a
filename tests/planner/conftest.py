"""The planner, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_tools.prove.libraries import planner_in
from tests.planner.library import Planner

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def planner() -> Planner:
    return Planner(planner_in(ROOT / "build" / "lib"))
