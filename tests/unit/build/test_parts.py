"""Compiled parts are shared by content, and damage is never restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_tools.build_graph import parts
from build_tools.errors import NotWritable

OUTPUTS = ("obj/a.o", "obj/b.o")


def tree(folder: Path, *contents: bytes) -> Path:
    (folder / "obj").mkdir(parents=True)
    for output, data in zip(OUTPUTS, contents, strict=False):
        (folder / output).write_bytes(data)
    return folder


def test_outputs_reach_another_tree(tmp_path: Path) -> None:
    parts.keep(tmp_path / "parts", "k", tree(tmp_path / "one", b"a", b"b"), OUTPUTS)
    other = tree(tmp_path / "two")
    assert parts.restore(tmp_path / "parts", "k", other, OUTPUTS)
    assert [(other / output).read_bytes() for output in OUTPUTS] == [b"a", b"b"]
    assert not parts.restore(tmp_path / "parts", "another key", other, OUTPUTS)


@pytest.mark.parametrize("damage", ["0", "1", "hashes.json"])
def test_damaged_and_missing_parts_are_compiled_again(tmp_path: Path, damage: str) -> None:
    parts.keep(tmp_path / "parts", "k", tree(tmp_path / "one", b"a", b"b"), OUTPUTS)
    other = tree(tmp_path / "two")
    (tmp_path / "parts" / "k" / damage).write_bytes(b"x")
    assert not parts.restore(tmp_path / "parts", "k", other, OUTPUTS)
    (tmp_path / "parts" / "k" / damage).unlink()
    assert not parts.restore(tmp_path / "parts", "k", other, OUTPUTS)
    assert list((other / "obj").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "parts").write_bytes(b"")
    with pytest.raises(NotWritable):
        parts.keep(tmp_path / "parts", "k", tree(tmp_path / "one", b"a", b"b"), OUTPUTS)


def test_without_the_variable_nothing_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(parts.VARIABLE, raising=False)
    assert parts.store() is None
