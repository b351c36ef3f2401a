"""Running on an executor: order, memory of outcomes, progress, executors by name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from pathlib import Path

import pytest

from build_tools.errors import NotWritable
from build_tools.prove import session as module
from build_tools.prove.bars import Errors
from build_tools.prove.case import Case, Recipe
from build_tools.prove.errors import ExecutorUnusable
from build_tools.prove.execute import Subject
from build_tools.prove.libraries import Libraries
from build_tools.prove.outcome import Outcome
from build_tools.prove.session import Session, Store, make_executor

SUBJECT = Subject("gfx942", "e4m3fnuz", "12" * 32, b"", "k", 288)
RECIPE = Recipe("persistent", "fp8", "fp8", 16, 1)
CASES = [Case(16, (1,), (length,)) for length in range(1, 30)]
LIBRARIES = Libraries(Path("emulator"), Path("planner"))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """Cases that workers ran; the outcome tells the case's length."""
    found: list[Case] = []

    def run_cases(libraries: Libraries, subject: Subject, recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        found.extend(cases)
        return [Outcome("right", Errors(case.kv_lens[0] / 1000, 0.0, None, False)) for case in cases]

    monkeypatch.setattr(module, "run_cases", run_cases)
    return found


def outputs(outcomes: Sequence[Outcome]) -> list[float]:
    return [outcome.errors.output for outcome in outcomes if outcome.errors is not None]


def test_outcomes_come_in_the_order_of_the_cases(ran: list[Case], tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as executor:
        outcomes = Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[::-1])
    assert outputs(outcomes) == [case.kv_lens[0] / 1000 for case in CASES[::-1]]
    assert len(ran) == len(CASES)


def test_what_is_known_is_not_run_again(ran: list[Case], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        first = Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:10])
        again = Session(executor, LIBRARIES, Store(tmp_path))
        assert again.run(SUBJECT, RECIPE, CASES) == first + again.run(SUBJECT, RECIPE, CASES[10:])
    assert len(ran) == len(CASES)
    assert again.ran == len(CASES) - 10


def test_an_interrupted_line_is_run_again(ran: list[Case], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:4])
        (file,) = tmp_path.iterdir()
        file.write_text(file.read_text()[:-30])
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:4])
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:4])
    assert len(ran) == 5


def test_other_bytes_have_other_outcomes(ran: list[Case], tmp_path: Path) -> None:
    other = Subject("gfx942", "e4m3fnuz", "34" * 32, b"", "k", 288)
    with ThreadPoolExecutor(2) as executor:
        session = Session(executor, LIBRARIES, Store(tmp_path))
        session.run(SUBJECT, RECIPE, CASES[:3])
        session.run(other, RECIPE, CASES[:3])
    assert len(ran) == 6


def test_progress_counts_every_case(ran: list[Case], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor:
        Session(executor, LIBRARIES, Store(tmp_path), lambda done, asked: seen.append((done, asked))).run(SUBJECT, RECIPE, CASES)
    assert seen[-1] == (len(CASES), len(CASES))
    assert len(ran) == len(CASES)


def threads() -> Executor:
    return ThreadPoolExecutor(1)


def test_an_executor_is_made_by_its_name() -> None:
    with make_executor(f"{__name__}:threads", 1) as executor:
        assert executor.submit(int, "7").result() == 7


@pytest.mark.parametrize("name", ["no.such.module:f", "json:nothing", "json", "builtins:int"])
def test_a_name_that_makes_no_executor_is_an_error(name: str) -> None:
    with pytest.raises(ExecutorUnusable):
        make_executor(name, 1)


def test_a_process_that_ended_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def killed(*_: object) -> list[Outcome]:
        raise BrokenExecutor("a process was killed")

    monkeypatch.setattr(module, "run_cases", killed)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ExecutorUnusable, match="ended"):
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:2])


@pytest.mark.parametrize("line", [b"\xff\xfe", b"[" * 100_000])
def test_damaged_lines_are_passed_over(ran: list[Case], tmp_path: Path, line: bytes) -> None:
    with ThreadPoolExecutor(2) as executor:
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:2])
        (file,) = tmp_path.iterdir()
        file.write_bytes(line + b"\n" + file.read_bytes())
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:2])
        assert len(ran) == 2
        file.unlink()
        file.mkdir()
        with pytest.raises(NotWritable):
            Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:2])


def test_lines_of_another_shape_are_passed_over(ran: list[Case], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:2])
        (file,) = tmp_path.iterdir()
        file.write_text(file.read_text() + '[]\n{}\n{"key": "k", "outcome": {"other": 1}}\n')
        Session(executor, LIBRARIES, Store(tmp_path)).run(SUBJECT, RECIPE, CASES[:2])
    assert len(ran) == 2
