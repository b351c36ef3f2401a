"""The tiers of the test command: how each ends, what that means for the exit code, and that none is left out in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomllib

from build_tools import tiers
from build_tools.commands import test as command
from build_tools.environment import system_tools
from build_tools.environment.system_tools import SystemTool
from build_tools.tiers import Ended, Outcome, Tier

ROOT = Path(__file__).resolve().parents[3]

NOWHERE = SystemTool("no-such-command", ("no-such-package",))


def silent(_: str) -> None:
    pass


def run(tmp_path: Path, *command_line: str, prints: str | None = None, tool: SystemTool | None = None) -> Ended:
    return tiers.run(tmp_path, Tier("tier", command_line, prints, tool), tmp_path / "x.whl", tmp_path, silent)


def test_a_command_that_succeeds_passes_and_one_that_fails_fails_with_its_exit_code(tmp_path: Path) -> None:
    assert run(tmp_path, "true").outcome is Outcome.PASSED
    ended = run(tmp_path, "false")
    assert (ended.outcome, ended.why) == (Outcome.FAILED, "exit code 1")


def test_pytest_without_any_test_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    assert run(tmp_path, "{bin}/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests").outcome is Outcome.FAILED


def test_output_that_must_be_exact_is_compared(tmp_path: Path) -> None:
    assert run(tmp_path, "echo", "one", prints="one\n").outcome is Outcome.PASSED
    ended = run(tmp_path, "echo", "two", prints="one\n")
    assert ended.outcome is Outcome.FAILED
    assert "two" in ended.why


def test_a_tier_whose_tool_cannot_be_had_did_not_run_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    ended = run(tmp_path, "true", tool=NOWHERE)
    assert ended.outcome is Outcome.NOT_RUN
    assert "no-such-command is not installed" in ended.why


def test_a_tool_on_the_path_is_not_installed_again() -> None:
    assert system_tools.ensure(SystemTool("true", ("coreutils",)), pytest.fail) is None


@pytest.mark.parametrize("found", [True, False])
def test_a_compiler_without_the_library_it_needs_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    compiler, library = tmp_path / "compiler", tmp_path / "libneeded.so"
    compiler.write_text(f'#!/bin/sh\necho "{library if found else library.name}"\n', encoding="ascii")
    compiler.chmod(0o755)
    library.touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    why = system_tools.ensure(SystemTool("compiler", ("compiler-package", "library-package"), library.name), pytest.fail)
    assert why is None if found else why is not None and "compiler with libneeded.so is not installed" in why


def test_a_tier_that_did_not_run_is_a_failure_only_on_an_integration_service() -> None:
    passed, failed, not_run = (Ended(outcome.value, outcome) for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.NOT_RUN))
    assert [tiers.exit_code([passed], ci) for ci in (False, True)] == [0, 0]
    assert [tiers.exit_code([passed, not_run], ci) for ci in (False, True)] == [0, 1]
    assert [tiers.exit_code([passed, failed], ci) for ci in (False, True)] == [1, 1]


def test_the_closing_table_names_every_tier_and_counts_them() -> None:
    text = command.table([Ended("one", Outcome.PASSED, 1.25), Ended("two", Outcome.NOT_RUN, why="no tool"), Ended("three", Outcome.FAILED)])
    assert [line.split()[0] for line in text.splitlines()] == ["one", "two", "three", "tiers:"]
    assert "no tool" in text
    assert text.splitlines()[-1] == "tiers: 1 passed, 1 failed, 1 not run"


def test_the_tiers_have_names_of_their_own_and_the_tests_are_all_in_one() -> None:
    names = [tier.name for tier in tiers.TIERS]
    assert len(set(names)) == len(names)
    folders = [part for tier in tiers.TIERS for part in tier.command if part.startswith("tests/")]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(folders) == set(settings["tool"]["pytest"]["ini_options"]["testpaths"])
