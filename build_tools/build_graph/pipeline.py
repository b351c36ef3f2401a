"""Runs the build graph: plans it, gives it to ninja, and turns the failure of a step into that step's own error."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiter_mla_aot.errors import MlaError
from build_tools.build_graph import graph, layout, plan, steps
from build_tools.environment.pip_run import report_os_errors
from build_tools.errors import StepFailed
from build_tools.providers.aiter import write
from build_tools.settings import Settings

Report = Callable[[str], None]
_STATUS: Final = "step %f of %t: "


@dataclass(frozen=True, slots=True)
class Result:
    """A finished build: the folder that holds the package, and the steps that did any work, in order."""

    stage: Path
    executed: tuple[str, ...]


def build(root: Path, settings: Settings, report: Report, kinds: Collection[str] = ()) -> Result:
    """Build the staged package; steps whose inputs did not change do no work.

    kinds: only the steps of these kinds, with what they need. One build at a time in a source tree; another waits. Raises
    ``BuildError`` kinds, among them those of the failed step.
    """
    where = layout.of(root, settings.archs)
    base = root / where.base
    with report_os_errors(root / "build"), _locked(root, report):
        base.mkdir(parents=True, exist_ok=True)
        planned = plan.steps(root, settings)
        steps.drop_damaged(root, planned, base / "stamps")
        graph.save(planned, root / where.graph)
        write(root / where.ninja, graph.ninja(planned, where.graph, sys.executable).encode())
        for name in ("journal", "error.json"):
            (base / name).unlink(missing_ok=True)
        targets = [output for step in planned if step.kind in kinds for output in step.outputs]
        _run_ninja(root, where, targets, report)
        journal = base / "journal"
        executed = tuple(journal.read_text(encoding="utf-8").split()) if journal.exists() else ()
    return Result(root / where.stage, executed)


def _run_ninja(root: Path, where: layout.Layout, targets: Sequence[str], report: Report) -> None:
    command = [sys.executable, "-m", "ninja", "-f", where.ninja, *targets]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NINJA_")}
    # The steps find build_tools in their working directory, and the packages of an isolated build where this process found them.
    environment |= {"NINJA_STATUS": _STATUS, "PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)])}
    lines = []
    merged = subprocess.STDOUT
    with subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=merged, text=True, errors="replace"
    ) as process:
        if process.stdout is not None:
            for line in process.stdout:
                lines.append(line.rstrip())
                if line.startswith(("step ", "build_tools: ")):
                    report(line.strip().removeprefix("build_tools: "))
    if process.returncode != 0:
        raise _failure(root / where.base, "\n".join(lines[-40:]))


def _failure(base: Path, output: str) -> MlaError:
    try:
        data = json.loads((base / "error.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return StepFailed("the build graph stopped", cause=output, remedy="read the messages above")
    kind = next((kind for kind in _kinds(MlaError) if kind.code == data["code"]), StepFailed)
    error = kind.__new__(kind)
    # Kinds of errors differ in how they are made, not in what they hold.
    MlaError.__init__(error, data["fact"], cause=data["cause"], remedy=data["remedy"])
    return error


def _kinds(kind: type[MlaError]) -> Iterator[type[MlaError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _kinds(child)


@contextmanager
def _locked(root: Path, report: Report) -> Iterator[None]:
    (root / "build").mkdir(exist_ok=True)
    with (root / "build" / "lock").open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("another build runs in this source tree: waiting")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
