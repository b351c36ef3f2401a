"""``aiter-mla-aot verify`` prints every finding and returns the error's exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aiter_mla_aot.cli import main
from tests.synthetic_wheel import Wheel

ALPHA = "aiter_mla_aot/kernels/gfx942/mla_alpha.co"


def test_a_good_wheel_gives_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Wheel().write(tmp_path)
    assert main(["verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert "every file is the one that was built" in out
    assert "2 for gfx942, 2 for gfx950" in out
    assert main(["verify", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["command"], answer["ok"], answer["objects"]) == (1, "verify", True, {"gfx942": 2, "gfx950": 2})
    assert "error" not in answer


def test_a_damaged_wheel_gives_4_and_every_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = Wheel()
    wheel.files[ALPHA] += b"!"
    path = wheel.write(tmp_path)
    assert main(["verify", str(path)]) == 4
    out = capsys.readouterr().out
    assert out.count(f"MLA205 {ALPHA}") == 2
    assert "remedy:" in out
    assert main(["verify", "--json", str(path)]) == 4
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert [item["path"] for item in answer["findings"]] == [ALPHA, ALPHA]
    assert answer["error"]["code"] == "MLA205"


def test_a_source_tree_is_no_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 4
    assert "the package is not installed once" in capsys.readouterr().out
