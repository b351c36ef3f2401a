"""Evidence files: what goes in comes out, the same bytes each time, and nothing else is taken."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from build_tools.prove import evidence
from build_tools.prove.bars import Errors
from build_tools.prove.battery import Proof, prove
from build_tools.prove.case import Case, Recipe
from build_tools.prove.classes import ProblemClass
from build_tools.prove.errors import EvidenceInvalid
from build_tools.prove.findings import finding_of
from build_tools.prove.kernels import right_ones
from build_tools.prove.outcome import Outcome

RECIPE = Recipe("persistent", "fp8", "fp8", 16, 2)
SHA = "ab" * 32


def kernel(cases: Sequence[Case]) -> list[Outcome]:
    """A kernel that is right at page sizes 1 and 4, not with huge values and without causal mask, and not at_wait."""
    return [outcome(case) for case in cases]


def outcome(case: Case) -> Outcome:
    errors = Errors(0.01, 0.02, 1e-6 if case.partial_always else None, False)
    if case.page_size not in (1, 4) or case.timing == "at_wait" or case.memory_latency > 1000 or case.poison == "nan":
        return Outcome("wrong", Errors(2.0, 3.0, None, False), "worst row: token 0, head 0")
    if case.values == "huge" and not case.causal:
        return Outcome("fault", None, "unknown_opcode at 0x40")
    return Outcome("right", errors, digest="0123456789abcdef")


@pytest.fixture(scope="module")
def proof() -> Proof:
    return prove(RECIPE, kernel)


def made(proof: Proof) -> evidence.Evidence:
    return evidence.Evidence("gfx942", SHA, "k.co", "full", (finding_of(proof),))


def test_the_envelope_is_what_was_right(proof: Proof) -> None:
    envelope = made(proof).envelope(RECIPE)
    assert ProblemClass(1, "2", True, 1, "small", False) in envelope
    assert {member.page_size for member in envelope} == {1, 4}
    assert {member.causal for member in envelope if member.groups == 1 and member.span == "small" and not member.lse} == {True}


def test_causes_name_the_values_that_it_takes(proof: Proof) -> None:
    causes = {row["cause"] for row in finding_of(proof)["wrong"]}
    assert "wrong numbers (rows off), only with page_size 2" in causes
    assert any(cause.startswith("fault: unknown_opcode at 0x40") and "values huge" in cause and "causal False" in cause for cause in causes)


def test_properties_are_recorded_and_make_no_class_wrong(proof: Proof) -> None:
    properties = finding_of(proof)["properties"]
    assert properties["nan_safe"] is False
    assert properties["large_safe"] is True
    assert properties["timing"] == {"kind": "dependent", "models": ["at_wait"], "memory": 1200, "lds": None}


def test_another_recipe_has_no_envelope(proof: Proof) -> None:
    assert made(proof).envelope(Recipe("persistent", "fp8", "fp8", 16, 4)) == frozenset()


def test_a_file_comes_back_and_its_bytes_do_not_change(proof: Proof, tmp_path: Path) -> None:
    path = evidence.write(tmp_path, made(proof))
    assert path == tmp_path / "gfx942" / "evidence" / "k-abababababab.json"
    first = path.read_bytes()
    again = evidence.read(path)
    assert again.envelope(RECIPE) == made(proof).envelope(RECIPE)
    assert evidence.write(tmp_path, made(prove(RECIPE, kernel))).read_bytes() == first
    assert evidence.text_of(again).encode() == first


@pytest.mark.parametrize("change", ["schema", "semantics", "sha256", "findings", "level", "truncated"])
def test_a_damaged_file_is_refused(proof: Proof, tmp_path: Path, change: str) -> None:
    path = evidence.write(tmp_path, made(proof))
    data = json.loads(path.read_text())
    if change == "truncated":
        path.write_text(path.read_text()[:-200])
    else:
        data[change] = {"schema": 9, "semantics": 99, "sha256": "cd" * 32, "findings": [{"recipe": {}}], "level": []}[change]
        path.write_text(json.dumps(data))
    with pytest.raises(EvidenceInvalid):
        evidence.read(path)


def test_an_object_that_is_right_for_nothing_keeps_its_causes() -> None:
    def nothing(cases: Sequence[Case]) -> list[Outcome]:
        return [Outcome("fault", None, "out_of_bounds at 0x40") for _ in cases]

    first, second = prove(RECIPE, nothing), prove(replace(RECIPE, tokens=1), nothing)
    assert right_ones([first, second]) == (first,)
    assert right_ones([first, prove(RECIPE, kernel)])[0].right
    (cause, *_) = finding_of(first)["wrong"]
    assert cause["status"] == "fault"


def changed(finding: dict[str, object], place: str, value: object) -> dict[str, object]:
    """A copy of a finding in which the value at a dotted place is another one."""
    copy = json.loads(json.dumps(finding))
    *way, last = place.split(".")
    inner = copy
    for name in way:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    if isinstance(inner, list):
        inner[int(last)] = value
    else:
        inner[last] = value
    return dict(copy)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("right.0.0", 3),
        ("right.0.0", True),
        ("right.0.1", 1),
        ("right.0.2", 1),
        ("right.0.4", "span_9g"),
        ("right.0.8", 7),
        ("right.0", []),
        ("right", None),
        ("wrong.0.classes.0.3", -1),
        ("wrong.0.cause", None),
        ("wrong.0", "wrong"),
        ("worst.output", math.nan),
        ("worst.row", math.inf),
        ("worst.row", "0"),
        ("worst.lse", -1.0),
        ("properties.nan_safe", 1),
        ("properties.timing.kind", "fine"),
        ("properties.timing.lds", -300),
        ("members", 1.5),
        ("members", True),
        ("recipe.recipe", "other"),
        ("recipe.surprise", 1),
        ("recipe.heads", 0),
        ("recipe.heads", 10**9),
        ("recipe.heads", True),
        ("recipe.heads", 1.5),
        ("recipe.tokens", 1000),
        ("recipe.q_dtype", "nope"),
        ("recipe.kv_dtype", "nope"),
        ("recipe.q_dtype", ["bf16"]),
        ("recipe.single", "nope"),
        ("recipe.lse", 0),
        ("right", {}),
    ],
)
def test_a_finding_with_an_impossible_value_is_refused(proof: Proof, tmp_path: Path, place: str, value: object) -> None:
    path = evidence.write(tmp_path, made(proof))
    data = json.loads(path.read_text())
    data["findings"] = [changed(data["findings"][0], place, value)]
    path.write_text(json.dumps(data))
    with pytest.raises(EvidenceInvalid):
        evidence.read(path)


@pytest.mark.parametrize("text", [b"\xff\xfe", b"[" * 100_000, b"1e999", b""])
def test_a_file_that_is_no_evidence_is_refused(proof: Proof, tmp_path: Path, text: bytes) -> None:
    path = evidence.write(tmp_path, made(proof))
    path.write_bytes(text)
    with pytest.raises(EvidenceInvalid):
        evidence.read(path)
