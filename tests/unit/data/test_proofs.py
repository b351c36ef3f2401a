"""What the table does with evidence: claims rest on it, kernels without it are not served, and it belongs to exact bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot import table as tables
from aiter_mla_aot.problem import Problem
from build_tools.data import catalog
from build_tools.dispatch_table import proofs, table
from build_tools.errors import OrphanObject
from build_tools.prove import evidence
from build_tools.prove.errors import EvidenceInvalid, RuleOutsideEnvelope

HSA = Path(__file__).resolve().parents[3] / "hsa"
KERNEL = "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
ASKED = Problem("gfx942", "persistent", "fp8", "fp8", 64, 1, 1)


@pytest.fixture
def hsa(tmp_path: Path) -> Path:
    """A copy of one arch's data that a test may change."""
    shutil.copytree(HSA / "gfx942", tmp_path / "gfx942")
    return tmp_path


def file_of(hsa: Path) -> Path:
    (path,) = (hsa / "gfx942" / "evidence").glob(f"{KERNEL}-*.json")
    return path


def closed(hsa: Path, *, allow_unproven: bool = False) -> dict[str, Any]:
    data = catalog.load(hsa, "gfx942")
    return table.table(data, proofs.load(hsa, data, allow_unproven=allow_unproven))


def answer(made: dict[str, Any], problem: Problem = ASKED) -> str:
    """The kernel that serves a problem, or the refusal code."""
    parsed = tables.parse(json.loads(json.dumps(made)))
    leaf = parsed.catalogs["shipped"].leaf(problem)
    return parsed.refusals[leaf - tables.REFUSAL] if leaf >= tables.REFUSAL else parsed.kernels[parsed.plans[leaf][0]].name


def test_a_kernel_of_the_wheel_says_what_was_shown(hsa: Path) -> None:
    (row,) = (row for row in closed(hsa)["kernels"] if row["file"] == f"{KERNEL}.co" and row["shipped"])
    assert row["proof"]["classes"] > 0
    assert row["proof"]["members"] > row["proof"]["classes"]
    assert row["proof"]["timing"] in ("strict", "dependent")
    assert 0 < row["proof"]["output_error"] < 4e-2
    assert (proofs.FINITE_ROWS in row["preconditions"]) == (not row["proof"]["nan_safe"])


def test_every_claimed_kernel_of_the_wheel_has_evidence() -> None:
    for arch in catalog.archs(HSA):
        data = catalog.load(HSA, arch)
        assert proofs.load(HSA, data).unproven(data) == frozenset()


def test_without_evidence_a_kernel_is_not_served(hsa: Path) -> None:
    assert answer(closed(hsa)) == KERNEL
    file_of(hsa).unlink()
    made = closed(hsa)
    assert answer(made) == "unproven"
    (row,) = (row for row in made["kernels"] if row["file"] == f"{KERNEL}.co" and row["shipped"])
    assert "unproven" in row["gates"]
    assert row["proof"] is None
    assert answer(closed(hsa, allow_unproven=True)) == KERNEL


def test_evidence_belongs_to_the_exact_bytes(hsa: Path) -> None:
    """The object changed: the lock and the catalog name other bytes, and nothing was shown for them."""
    old = evidence.read(file_of(hsa)).sha256
    for name in ("kernels", "lock"):
        path = hsa / "gfx942" / f"{name}.toml"
        path.write_text(path.read_text("utf-8").replace(old, f"{'0' * 63}1"), "utf-8")
    with pytest.raises(OrphanObject, match=KERNEL):
        closed(hsa)
    file_of(hsa).unlink()
    assert answer(closed(hsa)) == "unproven"


def test_a_claim_wider_than_the_evidence_stops_the_build(hsa: Path) -> None:
    path = hsa / "gfx942" / "kernels.toml"
    head, mark, tail = path.read_text("utf-8").partition(f'file = "{KERNEL}.co"')
    path.write_text(head + mark + tail.replace("page_sizes = [1]", "page_sizes = [1, 16]", 1), "utf-8")
    with pytest.raises(RuleOutsideEnvelope, match=r"page_size 16"):
        closed(hsa)


def test_evidence_that_lost_a_class_stops_the_build(hsa: Path) -> None:
    path = file_of(hsa)
    data = json.loads(path.read_text("utf-8"))
    for finding in data["findings"]:
        finding["right"] = [row for row in finding["right"] if row[3] != 8]
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(RuleOutsideEnvelope, match="groups 8"):
        closed(hsa)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": 1, "semantics": 0}'])
def test_damaged_evidence_stops_the_build(hsa: Path, text: str) -> None:
    file_of(hsa).write_text(text, "utf-8")
    with pytest.raises(EvidenceInvalid):
        closed(hsa)
