"""From a record to the table: what a device showed changes exactly its problem, and what the emulator showed changes nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from aiter_mla_aot import cli, explanation
from aiter_mla_aot import table as tables
from aiter_mla_aot.dispatch import REFUSAL_TEXT
from aiter_mla_aot.problem import Problem
from build_tools import entry, errors
from build_tools.data import catalog, hardware
from build_tools.dispatch_table import emit_cpp, emit_matrix, proofs, table
from build_tools.hardware import importing, record
from tests import hardware_record

HSA = Path(__file__).resolve().parents[3] / "hsa"
NATIVE = "mla_a8w8_qh64_qseqlen1_gqaratio64_v3_ps"
FOLDED = "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
GATED = Problem("gfx942", "persistent", "fp8", "fp8", 64, 1, 16, batch=16)


@pytest.fixture
def hsa(tmp_path: Path) -> Path:
    """The data of one arch, without results from devices."""
    shutil.copytree(HSA / "gfx942", tmp_path / "hsa/gfx942", ignore=shutil.ignore_patterns(hardware.NAME))
    return tmp_path / "hsa"


def a_record(folder: Path, problem: Problem = GATED, kernel: str = NATIVE, keys: int = 2048, **changes: Any) -> Path:
    """A record as a device would give it."""
    data = catalog.load(HSA, "gfx942")
    row = next(row for row in data.kernels if row.file == f"{kernel}.co")
    request = {
        "problem": problem.to_json(),
        "kv_lens": [keys] * problem.batch,
        "forced": True,
        "kernel": {"file": row.file, "sha256": row.sha256, "bytes": row.bytes},
        "fold": {},
        "outcome": "right",
        "launched": True,
        "error": 1e-2,
        "bound": 4e-2,
        "text": "",
    }
    path = folder / f"{len(list(folder.glob('*.json')))}.json"
    path.write_text(json.dumps(hardware_record.record(request | changes)), encoding="utf-8")
    return path


def import_report(path: Path, hsa: Path) -> int:
    return entry.dispatch(["import-report", str(path), "--hsa", str(hsa)])


def closed(hsa: Path) -> dict[str, Any]:
    """The table of the two kernels that take 64 heads, which is quickly made."""
    data = catalog.load(hsa, "gfx942")
    shown = proofs.load(hsa, data)
    few = tuple(row for row in data.kernels if row.file in (f"{NATIVE}.co", f"{FOLDED}.co"))
    made = table.table(dataclasses.replace(data, kernels=few), shown)
    return dict(json.loads(json.dumps(made)))


NAMES: list[str] = [NATIVE, FOLDED, *REFUSAL_TEXT]


def answers(made: dict[str, Any], name: str) -> npt.NDArray[np.uint8]:
    """The kernel or the refusal code, as its place in NAMES, of every problem of the mode and dtypes that the two kernels take."""
    parsed = tables.parse(made)
    nodes = np.asarray(parsed.catalogs[name].nodes)
    mode, dtypes, *_ = tables.positions(GATED)
    places: npt.NDArray[np.int64] = nodes[nodes[parsed.catalogs[name].root + mode] + dtypes]
    for _, width in tables.AXES[2:]:
        places = nodes[places[..., None] + np.arange(width)]
    plans = [NAMES.index(parsed.kernels[kernel].name) for kernel, _ in parsed.plans]
    numbers = np.asarray([*plans, *map(NAMES.index, parsed.refusals)], np.uint8)
    return numbers[np.where(places < tables.REFUSAL, places, places - tables.REFUSAL + len(plans))]


def difference(before: dict[str, Any], after: dict[str, Any], name: str) -> list[tuple[tuple[int, ...], str, str]]:
    """Problems with another answer: their positions, and what it was and is."""
    was, now = answers(before, name), answers(after, name)
    places = [tuple(place) for place in np.argwhere(was != now).tolist()]
    return [(place, NAMES[was[place]], NAMES[now[place]]) for place in places]


def test_a_record_changes_its_problem_and_nothing_else(
    hsa: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = closed(hsa)
    assert import_report(a_record(tmp_path), hsa) == 0
    assert "lifts qh64-native-page-64-only for exactly this problem" in capsys.readouterr().out
    lifted = closed(hsa)
    assert difference(before, lifted, "full") == [(tables.positions(GATED)[2:], "page_size", NATIVE)]
    assert difference(before, lifted, "shipped") == []

    parsed = tables.parse(lifted)
    monkeypatch.setattr(tables, "archs", lambda: ("gfx942",))
    monkeypatch.setattr(tables, "load", lambda arch: parsed)
    told = explanation.explain(GATED, "full").to_json()
    (chosen,) = (one for one in told["candidates"] if one["verdict"] == "chosen")
    assert "lifted for this problem alone: reported from hardware: AMD Instinct MI300X, ROCm 7.0" in chosen["reasons"][1]
    assert [one["effect"] for one in told["hardware"]] == ["lifts"]
    assert explanation.explain(dataclasses.replace(GATED, page_size=32), "full").to_json()["hardware"] == []
    assert "reported from hardware: AMD Instinct MI300X" in emit_matrix.text({"gfx942": lifted})
    asked = ["--arch", "gfx942", "--heads", "64", "--q-dtype", "fp8", "--kv-dtype", "fp8", "--q-len", "1", "--page-size", "16"]
    cli.main(["explain", *asked, "--catalog", "full"])
    cli.main(["coverage", "--catalog", "full"])
    said = capsys.readouterr().out
    assert f"lifted        gate qh64-native-page-64-only of {NATIVE}, for this problem alone: reported from hardware: " in said
    assert "reported from hardware: 1 gates lifted, 0 added, each for one problem" in said

    # A second device, a smaller run, another outcome: what was wrong once is refused.
    assert import_report(a_record(tmp_path, dataclasses.replace(GATED, batch=1), keys=5, outcome="wrong", error=0.3), hsa) == 0
    assert "wrong wins" in capsys.readouterr().out
    assert difference(before, closed(hsa), "full") == []

    hardware.path_of(hsa, "gfx942").unlink()
    assert closed(hsa) == before
    assert "hardware" not in before


def test_a_wrong_result_is_refused_from_then_on(hsa: Path, tmp_path: Path) -> None:
    served = Problem("gfx942", "persistent", "fp8", "fp8", 16, 1, 1, batch=2)
    before = closed(hsa)
    import_report(a_record(tmp_path, served, FOLDED, 100, outcome="unfinished", error=None, forced=False), hsa)
    made = closed(hsa)
    for name in tables.CATALOGS:
        assert difference(before, made, name) == [(tables.positions(served)[2:], FOLDED, "hardware")]
    (gate,) = (gate for gate in made["gates"] if gate["code"] == "hardware")
    assert "the process ended during the launch on AMD Instinct MI300X, ROCm 7.0" in gate["cause"]
    digests = {"gfx942": "0" * 64}
    assert '"hardware"' in emit_cpp.header({"gfx942": made}, digests)
    assert '"hardware"' not in emit_cpp.header({"gfx942": before}, digests)


def test_a_record_that_is_imported_twice_changes_nothing(hsa: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = a_record(tmp_path)
    import_report(path, hsa)
    first = hardware.path_of(hsa, "gfx942").stat()
    capsys.readouterr()
    import_report(path, hsa)
    assert hardware.path_of(hsa, "gfx942").stat().st_mtime_ns == first.st_mtime_ns
    assert "0 of 1 results are new" in capsys.readouterr().out


def test_imports_at_the_same_time_lose_nothing(hsa: Path, tmp_path: Path) -> None:
    paths = [a_record(tmp_path, keys=2048 + number) for number in range(6)]
    threads = [threading.Thread(target=importing.import_record, args=(hsa, record.read(path))) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row.record for row in catalog.load(hsa, "gfx942").hardware} == {record.read(path).sha256 for path in paths}
    assert sorted(path.name for path in (hsa / "gfx942").glob("*hardware*")) == [hardware.NAME]


def test_a_folder_that_cannot_be_written_to_is_a_typed_error(hsa: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(errors.NotWritable):
        import_report(a_record(tmp_path), hsa)
    assert not hardware.path_of(hsa, "gfx942").exists()


def test_a_record_of_the_emulator_is_valid_and_lifts_nothing(hsa: Path, tmp_path: Path) -> None:
    path = tmp_path / "emulated.json"
    command = [sys.executable, "-P", "-m", "aiter_mla_aot", "smoke", "--emulate", "gfx942", "--record", str(path), "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["tier"], data["device"]["arch"]) == ("emulator", "gfx942")
    assert [row["error"] for row in data["requests"]] == [row["error"] for row in told["requests"]]
    assert {row["outcome"] for row in data["requests"]} == {"right"}
    with pytest.raises(errors.HardwareReportEmulated):
        import_report(path, hsa)
    # The same numbers from a device are a record in every field.
    path.write_text(json.dumps(data | {"tier": "device"}), encoding="utf-8")
    assert import_report(path, hsa) == 0
    assert len(catalog.load(hsa, "gfx942").hardware) == len(told["requests"])
    # Whoever runs it again does not lose the first record.
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 6


DIES = """
import os, sys
from aiter_mla_aot import cli
from aiter_mla_aot.smoke.request import Launch
Launch.run = lambda *_: os._exit(134)
cli.main(sys.argv[1:])
"""


def test_a_launch_that_kills_the_process_is_in_the_record(hsa: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "killed.json"
    command = [sys.executable, "-P", "-c", DIES, "smoke", "--emulate", "gfx942", "--record", str(path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 134
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [row["outcome"] for row in data["requests"]] == ["unfinished"]
    path.write_text(json.dumps(data | {"tier": "device"}), encoding="utf-8")
    assert import_report(path, hsa) == 0
    assert "adds gate hardware-" in capsys.readouterr().out


STOPPED = """
import sys
from aiter_mla_aot import cli
from aiter_mla_aot.smoke.request import Launch
def stopped(*_): raise KeyboardInterrupt
Launch.error = stopped
sys.exit(cli.main(sys.argv[1:]))
"""


def test_a_run_that_is_stopped_after_a_launch_says_nothing_of_its_kernel(tmp_path: Path) -> None:
    path = tmp_path / "stopped.json"
    command = [sys.executable, "-P", "-c", STOPPED, "smoke", "--emulate", "gfx942", "--record", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "interrupted"
    assert "Traceback" not in done.stderr
    assert json.loads(path.read_text(encoding="utf-8"))["requests"] == []


def test_a_disk_that_is_full_leaves_no_file(hsa: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(errors.DiskFull):
        import_report(a_record(tmp_path), hsa)
    assert not list((hsa / "gfx942").glob("*hardware*"))


def test_a_kernel_is_forced_past_a_reported_gate_and_gives_what_the_extension_gives(tmp_path: Path) -> None:
    kernel = "mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps"
    plain = {"arch": "gfx950", "mode": "persistent", "q_dtype": "bf16", "kv_dtype": "bf16", "heads": 16, "q_len": 2, "page_size": 1}
    problems = tmp_path / "problems.jsonl"
    problems.write_text(f"{json.dumps(plain)}\n{json.dumps(plain | {'page_size': 16, 'kv_lens': [40]})}\n", encoding="utf-8")

    def smoke(*more: str) -> tuple[int, dict[str, Any]]:
        command = [sys.executable, "-P", "-m", "aiter_mla_aot", "smoke", "--emulate", "gfx950", "--problem", str(problems), "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout)

    _, allowed = smoke()
    assert [row["outcome"] for row in allowed["requests"]] == ["right", "refused"]
    code, forced = smoke("--force-kernel", kernel, "--record", str(tmp_path / "record.json"))
    assert code == 5
    assert [(row["outcome"], row["forced"]) for row in forced["requests"]] == [("right", True), ("wrong", True)]
    assert forced["requests"][0]["error"] == allowed["requests"][0]["error"]
    code, told = smoke("--force-kernel", "mla_a8w8_qh16_qseqlen1_gqaratio16_ps", "--record", str(tmp_path / "other.json"))
    assert (code, told["error"]["code"]) == (2, "MLA105")
    assert not (tmp_path / "other.json").exists()
