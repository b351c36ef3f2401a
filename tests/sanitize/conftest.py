"""The sanitized build of this tree, kept in the build folder, so that only what changed is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sanitize.build import Sanitized, build

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def sanitized() -> Sanitized:
    return build(ROOT / "build" / "sanitize")
