"""An installed package is checked against its RECORD and itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiter_mla_aot.errors import CodeObjectMismatch, PackageFileDamaged, PackageFileMissing
from aiter_mla_aot.integrity import load_object, verify_installed
from tests.synthetic_wheel import Wheel, digest

OBJECT = "kernels/gfx942/mla_alpha.co"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Wheel().install(tmp_path / "site")


def findings(package: Path) -> list[tuple[str, str]]:
    return [(item.code, item.path) for item in verify_installed(package).findings]


def test_a_good_package_has_no_findings(package: Path) -> None:
    report = verify_installed(package)
    assert report.findings == ()
    assert report.objects == {"gfx942": 2, "gfx950": 2}
    assert report.subject == str(package)


def test_what_installers_and_python_add_is_ignored(package: Path) -> None:
    dist_info = package.parent / "aiter_mla_aot-0.1.0.dist-info"
    (dist_info / "REQUESTED").touch()
    (dist_info / "direct_url.json").write_text("{}")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "__init__.cpython-311.pyc").write_bytes(b"cache")
    with (dist_info / "RECORD").open("a") as record:
        record.write("aiter_mla_aot/__pycache__/__init__.cpython-311.pyc,,\naiter_mla_aot/__pycache__/gone.cpython-311.pyc,,\n")
    assert findings(package) == []


def test_the_check_writes_nothing_and_works_read_only(package: Path) -> None:
    before = sorted(path for path in package.parent.rglob("*"))
    for path in before:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert findings(package) == []
    assert sorted(path for path in package.parent.rglob("*")) == before
    for path in before:
        path.chmod(0o755)


def test_every_single_flipped_byte_of_an_object_is_found(package: Path) -> None:
    path = package / OBJECT
    good = path.read_bytes()
    for place in range(0, len(good), 7):
        changed = bytearray(good)
        changed[place] ^= 1
        path.write_bytes(changed)
        found = findings(package)
        assert ("MLA202", f"aiter_mla_aot/{OBJECT}") in found
        assert ("MLA205", f"aiter_mla_aot/{OBJECT}") in found
        with pytest.raises(CodeObjectMismatch):
            load_object("gfx942", "mla_alpha.co", package)


@pytest.mark.parametrize("name", ["__init__.py", "py.typed", "_native.abi3.so", "build_info.json", "tables/gfx950.json", OBJECT])
def test_a_missing_file_is_found(package: Path, name: str) -> None:
    (package / name).unlink()
    assert ("MLA201", f"aiter_mla_aot/{name}") in findings(package)


@pytest.mark.parametrize("name", ["__init__.py", "_native.abi3.so", "build_info.json", "tables/gfx950.json"])
def test_a_changed_file_is_found(package: Path, name: str) -> None:
    (package / name).write_bytes((package / name).read_bytes() + b" ")
    assert ("MLA202", f"aiter_mla_aot/{name}") in findings(package)


@pytest.mark.parametrize("name", ["aiter_mla_aot/extra.py", "aiter_mla_aot/kernels/gfx942/extra.co", "aiter_mla_aot-0.1.0.dist-info/extra"])
def test_an_extra_file_is_found(package: Path, name: str) -> None:
    (package.parent / name).write_bytes(b"")
    assert ("MLA203", name) in findings(package)


def test_a_package_without_dist_info_is_found(package: Path) -> None:
    dist_info = package.parent / "aiter_mla_aot-0.1.0.dist-info"
    dist_info.rename(package.parent / "gone")
    assert "MLA204" in [code for code, _ in findings(package)]


def test_a_package_without_record_is_found(package: Path) -> None:
    (package.parent / "aiter_mla_aot-0.1.0.dist-info" / "RECORD").unlink()
    assert ("MLA204", "aiter_mla_aot-0.1.0.dist-info/RECORD") in findings(package)


def test_two_dist_infos_are_found(package: Path) -> None:
    (package.parent / "aiter_mla_aot-0.2.0.dist-info").mkdir()
    report = verify_installed(package)
    assert report.findings[0].code == "MLA204"
    assert "aiter_mla_aot-0.1.0.dist-info, aiter_mla_aot-0.2.0.dist-info" in report.findings[0].found


def test_a_file_without_hash_is_found(package: Path) -> None:
    (package / "extra.py").write_bytes(b"")
    with (package.parent / "aiter_mla_aot-0.1.0.dist-info" / "RECORD").open("a") as record:
        record.write("aiter_mla_aot/extra.py,,\n")
    assert findings(package) == [("MLA204", "aiter_mla_aot/extra.py")]


def test_the_command_beside_the_package_is_checked_too(package: Path) -> None:
    command = package.parent.parent / "bin" / "aiter-mla-aot"
    command.parent.mkdir()
    command.write_bytes(b"#!/usr/bin/python\n")
    with (package.parent / "aiter_mla_aot-0.1.0.dist-info" / "RECORD").open("a") as record:
        record.write(f"../bin/aiter-mla-aot,{digest(command.read_bytes())},18\n")
    assert findings(package) == []
    command.write_bytes(b"#!/usr/bin/python3\n")
    assert findings(package) == [("MLA202", "../bin/aiter-mla-aot")]
    command.unlink()
    assert findings(package) == [("MLA201", "../bin/aiter-mla-aot")]


def test_a_file_that_is_a_directory_is_found_once_and_named(package: Path) -> None:
    (package / OBJECT).unlink()
    (package / OBJECT).mkdir()
    assert ("MLA201", f"aiter_mla_aot/{OBJECT}") in findings(package)


def test_a_package_that_is_not_there_is_found(tmp_path: Path) -> None:
    assert "MLA204" in [code for code, _ in findings(tmp_path / "aiter_mla_aot")]


def test_load_object_returns_the_bytes_that_were_built(package: Path) -> None:
    assert load_object("gfx950", "mla_beta.co", package) == (package / "kernels/gfx950/mla_beta.co").read_bytes()


@pytest.mark.parametrize("file", ["mla_pfl_gamma.co", "mla_none.co", "../gfx950/mla_alpha.co", "../../build_info.json"])
def test_load_object_reads_nothing_that_the_table_does_not_ship(package: Path, file: str) -> None:
    with pytest.raises(CodeObjectMismatch, match="not a code object of this package"):
        load_object("gfx942", file, package)


def test_load_object_names_a_missing_and_an_unreadable_file(package: Path) -> None:
    (package / OBJECT).unlink()
    with pytest.raises(PackageFileMissing, match=r"mla_alpha\.co is missing"):
        load_object("gfx942", "mla_alpha.co", package)
    (package / OBJECT).mkdir()
    with pytest.raises(PackageFileDamaged, match="cannot be read"):
        load_object("gfx942", "mla_alpha.co", package)


def test_load_object_of_an_arch_without_table_says_so(package: Path) -> None:
    with pytest.raises(PackageFileMissing, match="no table of gfx90a"):
        load_object("gfx90a", "mla_alpha.co", package)
