"""Results from devices in the data: what they lift, what they forbid, and what they leave as it is."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.problem import Problem
from build_tools import errors
from build_tools.data import catalog, hardware
from build_tools.data.hardware import HardwareResult
from build_tools.dispatch_table import proofs
from build_tools.dispatch_table.hardware import Verdict, verdicts

HSA = Path(__file__).resolve().parents[3] / "hsa"
QH64 = "mla_a8w8_qh64_qseqlen1_gqaratio64_v3_ps.co"
PAGE_GATE = "qh64-native-page-64-only"
GATED = Problem("gfx942", "persistent", "fp8", "fp8", 64, 1, 16, batch=16)
REPORTED = (2048,) * 16
"""The size at which ROCm/aiter#4363 saw the fault."""


@cache
def known(arch: str) -> tuple[catalog.ArchCatalog, proofs.Proofs]:
    data = dataclasses.replace(catalog.load(HSA, arch), hardware=())
    return data, proofs.load(HSA, data)


def result(problem: Problem = GATED, file: str = QH64, lengths: tuple[int, ...] = REPORTED, **changes: Any) -> HardwareResult:
    data, _ = known(problem.arch)
    (sha256,) = {row.sha256 for row in data.kernels if row.file == file and row.sha256 not in data.superseded()}
    bound = 1e-2 if problem.kv_dtype == "bf16" else 4e-2
    plain = HardwareResult(
        sha256=sha256,
        file=file,
        outcome="right",
        device="AMD Instinct MI300X",
        target_id=f"{problem.arch}:sramecc+:xnack-",
        compute_units=304,
        rocm="7.0",
        package="0.1.0",
        date="2026-12-01T00:00:00Z",
        record="0" * 64,
        request=0,
        forced=True,
        bound=bound,
        kv_lens=lengths,
        problem=dataclasses.replace(problem, batch=len(lengths)).to_json(),
        error=1e-3,
    )
    return dataclasses.replace(plain, **changes)


def wrong(row: HardwareResult, outcome: str = "wrong", **changes: Any) -> HardwareResult:
    return dataclasses.replace(row, outcome=outcome, error=0.5 if outcome == "wrong" else None, request=row.request + 1, **changes)


def judged(*rows: HardwareResult, change: Callable[[catalog.ArchCatalog], catalog.ArchCatalog] | None = None) -> list[Verdict]:
    plain, shown = known(rows[0].problem["arch"])
    data = dataclasses.replace(plain, hardware=rows)
    return list(verdicts(change(data) if change else data, shown).values())


def test_a_right_result_lifts_the_gate_for_its_problem() -> None:
    (verdict,) = judged(result())
    assert (verdict.effect, verdict.added) == ("lifts", None)
    (rule,) = verdict.rules
    assert (rule.gate, rule.code) == (PAGE_GATE, "page_size")
    assert rule.text == "reported from hardware: AMD Instinct MI300X, ROCm 7.0"
    assert all(len(values) == 1 for values in rule.when.values())
    assert len(rule.when) == 9


@pytest.mark.parametrize("lengths", [(512,), (1024,) * 4, (2048,) * 15, (2047,) * 16])
def test_a_smaller_run_than_the_one_that_was_reported_lifts_nothing(lengths: tuple[int, ...]) -> None:
    (verdict,) = judged(result(lengths=lengths))
    assert verdict.effect == "none"
    assert "16 requests of 2048 keys" in verdict.why


def test_a_gate_without_a_report_from_a_device_is_not_lifted_by_one() -> None:
    def no_reports(data: catalog.ArchCatalog) -> catalog.ArchCatalog:
        return dataclasses.replace(data, reports=tuple(report for report in data.reports if report.gate != PAGE_GATE))

    (verdict,) = judged(result(), change=no_reports)
    assert verdict.effect == "none"
    assert f"gate {PAGE_GATE} does not rest on a report" in verdict.why


def test_a_kernel_that_the_emulator_finds_wrong_is_not_lifted_by_a_device() -> None:
    problem = Problem("gfx950", "persistent", "bf16", "bf16", 16, 1, 16)
    (verdict,) = judged(result(problem, "mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps.co"))
    assert verdict.effect == "none"
    assert "right on the emulator too" in verdict.why
    assert "page_size 16" in verdict.why


def test_what_fails_for_another_reason_as_well_stays_refused() -> None:
    (verdict,) = judged(result(dataclasses.replace(GATED, heads=48)))
    assert verdict.effect == "none"
    assert "heads" in verdict.why


def test_a_right_result_where_nothing_forbids_the_kernel_changes_nothing() -> None:
    problem = Problem("gfx942", "persistent", "fp8", "fp8", 16, 1, 1)
    (verdict,) = judged(result(problem, "mla_a8w8_qh16_qseqlen1_gqaratio16_ps.co"))
    assert verdict == Verdict("no gate forbids the kernel here")


