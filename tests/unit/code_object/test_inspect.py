"""``python3 -m build_tools inspect``: text, JSON and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from build_tools.code_object import read
from build_tools.code_object.errors import NotAnElf, WrongArch
from build_tools.entry import dispatch
from tests.synthetic_object import Kernel, build


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.co"
    path.write_bytes(build([Kernel(), Kernel("\x1b[31m", lds=0)], abiversion=4, e_flags=0xE4C))
    return path


def test_the_text_holds_the_facts_and_nothing_that_steers_a_terminal(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["inspect", str(path), "--arch", "gfx942"]) == 0
    text = capsys.readouterr().out
    for fact in (
        "gfx942:sramecc+:xnack-",
        "version 6",
        "needs ROCm 6.3",
        "_ZN4test6kernelE.kd",
        "LDS        65536",
        "arguments  end at 20",
        "agpr not stated",
    ):
        assert fact in text
    assert text.replace("\n", "").isprintable()


def test_the_json_is_the_whole_object(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["inspect", "--json", str(path)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["command"]) == (1, "inspect")
    assert answer["object"] == json.loads(json.dumps(read(path.read_bytes(), "a.co").to_json()))


def test_another_arch_than_the_wanted_one_is_an_error(path: Path) -> None:
    with pytest.raises(WrongArch, match="for gfx942, not for gfx950"):
        dispatch(["inspect", str(path), "--arch", "gfx950"])


def test_a_file_that_is_no_object_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.co"
    path.touch()
    with pytest.raises(NotAnElf, match=r"empty\.co"):
        dispatch(["inspect", str(path)])
