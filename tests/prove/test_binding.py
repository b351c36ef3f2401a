"""Claims against evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aiter_mla_aot.rules import Claim, Gate
from build_tools.prove import binding, evidence
from build_tools.prove.case import Recipe
from build_tools.prove.classes import ProblemClass, classes_of
from build_tools.prove.errors import RuleOutsideEnvelope

SHA = "ab" * 32
RECIPE = Recipe("persistent", "fp8", "fp8", 16, 2)
CLAIM = Claim("persistent", "fp8", "fp8", 16, 2, 1, "causal", (True, False), False, False, True, True, (1,), ("token_fold", "head_fold"))
SPAN = Gate("span", ("*.co",), "kv_span", {"kv_over_4gib": [True]}, "32 bits", "none")


def write(hsa: Path, right: list[ProblemClass], recipe: Recipe = RECIPE) -> None:
    rows = [[*member.to_json().values(), "0"] for member in right]
    finding = {
        "recipe": recipe.to_json(),
        "right": rows,
        "wrong": [],
        "worst": {"output": 0.01, "row": 0.02, "lse": None},
        "properties": {"nan_safe": False, "large_safe": True, "timing": {"kind": "strict", "memory": None, "lds": None}},
        "members": 1,
    }
    evidence.write(hsa, evidence.Evidence("gfx942", SHA, "k.co", "full", (finding,)))


def check(hsa: Path, claim: Claim = CLAIM, gates: tuple[Gate, ...] = (SPAN,)) -> None:
    shown = evidence.read(evidence.path_of(hsa, "gfx942", "k.co", SHA))
    binding.check("gfx942", "k.co", "persistent", claim, gates, shown)


def within(page_sizes: tuple[int, ...] = (1,)) -> list[ProblemClass]:
    return [member for member in classes_of(RECIPE) if member.page_size in page_sizes and member.span != "span_4g"]


def test_a_claim_within_the_envelope_passes(tmp_path: Path) -> None:
    write(tmp_path, within())
    check(tmp_path)


def test_each_class_that_a_claim_relies_on_is_needed(tmp_path: Path) -> None:
    needed = binding.needed(CLAIM, (SPAN,))
    assert {member.item for member in needed} == {"1", "2", "cut"}
    assert {member.groups for member in needed} == {1, 2, 4, 8}
    for member in needed:
        write(tmp_path, [other for other in within() if other != member])
        with pytest.raises(RuleOutsideEnvelope):
            check(tmp_path)


@pytest.mark.parametrize(
    "claim", [replace(CLAIM, page_sizes=(1, 2)), replace(CLAIM, tokens=4), replace(CLAIM, mask="none"), replace(CLAIM, lse=True)]
)
def test_a_wider_claim_is_refused(tmp_path: Path, claim: Claim) -> None:
    write(tmp_path, within())
    with pytest.raises(RuleOutsideEnvelope):
        check(tmp_path, claim)


def test_without_the_gate_the_large_span_is_relied_on(tmp_path: Path) -> None:
    write(tmp_path, within())
    with pytest.raises(RuleOutsideEnvelope, match="span_4g"):
        check(tmp_path, gates=())


def test_a_gate_on_single_problems_forbids_no_class(tmp_path: Path) -> None:
    write(tmp_path, [member for member in within() if member.causal])
    with pytest.raises(RuleOutsideEnvelope):
        check(tmp_path, gates=(SPAN, Gate("g", ("*.co",), "mask", {"causal": [False], "heads": [16]}, "c", "r")))
    check(tmp_path, gates=(SPAN, Gate("g", ("*.co",), "mask", {"causal": [False]}, "c", "r")))


def test_split_mode_relies_on_one_and_on_several_splits() -> None:
    claim = Claim("split", "fp8", "fp8", 16, 1, 1, "causal", (True, False), False, False, False, False, (1,), ())
    assert {member.split for member in binding.needed(claim, ())} == {"one", "many"}
