"""Runs cases on any executor of concurrent.futures, remembers their outcomes on disk, and counts."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from build_tools.build_graph.imports import sources
from build_tools.environment.pip_run import report_os_errors

from .case import Case, Recipe, key
from .device import Emulator
from .errors import ExecutorUnusable
from .execute import Bench, Subject
from .libraries import Libraries
from .outcome import Outcome
from .planner import Planner
from .semantics import SEMANTICS_VERSION

CHUNK: Final = 6
"""Cases of one call of the executor."""

_benches: dict[tuple[str, str], Bench] = {}


def _bench(libraries: Libraries) -> Bench:
    """This process's bench; the libraries are loaded once."""
    name = (str(libraries.emulator), str(libraries.planner))
    if name not in _benches:
        _benches[name] = Bench(Emulator(libraries.emulator), Planner(libraries.planner))
    return _benches[name]


def run_cases(libraries: Libraries, subject: Subject, recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
    """What a worker does."""
    bench = _bench(libraries)
    return [bench.run(subject, recipe, case) for case in cases]


class Store:
    """Outcomes on disk, one file for each object and recipe; lines are added as outcomes come."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, Outcome]] = {}
        self._lock = threading.Lock()

    def _file(self, subject: Subject, recipe: Recipe) -> Path:
        return self._folder / f"{subject.sha256[:16]}-{key(recipe.to_json(), subject.arch, subject.symbol)[:16]}.jsonl"

    def load(self, subject: Subject, recipe: Recipe) -> dict[str, Outcome]:
        """Outcomes by the key of their case. A line that is not whole, as an interrupted run may leave one, is passed over."""
        path = self._file(subject, recipe)
        with self._lock:
            if path.name not in self._known:
                found = {}
                with report_os_errors(path):
                    lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
                for line in lines:
                    try:
                        row = json.loads(line)
                        found[row["key"]] = Outcome.from_json(row["outcome"])
                    except (ValueError, KeyError, TypeError, RecursionError):
                        continue
                self._known[path.name] = found
            return self._known[path.name]

    def add(self, subject: Subject, recipe: Recipe, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> None:
        """Remembers outcomes."""
        known = self.load(subject, recipe)
        path = self._file(subject, recipe)
        with self._lock, report_os_errors(self._folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                # An interrupted run may have left a line without its end.
                file.write("\n" if file.tell() > 0 else "")
                for case, outcome in zip(cases, outcomes, strict=True):
                    name = key(case.to_json())
                    known[name] = outcome
                    file.write(json.dumps({"key": name, "outcome": outcome.to_json()}, sort_keys=True) + "\n")


def cache_folder(root: Path, libraries: Libraries) -> Path:
    """Where outcomes are kept: apart for other libraries, and for other sources of what runs a case."""
    tree = Path(__file__).resolve().parents[2]
    run_by = ("build_tools/prove/", "aiter_mla_aot/kernarg.py")
    made_of = [tree / path for path in sources(tree, "build_tools.prove.execute") if path.startswith(run_by)]
    name = key(*(hashlib.sha256(path.read_bytes()).hexdigest() for path in (libraries.emulator, libraries.planner, *made_of)))
    return root / f"v{SEMANTICS_VERSION}-{name[:12]}"


class Session:
    """Runs cases for many callers at a time; ``progress`` hears of every case."""

    def __init__(self, executor: Executor, libraries: Libraries, store: Store, progress: Callable[[int, int], None] | None = None) -> None:
        self._executor, self._libraries, self._store = executor, libraries, store
        self._progress = progress
        self._lock = threading.Lock()
        self._asked = self._done = 0
        self.ran = 0

    def run(self, subject: Subject, recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        """Outcomes of the cases, in their order; known ones are not run again."""
        known = self._store.load(subject, recipe)
        todo = [case for case in dict.fromkeys(cases) if key(case.to_json()) not in known]
        self._count(asked=len(todo))
        chunks = [todo[place : place + CHUNK] for place in range(0, len(todo), CHUNK)]
        futures = [self._executor.submit(run_cases, self._libraries, subject, recipe, chunk) for chunk in chunks]
        for chunk, future in zip(chunks, futures, strict=True):
            self._store.add(subject, recipe, chunk, _result(future))
            self._count(done=len(chunk))
        return [known[key(case.to_json())] for case in cases]

    def _count(self, asked: int = 0, done: int = 0) -> None:
        with self._lock:
            self._asked += asked
            self._done += done
            self.ran += done
            if self._progress is not None:
                self._progress(self._done, self._asked)


def _result(future: Future[list[Outcome]]) -> list[Outcome]:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise ExecutorUnusable(
            "a process of the proof ended before its work was done",
            cause=f"{error}: killed from outside, perhaps for want of memory",
            remedy="run the command again, with fewer --jobs: what is known is not run again",
        ) from error


def make_executor(name: str | None, jobs: int) -> Executor:
    """The executor that ``module:factory`` makes, or processes of this machine.

    Raises ``ExecutorUnusable``.
    """
    if name is None:
        # BLAS would start threads in every process.
        for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
        return ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))
    module, _, factory = name.partition(":")
    try:
        made: Any = getattr(importlib.import_module(module), factory)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ExecutorUnusable(
            f"executor {name!r}: {error}", cause="no such factory", remedy="give module:factory, callable without arguments"
        ) from error
    if not hasattr(made, "submit"):
        raise ExecutorUnusable(
            f"executor {name!r} has no submit", cause="not an executor", remedy="give a factory of a concurrent.futures executor"
        )
    executor: Executor = made
    return executor
