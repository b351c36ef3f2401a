"""The planner, compiled once."""

from __future__ import annotations

import pytest

from tests.planner.library import Planner, build


@pytest.fixture(scope="session")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return Planner(build(tmp_path_factory.mktemp("planner")))
