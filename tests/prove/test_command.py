"""The command line of prove: what it is given wrongly is an error before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_tools.build_graph import pipeline
from build_tools.code_object.errors import CodeObjectError
from build_tools.commands import prove as command
from build_tools.entry import dispatch
from build_tools.errors import SettingInvalid
from tests.prove.published import path_of


@pytest.fixture(autouse=True)
def nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(*_: object, **__: object) -> None:
        pytest.fail("something was built")

    monkeypatch.setattr(pipeline, "build", built)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--jobs", "0"),
        ("--jobs", "-1"),
        ("--jobs", "many"),
        ("--sample", "-1"),
        ("--arch", "gfx90a"),
        ("--check", "--arch", "gfx90a"),
        ("--surprise",),
    ],
)
def test_a_wrong_option_is_a_plain_error(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SettingInvalid):
        dispatch(["prove", *arguments])


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF", b"text" * 100])
def test_a_file_that_is_no_code_object_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "k.co"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CodeObjectError, match=r"k\.co"):
        dispatch(["prove", "--code-object", str(path)])


def test_an_object_of_another_arch_is_refused() -> None:
    path = path_of("gfx942", "mla_a8w8_qh16_qseqlen1_gqaratio16_ps")
    with pytest.raises(CodeObjectError, match="gfx942"):
        dispatch(["prove", "--code-object", str(path), "--arch", "gfx950"])


def test_a_pattern_that_matches_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_libraries", lambda _: None)
    with pytest.raises(SettingInvalid, match="no locked kernel"):
        dispatch(["prove", "--kernel", "nothing*"])
