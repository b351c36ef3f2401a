"""One wheel for all integration tests, and the places that tests build and install in."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from build_tools import settings
from build_tools.wheels import smoke, wheel
from build_tools.wheels.smoke import Installation

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built_wheel() -> Path:
    """The wheel of this tree: the one that the test command built, else built now."""
    given = os.environ.get("AITER_MLA_AOT_WHEEL")
    if given:
        return Path(given)
    return wheel.build(ROOT, settings.read(ROOT / "hsa", {}), ROOT / "build" / "wheel", lambda _: None)


@pytest.fixture(scope="session")
def installed(built_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in an environment of its own: read-only, without torch and without pip."""
    return smoke.install(built_wheel, tmp_path_factory.mktemp("installed") / "env with space", lambda _: None)


@pytest.fixture
def make_tree(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes clean clones of the tree as it is now, with everything that was already built: nothing is left to do in one."""

    def make(name: str) -> Path:
        target = tmp_path / name
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for file in filter(None, listed.stdout.split("\0")):
            if (ROOT / file).is_file():
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, target / file)
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "state"]):
            subprocess.run(["git", *arguments], cwd=target, check=True, capture_output=True)
        for folder in ("objects", "generated", "checked", "obj", "lib", "stage", "stamps"):
            if (ROOT / "build" / folder).is_dir():
                shutil.copytree(ROOT / "build" / folder, target / "build" / folder)
        (target / "build").mkdir(exist_ok=True)
        if (ROOT / "build" / ".ninja_log").is_file():
            shutil.copy2(ROOT / "build" / ".ninja_log", target / "build" / ".ninja_log")
        # What these hold does not depend on the tree, and is large.
        for folder in ("cache", "zig"):
            (ROOT / "build" / folder).mkdir(parents=True, exist_ok=True)
            (target / "build" / folder).symlink_to(ROOT / "build" / folder)
        return target

    yield make
    shutil.rmtree(tmp_path, ignore_errors=True)
