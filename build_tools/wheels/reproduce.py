"""Builds the wheel more than once under conditions as different as one machine allows, and compares the bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aiter_mla_aot.integrity import digest
from build_tools.build_graph.layout import CACHE
from build_tools.errors import NotReproducible
from build_tools.settings import Settings
from build_tools.wheels import archive_diff, source_copy

Report = Callable[[str], None]

OTHER_USER: Final = 65534
_COMMAND: Final = "import sys; from build_tools import entry; sys.exit(entry.dispatch(sys.argv[1:]))"
"""Runs the copy's own command in this interpreter: the copy needs no environment of its own."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How one build differs from the others. ``place`` is the directory of its source tree; ``warm`` builds in it once more."""

    name: str
    place: str
    umask: int
    variables: Mapping[str, str]
    file_time: int | None = None
    other_user: bool = False
    warm: bool = False


PLAIN: Final = Conditions("plain", "a", 0o022, {"TZ": "UTC", "LC_ALL": "C.UTF-8"})
ODD: Final = Conditions(
    "odd",
    "b with space/deep/er/and ünusual/tree",
    0o077,
    {
        "TZ": "Pacific/Chatham",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "SOURCE_DATE_EPOCH": "1",
        "PYTHONHASHSEED": "4711",
        "CFLAGS": "-O0 -g3 -DODD",
        "CPATH": "/nonexistent",
        "COLUMNS": "33",
    },
    file_time=1_000_000_000,
    other_user=True,
)
WARM: Final = Conditions(
    "warm", ODD.place, 0o027, {"TZ": "America/St_Johns", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "2147483647"}, other_user=True, warm=True
)


@dataclass(frozen=True, slots=True)
class Built:
    """One wheel that was built."""

    conditions: str
    path: Path
    sha256: str


@dataclass(slots=True)
class Reproduction:
    """What was built, and which conditions could not be varied on this machine."""

    wheels: list[Built] = field(default_factory=list)
    not_varied: list[str] = field(default_factory=list)


def reproduce(
    root: Path, settings: Settings, scratch: Path, report: Report, runs: Sequence[Conditions] = (PLAIN, ODD, WARM)
) -> Reproduction:
    """Build under each of the conditions and compare; ``scratch`` is emptied first and removed at the end.

    Raises ``NotReproducible`` with the members that differ, or where a build fails.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    result = Reproduction()
    try:
        _copies(root, [scratch / run.place for run in runs if not run.warm])
        wheels = []
        for run in runs:
            tree = scratch / run.place
            command = _as_user(tree, run, result)
            report(f"building under the {run.name} conditions")
            wheels.append(_build(tree, scratch / f"home-{run.name}", run, command, settings))
        contents = [path.read_bytes() for path in wheels]
        result.wheels = [Built(run.name, path, digest(data)) for run, path, data in zip(runs, wheels, contents, strict=True)]
        _compare(result.wheels, contents)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return result


def _copies(root: Path, trees: Sequence[Path]) -> None:
    """Make every copy before the first build, each from the one before: an edit of the tree meanwhile reaches all or none."""
    source = root
    for tree in trees:
        source_copy.copy(source, tree)
        source = tree
    for tree in trees:
        if (root / CACHE).is_dir():
            # AMD's wheel, which is checked by hash wherever it comes from: fetching it again would vary nothing.
            shutil.copytree(root / CACHE, tree / CACHE)


def _as_user(tree: Path, run: Conditions, result: Reproduction) -> list[str]:
    """The start of a command line that runs as another user, or nothing where that is impossible."""
    if run.file_time is not None:
        for path in sorted(tree.rglob("*")):
            os.utime(path, (run.file_time, run.file_time), follow_symlinks=False)
    if not run.other_user:
        return []
    prefix = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
    # Reading, and nothing else, stays allowed: the interpreter may lie in a directory that is closed to others.
    prefix += ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    reason = "user: not run as root"
    if os.geteuid() == 0:
        reason = _probe([*prefix, sys.executable, "-c", "import os, setuptools; os.stat('pyproject.toml')"], tree)
    if reason:
        if reason not in result.not_varied:
            result.not_varied.append(reason)
        return []
    for path in (tree, *tree.rglob("*")):
        os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)
    return prefix


def _probe(command: Sequence[str], tree: Path) -> str:
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "user: setpriv is not installed"
    return f"user: {done.stderr.strip()[-200:]}" if done.returncode else ""


def _build(tree: Path, home: Path, run: Conditions, prefix: Sequence[str], settings: Settings) -> Path:
    home.mkdir(parents=True)
    if prefix:
        os.chown(home, OTHER_USER, OTHER_USER)
    environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name in ("PATH", "LD_LIBRARY_PATH")}
    environment |= {"HOME": str(home), "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"} | settings.environment()
    environment.update(run.variables)
    command = [*prefix, sys.executable, "-c", _COMMAND, "wheel", "--build-only", "--json", "--output", str(home / "dist")]
    done = subprocess.run(
        command, cwd=tree, env=environment, umask=run.umask, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise NotReproducible(
            f"the build under the {run.name} conditions failed",
            cause=done.stderr.strip()[-2000:],
            remedy="a build must not depend on its place, user, umask, locale, HOME or clock",
        )
    return Path(json.loads(done.stdout)["wheel"])


def _compare(wheels: Sequence[Built], contents: Sequence[bytes]) -> None:
    first = wheels[0]
    lines = []
    for built, data in zip(wheels[1:], contents[1:], strict=True):
        found = archive_diff.differences(contents[0], data)
        if built.path.name != first.path.name:
            found.insert(0, f"file names {first.path.name} and {built.path.name}")
        lines += [f"{first.conditions} and {built.conditions}: {line}" for line in found]
    if lines:
        raise NotReproducible(
            "the wheels differ",
            cause="\n".join(lines),
            remedy="find what the member takes from the machine; docs/building.md lists the conditions",
        )
