"""What smoke is asked to run, what it keeps of it, and which kernels it may be forced to run."""

from __future__ import annotations

import ctypes
import json
import os
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot import build_info, cli, table
from aiter_mla_aot.device import HipRuntime
from aiter_mla_aot.errors import InvalidProblem, NotForcible, RecordUnwritable
from aiter_mla_aot.problem import Problem
from aiter_mla_aot.smoke import Outcome, Place, forced, posed
from aiter_mla_aot.smoke.memory import Memory
from aiter_mla_aot.smoke.record import LARGEST_TEXT, Recorder

PLAIN: dict[str, Any] = {
    "arch": "gfx950",
    "mode": "persistent",
    "q_dtype": "bf16",
    "kv_dtype": "bf16",
    "heads": 16,
    "q_len": 1,
    "page_size": 1,
}
PLACE = Place("device", "AMD Instinct MI350X", "gfx950", "gfx950:sramecc+:xnack-", 256, "7.0")


def parsed(**changes: Any) -> posed.Posed:
    (one,) = posed.parse(["", json.dumps(PLAIN | changes)])
    return one


def test_a_problem_is_posed_with_its_lengths_or_the_usual_ones() -> None:
    assert parsed(kv_lens=[7, 9, 11]).lengths == (7, 9, 11)
    assert parsed(kv_lens=[7, 9, 11]).problem.batch == 3
    assert parsed().lengths == posed.LENGTHS
    assert parsed(batch=3, q_len=5).lengths == (150, 5, 150)


@pytest.mark.parametrize(
    "changes",
    [
        {"kv_lens": []},
        {"kv_lens": 5},
        {"kv_lens": [0]},
        {"kv_lens": [True]},
        {"kv_lens": [1 << 20, 1]},
        {"kv_lens": [5] * 1025},
        {"kv_lens": [5], "batch": 2},
        {"batch": 10**12},
        {"q_len": 4, "kv_lens": [3]},
        {"lse": True},
        {"ragged": True},
        {"sparse": True},
        {"cp_world_size": 2},
        {"kv_dtype": "byte"},
        {"kv_bytes": 1 << 33},
        {"heads": 0},
        {"colour": 1},
    ],
)
def test_a_line_that_cannot_be_posed_is_an_error_with_its_number(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblem, match="line 2"):
        parsed(**changes)


def test_a_field_given_twice_is_an_error() -> None:
    line = json.dumps(PLAIN)
    with pytest.raises(InvalidProblem, match="given twice"):
        posed.parse([line[:-1] + ', "heads": 16}'])


@pytest.mark.parametrize("text", ["", "\n\n", "{", "[]", "\udcff"])
def test_a_file_without_problems_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InvalidProblem):
        posed.read(str(path))
    with pytest.raises(InvalidProblem):
        posed.read(str(tmp_path / "absent"))
    with pytest.raises(InvalidProblem, match="larger"):
        posed.read("/dev/zero")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_info, "load", lambda: {"version": "0.1.0", "lock_sha256": "1" * 64})
    monkeypatch.setattr(table, "index", lambda: {"gfx950": "0" * 64})


@pytest.mark.usefixtures("built")
def test_a_record_is_whole_after_every_step(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    recorder = Recorder(path)
    assert not path.exists()
    one = Outcome(Problem(**PLAIN), "refused", text="first\nsecond " + "x" * 2000)
    for count in range(3):
        recorder.write(PLACE, [one] * count)
        data = json.loads(path.read_text(encoding="utf-8"))
        assert len(data["requests"]) == count
    assert data["device"] == {"name": PLACE.name, "arch": "gfx950", "target_id": PLACE.target_id, "compute_units": 256}
    assert data["requests"][0]["text"].startswith("first second x")
    assert len(data["requests"][0]["text"]) == LARGEST_TEXT
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.usefixtures("built")
def test_a_record_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    late = Recorder(path)
    Recorder(path).write(PLACE, [])
    with pytest.raises(RecordUnwritable, match="cannot be written"):
        late.write(PLACE, [])
    with pytest.raises(RecordUnwritable, match="exists"):
        Recorder(path)


@pytest.mark.usefixtures("built")
def test_a_record_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecordUnwritable):
        Recorder(tmp_path / "absent" / "record.json")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    recorder = Recorder(tmp_path / "record.json")
    recorder.write(PLACE, [])
    before = (tmp_path / "record.json").read_bytes()
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(RecordUnwritable) as caught:
        recorder.write(PLACE, [])
    assert caught.value.cause == "No space left on device"
    assert (tmp_path / "record.json").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("length", [250, 255])
