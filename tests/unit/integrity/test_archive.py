"""The archive reader accepts one plain form only, and no changed byte passes unnoticed."""

from __future__ import annotations

import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from aiter_mla_aot.integrity import archive, verify_wheel
from tests.synthetic_wheel import Wheel, entry

Damage = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Wheel(["gfx942"], "0.1.0+gfx942").write(tmp_path_factory.mktemp("good"))


def findings(data: bytes, path: Path) -> list[str]:
    path.write_bytes(data)
    return [item.code for item in verify_wheel(path).findings]


def header_places(data: bytes) -> list[int]:
    """Places of every byte outside the packed contents: local headers, directory and end record."""
    entries = archive.entries(data)
    places: list[int] = []
    for item in entries:
        places += range(item.offset, item.offset + 30 + len(item.name))
    last = entries[-1]
    places += range(last.offset + 30 + len(last.name) + last.packed, len(data))
    return places


def test_every_flipped_byte_of_the_headers_is_found(good: Path, tmp_path: Path) -> None:
    data = good.read_bytes()
    generator = random.Random(1)
    for place in header_places(data):
        changed = bytearray(data)
        changed[place] ^= generator.randrange(1, 256)
        assert findings(bytes(changed), tmp_path / good.name), f"byte {place} was changed and nothing was found"


def test_flipped_bits_of_the_contents_are_found_or_change_nothing(good: Path, tmp_path: Path) -> None:
    data = good.read_bytes()
    before = [archive.read(data, item) for item in archive.entries(data)]
    generator = random.Random(2)
    for _ in range(1500):
        changed = bytearray(data)
        changed[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        if not findings(bytes(changed), tmp_path / good.name):
            # Unused bits at the end of a deflate stream: what unpacks is the same, byte for byte.
            assert [archive.read(bytes(changed), item) for item in archive.entries(bytes(changed))] == before


@pytest.mark.parametrize("keep", [0, 1, 4, 21, 22, 100, 0.5, 0.9, 0.999])
def test_a_truncated_wheel_is_found(good: Path, tmp_path: Path, keep: float) -> None:
    data = good.read_bytes()
    length = keep if isinstance(keep, int) else int(len(data) * keep)
    assert findings(data[:length], tmp_path / good.name) == ["MLA208"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"not a zip archive" * 100,
        lambda data: b"#!/bin/sh\n" + data,
        lambda data: data + b"tail",
        lambda data: data[:-2] + b"\x05\x00hello",
        lambda data: data.replace(b"aiter_mla_aot/py.typed", b"aiter_mla_aot/../typed"),
        lambda data: data.replace(b"aiter_mla_aot/py.typed", b"/iter_mla_aot/py.typed"),
        lambda data: data.replace(b"aiter_mla_aot/py.typed", b"aiter_mla_aot\\py.typed"),
        lambda data: data.replace(b"aiter_mla_aot/py.typed", b"c:ter_mla_aot/py.typed"),
        lambda data: data.replace(b"aiter_mla_aot/py.typed", b"aiter_mla_aot/py\0typed"),
    ],
    ids=["text", "prefix", "tail", "comment", "parent", "absolute", "backslash", "drive", "nul"],
)
def test_an_archive_of_another_form_is_found(good: Path, tmp_path: Path, damage: Damage) -> None:
    assert findings(damage(good.read_bytes()), tmp_path / good.name) == ["MLA208"]


def test_a_missing_file_and_a_directory_are_errors_of_the_wheel(tmp_path: Path) -> None:
    assert [item.code for item in verify_wheel(tmp_path / "gone.whl").findings] == ["MLA208"]
    assert [item.code for item in verify_wheel(tmp_path).findings] == ["MLA208"]


def write(path: Path, names: list[str], data: bytes = b"x") -> bytes:
    with zipfile.ZipFile(path, "w") as target:
        for name in names:
            target.writestr(entry(name), data, zipfile.ZIP_DEFLATED)
    return path.read_bytes()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", [["a/b", "a/b"], ["a/b", "A/B"]])
def test_a_repeated_name_is_found(tmp_path: Path, names: list[str]) -> None:
    assert findings(write(tmp_path / "a.whl", names), tmp_path / "a.whl") == ["MLA208"]


def test_a_symbolic_link_is_found(tmp_path: Path) -> None:
    info = entry("aiter_mla_aot/link")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as target:
        target.writestr(info, b"/etc/passwd")
    assert [item.code for item in verify_wheel(tmp_path / "a.whl").findings] == ["MLA208"]


def test_a_bomb_is_refused_by_what_it_declares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(tmp_path / "a.whl", ["aiter_mla_aot/zeros"], bytes(1 << 20))
    assert len(data) < 4096
    monkeypatch.setattr(archive, "MAX_CONTENT_BYTES", 1 << 19)
    assert findings(data, tmp_path / "a.whl") == ["MLA208"]


def test_a_bomb_that_declares_less_than_it_holds_is_not_unpacked(tmp_path: Path) -> None:
    data = write(tmp_path / "a.whl", ["aiter_mla_aot/zeros"], bytes(1 << 20))
    lying = data.replace(struct.pack("<I", 1 << 20), struct.pack("<I", 10))
    item = archive.entries(lying)[0]
    result = archive.read(lying, item)
    assert not isinstance(result, bytes)
    assert "11 bytes or more" in result.found


def test_an_oversized_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ARCHIVE_BYTES", 100)
    assert findings(bytes(101), tmp_path / "a.whl") == ["MLA208"]


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ENTRIES", 2)
    assert findings(write(tmp_path / "a.whl", ["a", "b", "c"]), tmp_path / "a.whl") == ["MLA208"]


def test_an_archive_with_data_descriptors_or_extra_fields_is_refused(tmp_path: Path) -> None:
    info = entry("aiter_mla_aot/x")
    info.extra = b"\x01\x00\x00\x00"
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as target:
        target.writestr(info, b"x")
    assert [item.code for item in verify_wheel(tmp_path / "a.whl").findings] == ["MLA208"]
