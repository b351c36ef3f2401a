"""Version and date of a build: ``release.toml`` is their only source, and only the default clean build has a public version.

Local labels, in this order and joined by dots: ``<arch>`` (a wheel of one arch), ``aiter.<12 hex of the lock hash>`` (another
source or lock of AITER's objects), ``unproven`` (``allow-unproven``), ``dirty`` (the tree is not its commit).
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from build_tools.data import data_file
from build_tools.errors import SchemaDrift
from build_tools.providers import lock
from build_tools.settings import Settings

_FIELDS: Final = {"version": str, "source_date": datetime, "aiter_sha256": str}


@dataclass(frozen=True, slots=True)
class Release:
    """What ``release.toml`` says."""

    version: str
    source_date: datetime
    aiter_sha256: str

    @property
    def epoch(self) -> int:
        """SOURCE_DATE_EPOCH: the time of every file in the wheel."""
        return int(self.source_date.timestamp())

    @property
    def source_date_text(self) -> str:
        """The date as ``build_info.json`` has it."""
        return self.source_date.strftime("%Y-%m-%dT%H:%M:%SZ")


def read(root: Path) -> Release:
    """Read ``release.toml``. Raises ``DataError`` kinds."""
    path = root / "release.toml"
    data = data_file.load(path)
    if data.keys() != _FIELDS.keys() or any(not isinstance(data[name], kind) for name, kind in _FIELDS.items()):
        raise SchemaDrift(f"{path} is malformed", cause=f"it holds exactly {', '.join(_FIELDS)}", remedy="restore the file")
    if data["source_date"].tzinfo is None:
        raise SchemaDrift(f"{path}: source_date has no zone", cause="its time would depend on the machine", remedy="write it with Z")
    return Release(**data)


def version(root: Path, settings: Settings) -> str:
    """The version of a build, with its local labels."""
    release = read(root)
    hsa = root / "hsa"
    labels = list(settings.archs) if len(settings.archs) == 1 else []
    provider = lock.read_all(hsa, settings.archs)[0].provider
    if settings.aiter_source is not None or provider.sha256 != release.aiter_sha256:
        labels.append(f"aiter.{lock.digest(hsa, settings.archs)[:12]}")
    if settings.allow_unproven:
        labels.append("unproven")
    if is_dirty(root):
        labels.append("dirty")
    return release.version + ("+" + ".".join(labels) if labels else "")


def is_dirty(root: Path) -> bool:
    """Whether the tree may differ from a commit.

    A git work tree says so itself; a source distribution carries in its version whether it was made from a clean one;
    of any other tree nothing is known, which counts as dirty.
    """
    if (root / ".git").exists():
        # Command scope, so that a tree owned by another user is read too; no index refresh, no file system monitor.
        command = ["git", "-c", f"safe.directory={root}", "-c", "core.fsmonitor=false", "status", "--porcelain"]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {"GIT_OPTIONAL_LOCKS": "0"}
        try:
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, check=False)
        except FileNotFoundError:
            return True
        return done.returncode != 0 or bool(done.stdout.strip())
    try:
        lines = (root / "PKG-INFO").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return True
    for line in lines:
        if line.startswith("Version: "):
            return "dirty" in line.partition("+")[2].split(".")
    return True
