"""A copy of the source tree as it is now, in another place: what a build from it would see."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from build_tools.errors import NotReproducible

_NOT_COPIED: Final = ("build", "dist", ".env", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis")


def copy(root: Path, target: Path) -> None:
    """Copy the tree ``root`` to ``target``, which does not exist yet.

    A git work tree is cloned, and its uncommitted changes are applied to the clone, so that both are equally clean or dirty.
    Raises ``NotReproducible`` if git cannot.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not (root / ".git").exists():
        shutil.copytree(root, target, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)
        return
    _git(root, "clone", "--quiet", "--no-hardlinks", "--", str(root), str(target))
    for line in _git(root, "status", "--porcelain", "--no-renames", "--untracked-files=all", "-z").split("\0"):
        name = line[3:]
        if not name:
            continue
        source, place = root / name, target / name
        if source.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place, follow_symlinks=False)
        else:
            place.unlink(missing_ok=True)


def _git(root: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-c", f"safe.directory={root}", "-c", f"safe.directory={root / '.git'}", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotReproducible("git is not installed", cause="the source tree is a git work tree", remedy="install git") from error
    if done.returncode != 0:
        raise NotReproducible(f"git {arguments[0]} failed", cause=done.stderr.strip(), remedy="repair the work tree")
    return done.stdout
