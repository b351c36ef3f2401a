"""Differing archives are told apart by member."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from build_tools.wheels.archive_diff import differences
from tests.synthetic_wheel import entry


def pack(
    path: Path, files: Mapping[str, bytes], date: tuple[int, int, int, int, int, int] = (2026, 11, 30, 0, 0, 0), level: int = 6
) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            info = entry(name)
            info.date_time = date
            archive.writestr(info, data, zipfile.ZIP_DEFLATED, level)
    return path.read_bytes()


FILES = {"a/one": b"1" * 500, "a/two": b"2" * 500}


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    return pack(tmp_path / "good", FILES)


def test_equal_archives_do_not_differ(tmp_path: Path, good: bytes) -> None:
    assert differences(good, pack(tmp_path / "other", FILES)) == []


def test_changed_bytes_are_placed(tmp_path: Path, good: bytes) -> None:
    (line,) = differences(good, pack(tmp_path / "other", FILES | {"a/two": b"2" * 499 + b"3"}))
    assert line.startswith("a/two: 500 and 500 bytes, from byte 499")


def test_missing_and_added_members_are_named(tmp_path: Path, good: bytes) -> None:
    found = differences(good, pack(tmp_path / "other", {"a/one": FILES["a/one"], "a/new": b""}))
    assert found == ["a/two: only in the first", "a/new: only in the second"]


def test_times_and_order_are_named(tmp_path: Path, good: bytes) -> None:
    assert differences(good, pack(tmp_path / "other", FILES, (2020, 1, 1, 0, 0, 0))) == ["a/one: another time", "a/two: another time"]
    assert differences(good, pack(tmp_path / "other", dict(reversed(FILES.items())))) == ["the order of the members"]


def test_another_compression_is_named(tmp_path: Path) -> None:
    text = {"a/one": bytes(range(256)) * 40 + b"abcabcabd" * 100}
    first, second = pack(tmp_path / "x", text, level=1), pack(tmp_path / "y", text, level=9)
    (line,) = differences(first, second)
    assert line.startswith("the same members, packed differently")


def test_what_is_no_archive_is_said_so(good: bytes) -> None:
    (line,) = differences(good, b"no archive")
    assert "unusual form" in line
