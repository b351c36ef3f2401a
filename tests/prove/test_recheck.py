"""A sample of the evidence, run again: the same classes every time, and other bits are an error that names the class."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from build_tools.prove import recheck
from build_tools.prove import session as module
from build_tools.prove.bars import Errors
from build_tools.prove.battery import prove
from build_tools.prove.case import Case, Recipe
from build_tools.prove.errors import EvidenceDiffers
from build_tools.prove.evidence import Evidence
from build_tools.prove.execute import Subject
from build_tools.prove.findings import finding_of
from build_tools.prove.libraries import Libraries
from build_tools.prove.outcome import Outcome
from build_tools.prove.session import Session, Store

SUBJECT = Subject("gfx942", "e4m3fnuz", "ab" * 32, b"", "k", 288)
RECIPE = Recipe("persistent", "fp8", "fp8", 16, 2)


def kernel(cases: Sequence[Case]) -> list[Outcome]:
    """Right at page 1; the bits depend on the lengths."""
    right = Errors(0.01, 0.02, None, False)
    return [
        Outcome("right", right, digest=f"{sum(case.kv_lens):016x}") if case.page_size == 1 else Outcome("wrong", right) for case in cases
    ]


@pytest.fixture(scope="module")
def recorded() -> Evidence:
    return Evidence("gfx942", SUBJECT.sha256, "k.co", "full", (finding_of(prove(RECIPE, kernel)),))


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, recorded: Sequence[recheck.Recorded], changed: Case | None, status: str) -> int:
    def run_cases(_: Libraries, __: Subject, ___: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        return [
            Outcome(status, outcome.errors, "a detail", "f" * 16) if case == changed else outcome
            for case, outcome in zip(cases, kernel(cases), strict=True)
        ]

    monkeypatch.setattr(module, "run_cases", run_cases)
    with ThreadPoolExecutor(2) as executor:
        session = Session(executor, Libraries(Path("emulator"), Path("planner")), Store(folder))
        return recheck.recheck(session, SUBJECT, recorded)


def test_a_sample_is_the_same_every_time_and_spread_over_classes(recorded: Evidence) -> None:
    few, more, every = (list(recheck.sample(recorded, count)) for count in (1, 5, 0))
    assert few == list(recheck.sample(recorded, 1))
    assert [few[0], len(more)] == [more[0], 5]
    assert len(every) == len(recorded.findings[0]["right"]) > 5


def test_the_same_bits_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recorded: Evidence) -> None:
    sample = list(recheck.sample(recorded, 3))
    assert run(monkeypatch, tmp_path, sample, None, "right") == sum(len(row.cases()) for row in sample)


@pytest.mark.parametrize(("status", "told"), [("right", "recorded"), ("wrong", "wrong: a detail"), ("fault", "fault: a detail")])
def test_other_bits_of_any_run_are_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recorded: Evidence, status: str, told: str
) -> None:
    (row,) = recheck.sample(recorded, 1)
    with pytest.raises(EvidenceDiffers) as caught:
        run(monkeypatch, tmp_path, [row], row.cases()[-1], status)
    assert told in caught.value.cause
    assert f"item {row.member.item}" in caught.value.fact