@pytest.mark.parametrize("outcome", ["wrong", "failed", "unfinished"])
def test_a_bad_result_adds_a_gate_with_its_cause(outcome: str) -> None:
    problem = Problem("gfx942", "persistent", "fp8", "fp8", 16, 1, 1)
    row = wrong(result(problem, "mla_a8w8_qh16_qseqlen1_gqaratio16_ps.co"), outcome, text="an illegal access")
    (verdict,) = judged(row)
    assert verdict.effect == "forbids"
    assert verdict.added is not None
    assert verdict.added.code == "hardware"
    assert verdict.added.cause.startswith("reported from hardware: ")
    assert verdict.added.cause.endswith("on AMD Instinct MI300X, ROCm 7.0")
    assert {"wrong": "0.5", "failed": "an illegal access", "unfinished": "process ended"}[outcome] in verdict.added.cause
    assert verdict.added.reference == f"record {'0' * 12}"


def test_wrong_wins_over_right_and_says_so() -> None:
    (verdict,) = judged(result(), wrong(result(lengths=(512,))))
    assert verdict.effect == "forbids"
    assert "wrong wins" in verdict.why


def test_results_of_other_problems_do_not_meet() -> None:
    found = judged(result(), wrong(result(dataclasses.replace(GATED, page_size=32))))
    assert sorted(verdict.effect for verdict in found) == ["forbids", "lifts"]


@pytest.fixture
def hsa(tmp_path: Path) -> Path:
    shutil.copytree(HSA / "gfx942", tmp_path / "gfx942")
    return tmp_path


def test_the_file_is_read_as_it_was_written_in_one_order(hsa: Path) -> None:
    rows = [result(), wrong(result(), text='a "quoted" \\ path é'), result(lengths=(512,), record="1" * 64, error=1e-9)]
    text = hardware.text_of("gfx942", rows)
    assert text == hardware.text_of("gfx942", rows[::-1])
    hardware.path_of(hsa, "gfx942").write_text(text, encoding="utf-8")
    assert {row.place for row in catalog.load(hsa, "gfx942").hardware} == {row.place for row in rows}
    assert {row.text for row in catalog.load(hsa, "gfx942").hardware} == {"", 'a "quoted" \\ path é'}


FAULTS: dict[str, tuple[Callable[[str], str], type[errors.DataError]]] = {
    "unknown field": (lambda text: text + "colour = 1\n", errors.UnknownField),
    "other bytes": (lambda text: text.replace('sha256 = "', 'sha256 = "0', 1), errors.SchemaDrift),
    "other file": (lambda text: text.replace(QH64, "mla_none.co"), errors.SchemaDrift),
    "right with too large an error": (lambda text: text.replace("error = 0.001", "error = 0.1"), errors.SchemaDrift),
    "unknown outcome": (lambda text: text.replace('"right"', '"fine"'), errors.SchemaDrift),
    "problem of another arch": (lambda text: text.replace('{ arch = "gfx942"', '{ arch = "gfx950"'), errors.SchemaDrift),
    "problem with a field less": (lambda text: text.replace(", sparse = false", ""), errors.SchemaDrift),
    "problem that is none": (lambda text: text.replace("heads = 64", "heads = 640"), errors.SchemaDrift),
    "other number of requests": (lambda text: text.replace("batch = 16", "batch = 17"), errors.SchemaDrift),
    "infinite bound": (lambda text: text.replace("bound = 0.04", "bound = inf"), errors.SchemaDrift),
    "generous bound": (lambda text: text.replace("bound = 0.04", "bound = 0.5"), errors.SchemaDrift),
    "device of control characters": (lambda text: text.replace("AMD Instinct", "\\u001b[1m"), errors.SchemaDrift),
    "target of another arch": (lambda text: text.replace('target_id = "gfx942', 'target_id = "gfx950'), errors.SchemaDrift),
    "problem that no kernel ran": (lambda text: text.replace("logit_cap = 0.0", "logit_cap = 5.0"), errors.SchemaDrift),
    "keys that are none": (lambda text: text.replace("kv_lens = [2048", "kv_lens = [-1"), errors.SchemaDrift),
    "number of 5000 digits": (lambda text: text + f"colour = {'9' * 5000}\n", errors.DataFileUnreadable),
    "deep list": (lambda text: text + f"colour = {'[' * 5000}\n", errors.DataFileUnreadable),
    "twice": (lambda text: text + text[text.index("[[result]]") :], errors.DuplicateKey),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_file_stops_the_build(hsa: Path, fault: str) -> None:
    change, error = FAULTS[fault]
    text = hardware.text_of("gfx942", [result()])
    assert change(text) != text
    hardware.path_of(hsa, "gfx942").write_text(change(text), encoding="utf-8")
    with pytest.raises(error):
        catalog.load(hsa, "gfx942")


@pytest.mark.parametrize("text", ["failed_batch = 16\n", "failed_batch = 0\nfailed_keys = 1\n"])
def test_a_report_gives_the_whole_size_of_the_run_that_failed_or_none(hsa: Path, text: str) -> None:
    path = hsa / "gfx942" / "reports.toml"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("failed_batch = 16\nfailed_keys = 2048\n", text, 1), encoding="utf-8")
    with pytest.raises(errors.SchemaDrift, match="size of the run"):
        catalog.load(hsa, "gfx942")
