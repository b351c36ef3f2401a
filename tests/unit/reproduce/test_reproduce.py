"""The conditions differ as they say, and a difference in the bytes is an error that names the members."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from build_tools.errors import NotReproducible
from build_tools.settings import Settings
from build_tools.wheels import reproduce as subject
from build_tools.wheels.reproduce import ODD, PLAIN, WARM, reproduce
from tests.synthetic_wheel import Wheel

SETTINGS = Settings(("gfx942",))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "build" / "cache").mkdir(parents=True)
    (root / "build" / "cache" / "amd.whl").write_bytes(b"AMD")
    (root / "pyproject.toml").write_text("")
    return root


class Builder:
    """Stands for the processes that build; keeps how each was started."""

    def __init__(self, change: Callable[[int, Wheel], None] = lambda number, wheel: None, code: int = 0) -> None:
        self.calls: list[dict[str, Any]] = []
        self.change, self.code = change, code

    def __call__(self, command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if "--output" not in command:
            return subprocess.CompletedProcess(command, 1, "", "no other user here")
        cwd = Path(options["cwd"])
        files = {path.relative_to(cwd).as_posix(): path.stat().st_mtime for path in cwd.rglob("*") if path.is_file()}
        self.calls.append({"files": files, **options})
        wheel = Wheel()
        self.change(len(self.calls), wheel)
        output = Path(command[command.index("--output") + 1])
        output.mkdir()
        path = wheel.write(output)
        return subprocess.CompletedProcess(command, self.code, json.dumps({"wheel": str(path)}), "the reason")


def run(tree: Path, monkeypatch: pytest.MonkeyPatch, builder: Builder) -> subject.Reproduction:
    monkeypatch.setattr(subprocess, "run", builder)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "77")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    return reproduce(tree, SETTINGS, tree / "build" / "reproduce", lambda line: None)


def test_equal_builds_are_reported_with_their_hash_and_leave_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(tree, monkeypatch, Builder())
    assert [built.conditions for built in found.wheels] == ["plain", "odd", "warm"]
    assert len({built.sha256 for built in found.wheels}) == 1
    assert not (tree / "build" / "reproduce").exists()


def test_every_condition_is_another_one(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder()
    run(tree, monkeypatch, builder)
    plain, odd, warm = builder.calls
    assert plain["cwd"] != odd["cwd"] == warm["cwd"]
    assert " " in str(odd["cwd"])
    assert len({call["umask"] for call in builder.calls}) == 3
    for name in ("TZ", "LC_ALL", "HOME"):
        assert len({call["env"][name] for call in builder.calls}) == 3
    assert "SOURCE_DATE_EPOCH" not in plain["env"]
    assert odd["env"]["SOURCE_DATE_EPOCH"] != warm["env"]["SOURCE_DATE_EPOCH"]
    assert set(odd["files"].values()) - {plain["files"]["pyproject.toml"]} >= {1_000_000_000}
    assert odd["files"].keys() == plain["files"].keys() == {"pyproject.toml", "build/cache/amd.whl"}
    assert all(call["env"]["PIP_INDEX_URL"] == "https://index.example/simple" for call in builder.calls)
    assert all(call["env"]["AITER_MLA_AOT_ARCHS"] == "gfx942" for call in builder.calls)


def test_a_condition_that_cannot_be_varied_is_named_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert run(tree, monkeypatch, Builder()).not_varied == ["user: no other user here"]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert run(tree, monkeypatch, Builder()).not_varied == ["user: not run as root"]


def test_a_difference_is_an_error_that_names_run_and_member(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(number: int, wheel: Wheel) -> None:
        if number == 3:
            wheel.files["aiter_mla_aot/__init__.py"] = b"made at another time"

    with pytest.raises(NotReproducible, match="the wheels differ") as caught:
        run(tree, monkeypatch, Builder(change))
    assert "plain and warm: aiter_mla_aot/__init__.py:" in caught.value.cause
    assert "plain and odd" not in caught.value.cause
    assert not (tree / "build" / "reproduce").exists()


def test_another_version_in_the_file_name_is_a_difference(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(number: int, wheel: Wheel) -> None:
        wheel.file_name = wheel.file_name.replace("0.1.0", f"0.1.{number}")

    with pytest.raises(NotReproducible) as caught:
        run(tree, monkeypatch, Builder(change))
    assert "plain and odd: file names" in caught.value.cause


def test_a_build_that_fails_under_a_condition_is_an_error_with_its_reason(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotReproducible, match="under the plain conditions failed") as caught:
        run(tree, monkeypatch, Builder(code=1))
    assert caught.value.cause == "the reason"


def test_the_warm_build_reuses_the_odd_tree() -> None:
    assert (PLAIN.warm, ODD.warm, WARM.warm) == (False, False, True)
    assert WARM.place == ODD.place != PLAIN.place