def test_a_name_may_be_as_long_as_names_are(tmp_path: Path, length: int) -> None:
    path = tmp_path / ("r" * length)
    Recorder(path).write(PLACE, [])
    assert json.loads(path.read_text())["requests"] == []
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(RecordUnwritable, match="cannot be written"):
        Recorder(tmp_path / ("r" * 256))


@pytest.mark.usefixtures("built")
def test_a_record_that_could_not_begin_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordUnwritable):
        Recorder(tmp_path / "record.json").write(PLACE, [])
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_command_ends_with_the_exit_code_of_shells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(posed, "read", interrupted)
    assert cli.main(["smoke", "--emulate", "gfx950", "--problem", str(tmp_path / "p")]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("option", ["--problem", "--record"])
def test_an_empty_name_is_not_taken_as_none(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["smoke", "--emulate", "gfx950", option, ""]) in (2, 6)
    assert {"--problem": "MLA101", "--record": "MLA104"}[option] in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_stops_before_anything_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["smoke", "--emulate", "gfx950", "--record", str(tmp_path / "absent/record.json"), "--json"]) == 6
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "MLA104"


def test_forcing_needs_problems_and_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["smoke", "--force-kernel", "mla_any", "--record", str(tmp_path / "record.json")]) == 2
    assert "--problem" in capsys.readouterr().err


def test_a_device_is_called_what_the_run_time_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hip:
        def __init__(self, _: str) -> None:
            pass

        def __getattr__(self, function: str) -> Any:
            assert function == "hipDeviceGetName"
            return self.answer

        def answer(self, text: Any, size: int, device: int) -> int:
            text.value = b"AMD Instinct\x01 MI300X " if (size, device) == (256, 3) else b""
            return 0

    monkeypatch.setattr(ctypes, "CDLL", Hip)
    assert Memory(HipRuntime("libamdhip64.so", "loaded", 1, emulated=False), 3).name() == "AMD Instinct MI300X"
    assert Memory(HipRuntime("emulator.so", "path", 1, emulated=True), 3).name() == "emulator"


GATED = "mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps"


def test_only_gates_that_rest_on_devices_can_be_forced() -> None:
    problem = Problem(**PLAIN | {"page_size": 16})
    plan = forced.plan(problem, GATED)
    assert (plan.kernel.name, plan.route) == (GATED, "native")


@pytest.mark.parametrize(
    ("changes", "kernel"),
    [
        ({"page_size": 16, "lse": True}, GATED),
        ({"page_size": 16, "heads": 128}, GATED),
        ({"page_size": 16, "q_dtype": "fp8", "kv_dtype": "fp8"}, GATED),
        ({"page_size": 16, "logit_cap": 1.0}, GATED),
        ({"lse": True}, GATED),
        ({"arch": "gfx942", "page_size": 16}, GATED),
        ({"arch": "gfx90a"}, GATED),
        ({}, "mla_none"),
        ({"mode": "split"}, "mla_a8w8_qh16_qseqlen4_gqaratio16"),
    ],
)
def test_everything_else_stays_refused(changes: dict[str, Any], kernel: str) -> None:
    with pytest.raises(NotForcible):
        forced.plan(Problem(**PLAIN | changes), kernel)
