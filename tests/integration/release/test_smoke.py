"""``aiter-mla-aot smoke --emulate`` from the installed wheel: no torch, no compiler, no GPU, nothing that can be written."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from build_tools.wheels.smoke import Installation

ARCHS = ["gfx942", "gfx950"]


def smoke(installed: Installation, arch: str, **variables: str) -> tuple[int, dict[str, Any]]:
    command = [str(installed.python), "-I", "-m", "aiter_mla_aot", "smoke", "--emulate", arch, "--json"]
    environment = installed.environment() | variables
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/", check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("arch", ARCHS)
def test_every_request_that_is_served_gives_the_rows_of_the_reference(installed: Installation, arch: str) -> None:
    code, told = smoke(installed, arch)
    assert code == 0
    assert (told["ok"], told["tier"], told["arch"]) == (True, "emulator", arch)
    assert [row["outcome"] for row in told["requests"]] == ["right"] * 7
    assert {row["mode"] for row in told["requests"]} == {"persistent", "split"}
    assert all(0 < row["error"] <= row["bound"] and row["seconds"] > 0 for row in told["requests"])


@pytest.mark.parametrize("arch", ARCHS)
def test_results_are_the_same_on_every_level_of_the_processor(installed: Installation, arch: str) -> None:
    errors = [[row["error"] for row in smoke(installed, arch, AITER_MLA_EMULATOR_LEVEL=level)[1]["requests"]] for level in ("1", "4")]
    assert errors[0] == errors[1]


def test_a_launch_that_stops_is_reported_with_its_fault(installed: Installation) -> None:
    code, told = smoke(installed, "gfx942", AITER_MLA_EMULATOR_OPTIONS="budget=100")
    assert code == 5
    assert told["error"]["code"] == "MLA313"
    assert {row["outcome"] for row in told["requests"]} == {"failed"}
    assert "budget" in told["requests"][0]["text"]


def test_without_a_device_the_other_tier_is_not_taken_instead(installed: Installation) -> None:
    done = installed.run("smoke", "--json")
    assert done.returncode == 5
    assert json.loads(done.stdout)["error"]["code"] == "MLA301"
