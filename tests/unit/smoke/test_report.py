"""What smoke says, and when it is content."""

from __future__ import annotations

import argparse
import json
import math

import pytest

from aiter_mla_aot.cli import smoke
from aiter_mla_aot.errors import SmokeNotRight
from aiter_mla_aot.problem import Problem
from aiter_mla_aot.smoke import Outcome, Place, SmokeReport

PROBLEM = Problem("gfx950", "persistent", "bf16", "bf16", 16, 1, 1)
RIGHT = Outcome(PROBLEM, "right", "mla_alpha", "0" * 64, 1e-3, 1e-2, 0.01)
WRONG = Outcome(PROBLEM, "wrong", "mla_beta", "1" * 64, math.nan, 1e-2, 0.01)
FAILED = Outcome(PROBLEM, "failed", "mla_gamma", "2" * 64, bound=1e-2, text="hipModuleLaunchKernel failed")
REFUSED = Outcome(PROBLEM, "refused", text="no kernel takes this many heads")


def report(*outcomes: Outcome, tier: str = "emulator") -> SmokeReport:
    return SmokeReport(Place(tier, tier, "gfx950", "gfx950:sramecc+:xnack-", 256, "7.0"), outcomes)


@pytest.mark.parametrize(
    ("outcomes", "ok"),
    [((RIGHT,), True), ((RIGHT, REFUSED), True), ((REFUSED,), False), ((), False), ((RIGHT, WRONG), False), ((RIGHT, FAILED), False)],
)
def test_only_right_results_and_at_least_one_are_enough(outcomes: tuple[Outcome, ...], ok: bool) -> None:
    assert report(*outcomes).ok == ok


def test_the_text_names_the_tier_and_claims_no_proof() -> None:
    told = smoke.text(report(RIGHT, REFUSED))
    assert "1 requests ran on the emulator" in told
    assert "ran on the device" in smoke.text(report(RIGHT, tier="device"))
    assert "prove" not in told
    assert "valid" not in told


def test_a_wrong_result_is_an_error_with_its_kernel(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(smoke, "_on_emulator", lambda arch, asked: report(RIGHT, WRONG))
    code = smoke.run(argparse.Namespace(emulate="gfx950", json=True, command="smoke", problem=None, record=None, force_kernel=None))
    told = json.loads(capsys.readouterr().out)
    assert code == SmokeNotRight.exit_code
    assert told["error"]["code"] == "MLA313"
    assert "mla_beta: wrong" in told["error"]["cause"]
    assert told["requests"][1]["error"] is None
