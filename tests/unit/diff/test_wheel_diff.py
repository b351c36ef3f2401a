"""Two wheels are compared by answers, objects, rules and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from build_tools.commands.diff import describe
from build_tools.entry import dispatch
from build_tools.errors import WheelNotComparable
from build_tools.wheels.diff import diff
from tests.synthetic_wheel import LOCK_SHA256, Wheel, code_object, digest_hex


def pair(tmp_path: Path, change: Callable[[Wheel], None], new: Wheel | None = None) -> tuple[Path, Path]:
    changed = new or Wheel()
    change(changed)
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    return Wheel().write(tmp_path / "old"), changed.write(tmp_path / "new")


def test_a_wheel_is_the_same_as_itself(tmp_path: Path) -> None:
    found = diff(*pair(tmp_path, lambda wheel: None))
    assert found.same
    assert list(describe(found)) == ["version 0.1.0", "nothing differs"]


def test_an_object_with_other_bytes_is_listed_with_its_kernel_row(tmp_path: Path) -> None:
    def change(wheel: Wheel) -> None:
        data = code_object("gfx942", b"other")
        wheel.files["aiter_mla_aot/kernels/gfx942/mla_alpha.co"] = data
        wheel.tables["gfx942"]["kernels"][0]["sha256"] = digest_hex(data)

    found = diff(*pair(tmp_path, change))
    assert found.objects == {"changed": ["gfx942/mla_alpha.co"], "added": [], "removed": []}
    assert [line.split(" (")[0] for line in found.rules["gfx942"]] == ["kernel mla_alpha.co"] * 2
    assert found.answers == {"gfx942": {}, "gfx950": {}}
    assert not found.same


def test_changed_claims_and_gates_are_spelt_out(tmp_path: Path) -> None:
    def change(wheel: Wheel) -> None:
        table = wheel.tables["gfx950"]
        table["kernels"][0]["claim"]["page_sizes"] = [1, 64]
        table["gates"] = [{"id": "new-gate", "kernels": ["*"], "code": "mask", "when": {}, "cause": "c", "reference": "r"}]

    found = diff(*pair(tmp_path, change))
    assert found.rules["gfx942"] == []
    assert found.rules["gfx950"][0] == "gate new-gate added"
    assert found.rules["gfx950"][1].endswith("claim page_sizes [1] -> [1, 64]")


def test_answers_that_change_are_described_with_counts(tmp_path: Path) -> None:
    def change(wheel: Wheel) -> None:
        wheel.tables["gfx942"]["plans"] = [{"kernel": 1, "single": False}]

    found = diff(*pair(tmp_path, change))
    text = "\n".join(describe(found))
    assert "gfx942: 9,216 problems get another answer" in text
    assert "2,304: mla_alpha (native) -> mla_beta (native)" in text
    assert "2,304: mode persistent, dtypes bf16/bf16, heads 16, q_len 1..4" in text
    answer = found.to_json()["answers"]["gfx942"]
    assert sum(row["problems"] for row in answer) == 9216
    assert answer[1]["where"][0]["heads"] == [16]
    assert answer[1]["from"] == {"outcome": "served", "object": "mla_alpha.co", "route": "native"}


def test_an_arch_that_is_left_out_is_removed(tmp_path: Path) -> None:
    found = diff(*pair(tmp_path, lambda wheel: None, Wheel(["gfx942"], "0.1.0+gfx942")))
    assert found.archs == {"added": [], "removed": ["gfx950"]}
    assert found.versions == ("0.1.0", "0.1.0+gfx942")
    assert found.objects["removed"] == ["gfx950/mla_alpha.co", "gfx950/mla_beta.co"]
    assert "arch gfx950 removed" in list(describe(found))


def test_other_files_are_compared_without_the_version_in_their_path(tmp_path: Path) -> None:
    def change(wheel: Wheel) -> None:
        wheel.files["aiter_mla_aot/new.py"] = b""
        wheel.files["aiter_mla_aot/__init__.py"] = b"changed"

    found = diff(*pair(tmp_path, change, Wheel(version="0.2.0")))
    assert found.files["added"] == ["aiter_mla_aot/new.py"]
    assert found.files["removed"] == []
    assert found.files["changed"] == ["aiter_mla_aot/__init__.py", "aiter_mla_aot/build_info.json", "dist-info/METADATA"]


def set_schema(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["schema"] = 2


def drop_field(wheel: Wheel) -> None:
    del wheel.tables["gfx942"]["kernels"][0]["claim"]["mode"]


def drop_table(wheel: Wheel) -> None:
    del wheel.tables["gfx942"]


def leads_outside(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["catalogs"]["shipped"]["root"] = 10**6


def no_archs(wheel: Wheel) -> None:
    del wheel.build_info["archs"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (set_schema, "has schema 2"),
        (drop_field, "cannot be read"),
        (drop_table, "has no"),
        (no_archs, "names no archs"),
        (leads_outside, "offset 1000000"),
    ],
)
def test_a_wheel_of_another_form_cannot_be_compared(tmp_path: Path, change: Callable[[Wheel], None], text: str) -> None:
    with pytest.raises(WheelNotComparable, match=text):
        diff(*pair(tmp_path, change))


def test_a_file_that_is_no_wheel_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"no wheel")
    with pytest.raises(WheelNotComparable):
        diff(tmp_path / "a.whl", Wheel().write(tmp_path))


def test_the_command_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = pair(tmp_path, lambda wheel: wheel.build_info.update(lock_sha256="f" + LOCK_SHA256[1:]))
    assert dispatch(["diff", str(old), str(new), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["command"], answer["same"]) == (1, "diff", False)
    assert answer["files"]["changed"] == ["aiter_mla_aot/build_info.json"]
