"""Every kind of AITER source, and everything that is refused in one."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from build_tools.errors import LicenceMissing, ProviderError, SourceMissing, SourceUnreadable, SourceUnsafe
from build_tools.providers import archive as source_archive
from build_tools.providers import view as source_view
from build_tools.providers.aiter import open_source
from build_tools.providers.lock import Provider
from tests import aiter_source

OBJECT = "aiter_meta/hsa/gfx942/mla/mla_alpha.co"


def archive(path: Path, *entries: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries:
            file.writestr(name, data)
    return path


def everything(path: Path) -> dict[str, dict[str, bytes]]:
    source = open_source(path)
    return {arch: {file: source.read(arch, file) for file in source.files(arch)} for arch in source.archs()}


def test_a_checkout_is_a_source(tmp_path: Path) -> None:
    source = open_source(aiter_source.checkout(tmp_path / "aiter"))
    assert everything(tmp_path / "aiter") == aiter_source.OBJECTS
    assert source.licence() == aiter_source.LICENCE
    assert source.provider == Provider("aiter", "unknown", "checkout")


@pytest.mark.parametrize("given", ["aiter_meta", "."], ids=["aiter_meta itself", "the folder it is installed in"])
def test_an_installed_aiter_meta_is_a_source_with_the_version_and_licence_of_its_package(tmp_path: Path, given: str) -> None:
    aiter_source.checkout(tmp_path / "aiter_meta")
    (tmp_path / "aiter_meta" / "LICENSE").unlink()
    info = tmp_path / "amd_aiter-0.1.9.dist-info"
    info.mkdir()
    (info / "LICENSE").write_bytes(b"installed licence")
    source = open_source(tmp_path / given)
    assert everything(tmp_path / given) == aiter_source.OBJECTS
    if given == "aiter_meta":
        assert source.licence() == b"installed licence"
        assert source.provider == Provider("amd-aiter", "0.1.9", "installed")


def test_an_unpacked_wheel_is_a_source_with_the_version_and_licence_of_its_package(tmp_path: Path) -> None:
    with zipfile.ZipFile(aiter_source.wheel(tmp_path / "aiter.whl")) as file:
        file.extractall(tmp_path / "unpacked")
    source = open_source(tmp_path / "unpacked")
    assert everything(tmp_path / "unpacked") == aiter_source.OBJECTS
    assert source.licence() == aiter_source.LICENCE
    assert source.provider == Provider("amd-aiter", "0.1.9", "installed")


def test_a_wheel_is_a_source_with_its_version_licence_and_hash(tmp_path: Path) -> None:
    source = open_source(aiter_source.wheel(tmp_path / "aiter.whl"))
    assert everything(tmp_path / "aiter.whl") == aiter_source.OBJECTS
    assert source.licence() == aiter_source.LICENCE
    assert source.provider.version == "0.1.9"
    assert source.provider.kind == "wheel"
    assert len(source.provider.sha256 or "") == 64


def test_a_zip_file_of_a_checkout_is_a_source(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("aiter-main/hsa/gfx942/mla/x.co", b"x"), ("aiter-main/LICENSE", b"text"))
    source = open_source(path)
    assert everything(path) == {"gfx942": {"x.co": b"x"}}
    assert source.licence() == b"text"
    assert source.provider.kind == "archive"


def test_folders_beside_the_mla_objects_are_not_looked_at(tmp_path: Path) -> None:
    folder = aiter_source.checkout(tmp_path / "aiter")
    (folder / "hsa/gfx942/fmha").mkdir()
    (folder / "hsa/gfx942/fmha/other.co").write_bytes(b"other")
    (folder / "hsa/gfx942/mla/mla_asm.csv").write_bytes(b"a table")
    assert everything(folder) == aiter_source.OBJECTS


def missing(tmp_path: Path) -> Path:
    return tmp_path / "nowhere"


def empty_folder(tmp_path: Path) -> Path:
    (tmp_path / "hsa" / "gfx942" / "mla").mkdir(parents=True)
    return tmp_path


def wheel_without_objects(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", ("package/__init__.py", b""))


def two_trees(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", (OBJECT, b"a"), ("other/hsa/gfx942/mla/mla_alpha.co", b"b"))


@pytest.mark.parametrize("make", [missing, empty_folder, wheel_without_objects, two_trees], ids=lambda make: make.__name__)
def test_a_place_without_one_tree_of_objects_is_no_source(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(SourceMissing):
        open_source(make(tmp_path))


def not_a_zip(tmp_path: Path) -> Path:
    (tmp_path / "x.whl").write_bytes(b"not a zip file at all")
    return tmp_path / "x.whl"


def truncated(tmp_path: Path) -> Path:
    path = aiter_source.wheel(tmp_path / "x.whl")
    path.write_bytes(path.read_bytes()[:-40])
    return path


def damaged_member(tmp_path: Path) -> Path:
    path = tmp_path / "x.whl"
    archive(path, (OBJECT, bytes(range(256)) * 40))
    data = bytearray(path.read_bytes())
    start = data.find(OBJECT.encode()) + len(OBJECT)
    data[start + 10 : start + 60] = bytes(50)
    path.write_bytes(data)
    return path


def encrypted(tmp_path: Path) -> Path:
    path = archive(tmp_path / "x.whl", (OBJECT, b"secret"))
    data = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(magic) + at] |= 1
    path.write_bytes(data)
    return path


def unknown_compression(tmp_path: Path) -> Path:
    path = archive(tmp_path / "x.whl", (OBJECT, b"text"))
    data = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", data, data.find(magic) + at, 77)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("make", [not_a_zip, truncated, damaged_member, encrypted, unknown_compression], ids=lambda make: make.__name__)
def test_a_damaged_or_encrypted_archive_is_unreadable(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    with pytest.raises(SourceUnreadable):
        everything(path)


def outside(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", (OBJECT, b"a"), ("../../evil.co", b"b"))


def absolute(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", (OBJECT, b"a"), ("/etc/evil", b"b"))


def backslashes(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", (OBJECT, b"a"), ("..\\evil", b"b"))


def drive(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", (OBJECT, b"a"), ("C:evil", b"b"))


def doubled(tmp_path: Path) -> Path:
    path = tmp_path / "x.whl"
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive(path, (OBJECT, b"a"), (OBJECT, b"b"))
    return path


def link_in_archive(tmp_path: Path) -> Path:
    path = tmp_path / "x.whl"
    info = zipfile.ZipInfo(OBJECT)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(info, b"/etc/passwd")
        file.writestr("aiter_meta/hsa/gfx942/mla/other.co", b"x")
    return path


def bomb(tmp_path: Path) -> Path:
    return archive(tmp_path / "x.whl", (OBJECT, bytes(source_view.MAX_OBJECT_BYTES + 1)))


def link_in_folder(tmp_path: Path) -> Path:
    folder = aiter_source.checkout(tmp_path / "aiter")
    (folder / "hsa/gfx942/mla/mla_alpha.co").unlink()
    (folder / "hsa/gfx942/mla/mla_alpha.co").symlink_to(folder / "LICENSE")
    return folder


def pipe_in_folder(tmp_path: Path) -> Path:
    folder = aiter_source.checkout(tmp_path / "aiter")
    os.mkfifo(folder / "hsa/gfx942/mla/pipe.co")
    return folder


def directory_as_object(tmp_path: Path) -> Path:
    folder = aiter_source.checkout(tmp_path / "aiter")
    (folder / "hsa/gfx942/mla/folder.co").mkdir()
    return folder


def odd_name(tmp_path: Path) -> Path:
    folder = aiter_source.checkout(tmp_path / "aiter")
    (folder / "hsa/gfx942/mla/new\nline.co").write_bytes(b"x")
    return folder


def large_file(tmp_path: Path) -> Path:
    folder = aiter_source.checkout(tmp_path / "aiter")
    with (folder / "hsa/gfx942/mla/large.co").open("wb") as file:
        file.truncate(source_view.MAX_OBJECT_BYTES + 1)
    return folder


UNSAFE = [outside, absolute, backslashes, drive, doubled, link_in_archive, bomb]
UNSAFE += [link_in_folder, pipe_in_folder, directory_as_object, odd_name, large_file]


@pytest.mark.parametrize("make", UNSAFE, ids=lambda make: make.__name__)
def test_what_is_not_a_plain_object_of_sane_size_is_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    with pytest.raises(SourceUnsafe) as caught:
        everything(path)
    assert caught.value.cause
    assert caught.value.remedy


def test_a_member_whose_header_lies_about_its_size_is_not_read_past_the_limit(tmp_path: Path) -> None:
    path = bomb(tmp_path)
    data = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.find(magic) + at, 100)
    path.write_bytes(data)
    with pytest.raises(ProviderError):
        everything(path)


def test_too_many_members_are_refused_before_any_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_archive, "MAX_MEMBERS", 1)
    with pytest.raises(SourceUnsafe):
        open_source(aiter_source.wheel(tmp_path / "x.whl"))


def test_a_source_without_licence_says_so(tmp_path: Path) -> None:
    folder = aiter_source.checkout(tmp_path / "aiter")
    (folder / "LICENSE").unlink()
    with pytest.raises(LicenceMissing):
        open_source(folder).licence()
    with pytest.raises(LicenceMissing):
        open_source(archive(tmp_path / "x.whl", (OBJECT, b"a"))).licence()
