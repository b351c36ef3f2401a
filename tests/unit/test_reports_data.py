"""The public reports under ``hsa/``: complete rows, addresses that match their ids, and a gate or a written reason for each."""

from __future__ import annotations

import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import tomllib

HSA = Path(__file__).resolve().parents[2] / "hsa"
ARCHS = ("gfx942", "gfx950")
TEXT_FIELDS = ("id", "url", "title", "arch", "family", "shape", "symptom", "state")
STATES = ("open", "closed", "merged", "unknown")
NOT_A_KERNEL = ("planner", "reduce", "dispatch", "runtime")
"""Values of `family` for reports that concern no single kernel."""


def rows(arch: str, name: str, section: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((HSA / arch / f"{name}.toml").read_text(encoding="utf-8"))[section]
    return found


def reports(arch: str) -> list[dict[str, Any]]:
    return rows(arch, "reports", "report")


@pytest.mark.parametrize("arch", ARCHS)
def test_every_report_has_exactly_its_fields(arch: str) -> None:
    for report in reports(arch):
        outcome = report.keys() & {"gate", "no_gate"}
        assert len(outcome) == 1, report["id"]
        sizes = report.keys() & {"failed_batch", "failed_keys"}
        assert report.keys() == {*TEXT_FIELDS, "seen", *outcome, *sizes}, report["id"]
        for field in (*TEXT_FIELDS, *outcome):
            assert isinstance(report[field], str), (report["id"], field)
            assert report[field].strip() == report[field] != "", (report["id"], field)
        assert type(report["seen"]) is datetime.date, report["id"]


@pytest.mark.parametrize("arch", ARCHS)
def test_report_is_of_the_arch_of_its_folder_and_in_a_known_state(arch: str) -> None:
    assert {report["arch"] for report in reports(arch)} == {arch}
    assert {report["state"] for report in reports(arch)} <= set(STATES)


@pytest.mark.parametrize("arch", ARCHS)
def test_report_ids_are_unique(arch: str) -> None:
    ids = [report["id"] for report in reports(arch)]
    assert sorted(set(ids)) == sorted(ids)


@pytest.mark.parametrize("arch", ARCHS)
def test_address_is_that_of_the_id(arch: str) -> None:
    for report in reports(arch):
        repository, number = report["id"].split("#")
        base = f"https://github.com/{repository}"
        assert report["url"] in (f"{base}/issues/{number}", f"{base}/pull/{number}"), report["id"]


@pytest.mark.parametrize("arch", ARCHS)
def test_only_a_pull_request_is_merged(arch: str) -> None:
    for report in reports(arch):
        assert report["state"] != "merged" or "/pull/" in report["url"], report["id"]


@pytest.mark.parametrize("arch", ARCHS)
def test_family_names_a_catalogued_kernel_or_what_it_concerns_instead(arch: str) -> None:
    files = [kernel["file"] for kernel in rows(arch, "kernels", "kernel")]
    for report in reports(arch):
        family = report["family"]
        assert family in NOT_A_KERNEL or any(fnmatchcase(file, family) for file in files), report["id"]


@pytest.mark.parametrize("arch", ARCHS)
def test_named_gates_exist(arch: str) -> None:
    gates = {gate["id"] for gate in rows(arch, "gates", "gate")}
    assert {report["gate"] for report in reports(arch) if "gate" in report} <= gates


@pytest.mark.parametrize("arch", ARCHS)
def test_a_report_of_a_gate_concerns_kernels_that_the_gate_covers(arch: str) -> None:
    gates = {gate["id"]: gate["kernels"] for gate in rows(arch, "gates", "gate")}
    files = [kernel["file"] for kernel in rows(arch, "kernels", "kernel")]
    for report in reports(arch):
        if "gate" not in report:
            continue
        concerned = [file for file in files if fnmatchcase(file, report["family"])]
        assert any(fnmatchcase(file, pattern) for file in concerned for pattern in gates[report["gate"]]), report["id"]


@pytest.mark.parametrize(
    ("arch", "name", "gate"),
    [
        ("gfx942", "ROCm/aiter#4363", "qh64-native-page-64-only"),
        ("gfx942", "ROCm/aiter#4365", "qh64-native-page-64-only"),
        ("gfx942", "ROCm/aiter#4752", None),
        ("gfx950", "ROCm/aiter#4752", None),
        ("gfx950", "ROCm/aiter#3095", "gfx950-bf16-persistent-page-1"),
        ("gfx942", "ROCm/aiter#5765", "kv-span-32-bit"),
        ("gfx950", "ROCm/aiter#5765", "kv-span-32-bit"),
    ],
)
def test_known_reports_lead_where_they_must(arch: str, name: str, gate: str | None) -> None:
    (report,) = [report for report in reports(arch) if report["id"] == name]
    assert report.get("gate") == gate


def test_rows_carried_over_from_the_other_arch_say_so() -> None:
    """What was seen on gfx950 only and is applied to gfx942 must not read as if it had been seen there."""
    carried = {report["id"]: report for report in reports("gfx942") if "by analogy" in report["title"]}
    assert {"ROCm/aiter#2768", "ROCm/aiter#5765", "ROCm/aiter#4752"} <= carried.keys()
    assert all(report["shape"].startswith("reported for gfx950; by analogy") for report in carried.values())
