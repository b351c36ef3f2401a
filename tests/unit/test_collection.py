"""No folder of tests is passed over in silence."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def test_every_folder_that_holds_tests_is_looked_into(pytestconfig: pytest.Config) -> None:
    folders = {part for path in TESTS.rglob("test_*.py") for part in path.relative_to(TESTS).parts[:-1]}
    assert {"unit", "integration", "build"} <= folders
    patterns = pytestconfig.getini("norecursedirs")
    assert [folder for folder in sorted(folders) if any(fnmatchcase(folder, pattern) for pattern in patterns)] == []
