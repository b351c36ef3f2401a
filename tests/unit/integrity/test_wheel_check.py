"""Every fault of a wheel's content is found and named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from aiter_mla_aot.errors import CodeObjectMismatch, MlaError, PackageFileDamaged
from aiter_mla_aot.integrity import verify_wheel
from tests.synthetic_wheel import EMULATOR, Wheel, code_object, record_of

Change = Callable[[Wheel], None]
ALPHA = "aiter_mla_aot/kernels/gfx942/mla_alpha.co"


def codes(path: Path) -> list[str]:
    return [item.code for item in verify_wheel(path).findings]


def test_a_good_wheel_has_no_findings(tmp_path: Path) -> None:
    wheel = Wheel()
    report = verify_wheel(wheel.write(tmp_path))
    assert report.findings == ()
    assert report.ok
    assert report.error() is None
    assert report.version == "0.1.0"
    assert report.archs == ("gfx942", "gfx950")
    assert report.objects == {"gfx942": 2, "gfx950": 2}
    assert report.files == len(wheel.contents())
    assert json.loads(json.dumps(report.to_json()))["ok"] is True


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_a_single_arch_wheel_is_good_with_its_label(tmp_path: Path, arch: str) -> None:
    assert codes(Wheel([arch], f"0.1.0+{arch}").write(tmp_path)) == []


def test_every_finding_is_listed_and_the_error_carries_them_all(tmp_path: Path) -> None:
    wheel = Wheel()
    contents = wheel.contents()
    contents[ALPHA] = contents[ALPHA][:-1] + b"!"
    del contents["aiter_mla_aot/kernels/gfx950/mla_beta.co"]
    report = verify_wheel(wheel.write(tmp_path, contents))
    assert [(item.code, item.path) for item in report.findings] == [
        ("MLA202", ALPHA),
        ("MLA201", "aiter_mla_aot/kernels/gfx950/mla_beta.co"),
        ("MLA205", ALPHA),
        ("MLA201", "aiter_mla_aot/kernels/gfx950/mla_beta.co"),
    ]
    error = report.error()
    assert isinstance(error, PackageFileDamaged)
    assert error.exit_code == 4
    assert all(item.path in error.cause for item in report.findings)


def swap_archs(wheel: Wheel) -> None:
    wheel.files[ALPHA] = wheel.files["aiter_mla_aot/kernels/gfx950/mla_alpha.co"]


def replace_by_text(wheel: Wheel) -> None:
    wheel.files[ALPHA] = b"no code object at all, but long enough to hold a header: " * 2


def truncate(wheel: Wheel) -> None:
    wheel.files[ALPHA] = wheel.files[ALPHA][:40]


def drop_object(wheel: Wheel) -> None:
    del wheel.files[ALPHA]


def stray_object(wheel: Wheel) -> None:
    wheel.files["aiter_mla_aot/kernels/gfx942/mla_stray.co"] = code_object("gfx942")


def object_of_other_arch(wheel: Wheel) -> None:
    wheel.files["aiter_mla_aot/kernels/gfx90a/mla_alpha.co"] = code_object("gfx942")


def prefill_object(wheel: Wheel) -> None:
    wheel.files["aiter_mla_aot/kernels/gfx942/mla_pfl_gamma.co"] = code_object("gfx942", b"gamma")


def drop_table(wheel: Wheel) -> None:
    del wheel.tables["gfx942"]


def table_of_unannounced_arch(wheel: Wheel) -> None:
    wheel.build_info["archs"] = ["gfx942"]


def newer_table(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["schema"] = 2


def table_of_other_arch(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["arch"] = "gfx950"


def table_without_field(wheel: Wheel) -> None:
    del wheel.tables["gfx942"]["plans"]


def diagram_leads_outside(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["catalogs"]["shipped"]["root"] = 10**6


def diagram_names_no_plan(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["plans"] = []


def newer_build_info(wheel: Wheel) -> None:
    wheel.build_info["schema"] = 2


def build_info_without_lock(wheel: Wheel) -> None:
    del wheel.build_info["lock_sha256"]


def unknown_arch(wheel: Wheel) -> None:
    wheel.build_info["archs"] = ["gfx90a"]


def other_version(wheel: Wheel) -> None:
    wheel.build_info["version"] = "0.2.0"


def metadata_of_other_version(wheel: Wheel) -> None:
    wheel.metadata = wheel.metadata.replace("Version: 0.1.0", "Version: 0.2.0")


def metadata_of_other_package(wheel: Wheel) -> None:
    wheel.metadata = wheel.metadata.replace("aiter-mla-aot", "aiter")


def other_provider_without_label(wheel: Wheel) -> None:
    wheel.build_info["provider"]["name"] = "checkout"


def extension_without_a_hash(wheel: Wheel) -> None:
    wheel.files["aiter_mla_aot/_native.abi3.so"] = wheel.extension[:-32]


def extension_is_text(wheel: Wheel) -> None:
    wheel.files["aiter_mla_aot/_native.abi3.so"] = b"text" + wheel.extension


def extension_knows_more(wheel: Wheel) -> None:
    gamma = bytes.fromhex(wheel.tables["gfx942"]["kernels"][2]["sha256"])
    wheel.files["aiter_mla_aot/_native.abi3.so"] = wheel.extension + gamma


def no_extension(wheel: Wheel) -> None:
    del wheel.files["aiter_mla_aot/_native.abi3.so"]


def emulator_is_text(wheel: Wheel) -> None:
    wheel.files[EMULATOR] = b"text"


def no_emulator(wheel: Wheel) -> None:
    del wheel.files[EMULATOR]


def file_outside_package(wheel: Wheel) -> None:
    wheel.files["torch/__init__.py"] = b""


def second_dist_info(wheel: Wheel) -> None:
    wheel.files["torch-2.9.1.dist-info/METADATA"] = b"Name: torch\nVersion: 2.9.1\n"


def file_name_of_other_version(wheel: Wheel) -> None:
    wheel.file_name = wheel.file_name.replace("0.1.0", "0.1.1")


def file_name_of_other_tag(wheel: Wheel) -> None:
    wheel.file_name = wheel.file_name.replace("2_28", "2_17")


def file_name_of_other_package(wheel: Wheel) -> None:
    wheel.file_name = wheel.file_name.replace("aiter_mla_aot", "aiter")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (swap_archs, "MLA205"),
        (replace_by_text, "MLA205"),
        (truncate, "MLA205"),
        (drop_object, "MLA201"),
        (stray_object, "MLA203"),
        (object_of_other_arch, "MLA203"),
        (prefill_object, "MLA203"),
        (drop_table, "MLA201"),
        (table_of_unannounced_arch, "MLA203"),
        (newer_table, "MLA206"),
        (table_of_other_arch, "MLA206"),
        (table_without_field, "MLA206"),
        (diagram_leads_outside, "MLA206"),
        (diagram_names_no_plan, "MLA206"),
        (newer_build_info, "MLA206"),
        (build_info_without_lock, "MLA206"),
        (unknown_arch, "MLA206"),
        (other_version, "MLA207"),
        (metadata_of_other_version, "MLA207"),
        (metadata_of_other_package, "MLA207"),
        (other_provider_without_label, "MLA207"),
        (extension_without_a_hash, "MLA209"),
        (extension_is_text, "MLA209"),
        (extension_knows_more, "MLA209"),
        (no_extension, "MLA201"),
        (emulator_is_text, "MLA202"),
        (no_emulator, "MLA201"),
        (file_outside_package, "MLA203"),
        (second_dist_info, "MLA204"),
        (file_name_of_other_version, "MLA207"),
        (file_name_of_other_tag, "MLA208"),
        (file_name_of_other_package, "MLA208"),
    ],
)
def test_a_fault_that_record_agrees_with_is_still_found(tmp_path: Path, change: Change, code: str) -> None:
    wheel = Wheel()
    change(wheel)
    assert code in codes(wheel.write(tmp_path))


def record(wheel: Wheel, *, replace: tuple[bytes, bytes] = (b"", b""), append: bytes = b"") -> dict[str, bytes]:
    contents = wheel.contents()
    path = f"{wheel.dist_info}/RECORD"
    assert replace[0] in contents[path]
    contents[path] = contents[path].replace(*replace) + append
    return contents


def test_a_wheel_without_record_is_found(tmp_path: Path) -> None:
    wheel = Wheel()
    contents = wheel.contents()
    del contents[f"{wheel.dist_info}/RECORD"]
    assert "MLA204" in codes(wheel.write(tmp_path, contents))


@pytest.mark.parametrize(
    ("replace", "append", "code"),
    [
        ((b"sha256=", b"md5="), b"", "MLA204"),
        ((b"aiter_mla_aot/py.typed,", b"aiter_mla_aot/py.typed,extra,"), b"", "MLA204"),
        ((b"", b""), b"aiter_mla_aot/py.typed,,\n", "MLA204"),
        ((b"", b""), b"aiter_mla_aot/gone.py,sha256=x,3\n", "MLA201"),
        ((b"", b""), b"\xff\n", "MLA204"),
        ((b"aiter_mla_aot/py.typed", b"aiter_mla_aot/other"), b"", "MLA203"),
        ((b",0\n", b",1\n"), b"", "MLA202"),
    ],
)
def test_a_wrong_record_is_found(tmp_path: Path, replace: tuple[bytes, bytes], append: bytes, code: str) -> None:
    wheel = Wheel()
    assert code in codes(wheel.write(tmp_path, record(wheel, replace=replace, append=append)))


def test_a_file_without_hash_in_record_is_found(tmp_path: Path) -> None:
    wheel = Wheel()
    contents = wheel.contents()
    path = f"{wheel.dist_info}/RECORD"
    files = {name: data for name, data in contents.items() if name not in (path, ALPHA)}
    contents[path] = record_of(files, path) + f"{ALPHA},,\n".encode()
    assert codes(wheel.write(tmp_path, contents)) == ["MLA204"]


def test_a_damaged_object_with_matching_record_and_table_is_caught_by_the_extension(tmp_path: Path) -> None:
    wheel = Wheel()
    data = wheel.files[ALPHA][:-1] + b"!"
    wheel.files[ALPHA] = data
    wheel.tables["gfx942"]["kernels"][0]["sha256"] = hashlib.sha256(data).hexdigest()
    assert codes(wheel.write(tmp_path)) == ["MLA209"]


def test_the_error_of_an_object_that_only_the_table_contradicts_is_a_code_object_mismatch(tmp_path: Path) -> None:
    wheel = Wheel()
    wheel.files[ALPHA] = wheel.files[ALPHA][:-1] + b"!"
    error = verify_wheel(wheel.write(tmp_path)).error()
    assert isinstance(error, CodeObjectMismatch)
    assert isinstance(error, MlaError)
