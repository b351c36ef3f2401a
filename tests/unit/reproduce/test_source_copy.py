"""A copy of the source tree holds what a build from the tree sees."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from build_tools.errors import NotReproducible
from build_tools.wheels.source_copy import copy


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree with space"
    (root / "sub").mkdir(parents=True)
    for name, text in ((".gitignore", "/build/\n"), ("one", "1"), ("sub/two", "2"), ("three", "3")):
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "build").mkdir()
    (root / "build" / "left over").write_text("x")
    return root


def names(root: Path) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts
    )


def test_a_clean_tree_is_clean_in_its_copy_and_build_output_stays_behind(tree: Path, tmp_path: Path) -> None:
    copy(tree, tmp_path / "deep" / "copy")
    assert names(tmp_path / "deep" / "copy") == [".gitignore", "one", "sub/two", "three"]
    assert git(tmp_path / "deep" / "copy", "status", "--porcelain") == ""


def test_uncommitted_changes_are_in_the_copy_and_in_a_copy_of_it(tree: Path, tmp_path: Path) -> None:
    (tree / "one").write_text("changed")
    (tree / "three").unlink()
    (tree / "sub" / "new file").write_text("new")
    git(tree, "add", "one")
    copy(tree, tmp_path / "first")
    copy(tmp_path / "first", tmp_path / "second")
    for place in (tmp_path / "first", tmp_path / "second"):
        assert names(place) == [".gitignore", "one", "sub/new file", "sub/two"]
        assert (place / "one").read_text() == "changed"
        assert sorted(line[3:] for line in git(place, "status", "--porcelain").splitlines()) == ['"sub/new file"', "one", "three"]


def test_a_tree_without_git_is_copied_without_build_output(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    (root / "build").mkdir(parents=True)
    (root / "build" / "x").write_text("x")
    (root / "one").write_text("1")
    copy(root, tmp_path / "copy")
    assert names(tmp_path / "copy") == ["one"]


def test_a_damaged_work_tree_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    with pytest.raises(NotReproducible, match="git clone failed"):
        copy(tmp_path / "tree", tmp_path / "copy")
