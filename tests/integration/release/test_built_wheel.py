"""The wheel that was built keeps every rule, and no damage to it goes unnoticed."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from aiter_mla_aot.errors import CodeObjectMismatch
from aiter_mla_aot.integrity import archive, load_object, verify_installed, verify_wheel
from aiter_mla_aot.integrity.wheel import read_wheel
from build_tools.wheels import diff, verify
from build_tools.wheels.smoke import Installation

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def site(installed: Installation, tmp_path: Path) -> Path:
    """A writable copy of what was installed, with the command that RECORD lists outside of it."""
    (package,) = installed.folder.glob("lib/python*/site-packages/aiter_mla_aot")
    site = tmp_path / package.parent.relative_to(installed.folder)
    site.mkdir(parents=True)
    for source in package.parent.glob("aiter_mla_aot*"):
        shutil.copytree(source, site / source.name, copy_function=shutil.copyfile)
    for path in (site, *site.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (tmp_path / "bin").mkdir()
    shutil.copyfile(installed.command, tmp_path / "bin" / installed.command.name)
    return site


def test_it_keeps_every_rule_of_a_release_and_the_audits_pass(built_wheel: Path) -> None:
    report = verify.verify(built_wheel, ROOT)
    assert report.findings == ()
    assert report.audits == {"auditwheel": "passed", "abi3audit": "passed"}


def test_changed_bytes_anywhere_are_found_or_change_nothing(built_wheel: Path, tmp_path: Path) -> None:
    data = built_wheel.read_bytes()
    entries = archive.entries(data)
    before = [archive.read(data, item) for item in entries]
    places = [item.offset + random.Random(1).randrange(30) for item in entries]
    places += list(range(len(data) - 400, len(data), 9))
    places += random.Random(2).sample(range(len(data)), 150)
    path = tmp_path / built_wheel.name
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        if verify_wheel(path).ok:
            assert [archive.read(bytes(changed), item) for item in archive.entries(bytes(changed))] == before, f"byte {place}"


def test_its_bill_of_materials_is_valid(built_wheel: Path) -> None:
    files, _ = read_wheel(built_wheel)
    (text,) = (content.decode() for name, content in files.items() if name.endswith("/sboms/aiter_mla_aot.cdx.json"))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_does_not_differ_from_itself(built_wheel: Path) -> None:
    assert diff.diff(built_wheel, built_wheel).same


def test_the_installed_package_is_as_built(site: Path) -> None:
    report = verify_installed(site / "aiter_mla_aot")
    assert report.findings == ()
    assert all(report.objects[arch] > 10 for arch in report.archs)


def test_a_changed_byte_in_any_object_is_found_by_verify_and_by_load(site: Path) -> None:
    package = site / "aiter_mla_aot"
    generator = random.Random(3)
    objects = sorted(package.glob("kernels/*/*.co"))
    assert objects
    for path in objects:
        good = path.read_bytes()
        arch = path.parent.name
        assert load_object(arch, path.name, package) == good
        changed = bytearray(good)
        changed[generator.randrange(len(good))] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(CodeObjectMismatch):
            load_object(arch, path.name, package)
    named = {item.path for item in verify_installed(package).findings}
    assert named == {path.relative_to(site).as_posix() for path in objects}


def command(site: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AITER_"))}
    environment["PYTHONPATH"] = str(site)
    started = [sys.executable, "-P", "-m", "aiter_mla_aot", *arguments, "--json"]
    done = subprocess.run(started, env=environment, capture_output=True, text=True, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, answer


@pytest.mark.parametrize("name", ["kernels/gfx942/mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps.co", "_native.abi3.so", "tables/gfx950.json"])
def test_the_commands_name_a_damaged_file_and_fail(site: Path, name: str) -> None:
    path = site / "aiter_mla_aot" / name
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    code, answer = command(site, "verify")
    assert code == 4
    assert {item["path"] for item in answer["findings"]} >= {f"aiter_mla_aot/{name}"}
    code, answer = command(site, "doctor")
    assert code == 4
    checks = {check["name"]: check["status"] for check in answer["checks"]}
    assert checks["integrity"] == "problem"
    assert checks["extension"] == ("problem" if "_native" in name else "ok")


def test_the_doctor_is_content_without_gpu_and_reads_facts_from_no_variable(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ARCHS", "gfx90a")
    monkeypatch.setenv("CU_NUM", "80")
    code, answer = command(site, "doctor")
    assert code == 0
    checks = {check["name"]: check for check in answer["checks"]}
    assert checks["package"]["facts"]["path"] == str(site / "aiter_mla_aot")
    assert checks["integrity"]["status"] == checks["extension"]["status"] == "ok"
    assert checks["rocm"]["facts"]["minimum"] == "6.3"
    assert checks["environment"]["facts"] == {"CU_NUM": "80", "GPU_ARCHS": "gfx90a"}
    assert checks["evidence"]["status"] == "ok"
