"""The library under test, compiled once."""

from __future__ import annotations

import pytest

from tests.emulator.isa.isa_library import IsaLibrary, build_library


@pytest.fixture(scope="session")
def isa(tmp_path_factory: pytest.TempPathFactory) -> IsaLibrary:
    return build_library(tmp_path_factory.mktemp("isa"))
