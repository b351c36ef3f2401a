"""The doctor's verdict: only what is broken in the package makes the exit code differ from 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aiter_mla_aot.cli import doctor as command
from aiter_mla_aot.cli import main
from aiter_mla_aot.doctor import Check, Diagnosis, package
from aiter_mla_aot.integrity import verify_installed
from aiter_mla_aot.proof import PROVEN, TIMING_DEPENDENT
from aiter_mla_aot.table import INDEX
from tests.synthetic_wheel import Wheel, claim, digest_hex, dispatch_table, kernel


def diagnosis(status: str) -> Diagnosis:
    return Diagnosis((Check("package", "ok", "fine"), Check("driver", status, "the line", {"fact": 1})))


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("note", 0), ("warning", 0), ("problem", 4)])
def test_the_exit_code_follows_the_package_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: str, code: int
) -> None:
    monkeypatch.setattr(command, "diagnose", lambda: diagnosis(status))
    assert main(["doctor", "--json"]) == code
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["command"], answer["ok"]) == (1, "doctor", code == 0)
    assert answer["checks"][1] == {"name": "driver", "status": status, "text": "the line", "facts": {"fact": 1}}
    assert main(["doctor"]) == code
    assert "the line" in capsys.readouterr().out


def test_a_good_package_is_described(tmp_path: Path) -> None:
    directory = Wheel().install(tmp_path)
    assert package.package(directory).status == "ok"
    report = verify_installed(directory)
    check = package.integrity(report)
    assert check.status == "ok"
    assert "2 code objects for gfx942" in check.text
    assert package.minimum_rocm(report.archs, directory) is None


def test_labels_are_spelt_out(tmp_path: Path) -> None:
    check = package.package(Wheel(["gfx942"], "0.1.0+gfx942.aiter.0123456789ab.unproven.dirty").install(tmp_path))
    assert check.status == "note"
    assert check.facts["labels"] == ["gfx942", "other AITER objects", "unproven", "dirty"]


def test_the_minimum_rocm_is_the_newest_that_a_shipped_object_needs(tmp_path: Path) -> None:
    wheel = Wheel()
    wheel.tables["gfx942"]["kernels"][0]["minimum_rocm"] = "6.3"
    wheel.tables["gfx942"]["kernels"][1]["minimum_rocm"] = "6.10"
    wheel.tables["gfx942"]["kernels"][2]["minimum_rocm"] = "9.9"
    assert package.minimum_rocm(("gfx942", "gfx950"), wheel.install(tmp_path)) == "6.10"


def test_a_damaged_package_is_a_problem(tmp_path: Path) -> None:
    directory = Wheel().install(tmp_path)
    (directory / "_native.abi3.so").write_bytes(b"damaged")
    report = verify_installed(directory)
    assert package.integrity(report).status == "problem"
    extension = package.extension(report)
    assert extension.status == "problem"
    assert "not loaded" in extension.text
    (directory / "build_info.json").unlink()
    assert package.package(directory).status == "problem"


def test_evidence_is_counted_in_its_own_words() -> None:
    check = package.evidence()
    assert check.status == "ok"
    assert check.facts["kernels"].keys() <= {PROVEN, TIMING_DEPENDENT}
    assert sum(check.facts["kernels"].values()) > 10
    assert "hardware" not in check.text


def test_kernels_without_evidence_are_said_plainly(tmp_path: Path) -> None:
    row = kernel("gfx942", "k.co", b"k", claim=claim())
    (tmp_path / "tables").mkdir()
    text = json.dumps(dispatch_table("gfx942", [row]))
    (tmp_path / "tables" / "gfx942.json").write_text(text, "utf-8")
    (tmp_path / "tables" / INDEX).write_text(json.dumps({"schema": 1, "tables": {"gfx942": digest_hex(text.encode())}}), "utf-8")
    check = package.evidence(tmp_path)
    assert (check.status, check.text, check.facts) == ("note", "1 kernels without evidence", {"kernels": {"none": 1}})
