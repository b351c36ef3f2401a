"""A record is read strictly: each fault has its own error, and nothing of such a record is taken."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.problem import Problem
from build_tools import errors
from build_tools.hardware import importing, record
from tests import hardware_record

HSA = Path(__file__).resolve().parents[3] / "hsa"
REQUEST: dict[str, Any] = {
    "problem": Problem("gfx942", "persistent", "fp8", "fp8", 16, 1, 1, batch=2).to_json(),
    "kv_lens": [150, 3],
    "forced": False,
    "kernel": {"file": "mla_any.co", "sha256": "a" * 64, "bytes": 100},
    "fold": {},
    "outcome": "right",
    "launched": True,
    "error": 1e-3,
    "bound": 4e-2,
    "text": "",
}
RECORD = hardware_record.record(REQUEST)
Change = Callable[[dict[str, Any]], None]


def changed(folder: Path, change: Change) -> Path:
    data = copy.deepcopy(RECORD)
    change(data)
    path = folder / "record.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def setting(*place: Any, to: Any) -> Change:
    def change(data: Any) -> None:
        for key in place[:-1]:
            data = data[key]
        data[place[-1]] = to

    return change


def request(**changes: Any) -> Change:
    return lambda data: data["requests"][0].update(changes)


def test_a_record_is_read_with_what_ran(tmp_path: Path) -> None:
    def refused_too(data: dict[str, Any]) -> None:
        data["requests"].append(REQUEST | {"outcome": "refused", "kernel": None, "launched": False, "error": None, "bound": None})
        data["requests"].append(REQUEST | {"outcome": "failed", "launched": False, "error": None, "text": "an argument"})
        data["requests"].append(REQUEST | {"outcome": "wrong", "error": None})

    found = record.read(changed(tmp_path, refused_too))
    assert (found.device, found.arch, found.rocm, found.compute_units) == ("AMD Instinct MI300X", "gfx942", "7.0", 304)
    assert [(one.number, one.outcome) for one in found.requests] == [(0, "right"), (3, "wrong")]
    assert found.others == 2


FAULTS: dict[str, tuple[Change, type[errors.HardwareReportError]]] = {
    "schema": (setting("schema", to=2), errors.HardwareReportUnreadable),
    "schema that is no integer": (setting("schema", to=True), errors.HardwareReportUnreadable),
    "kind": (setting("kind", to="another"), errors.HardwareReportUnreadable),
    "emulator": (setting("tier", to="emulator"), errors.HardwareReportEmulated),
    "tier": (setting("tier", to="simulator"), errors.HardwareReportMalformed),
    "unknown field": (setting("colour", to=1), errors.HardwareReportMalformed),
    "missing field": (lambda data: data.pop("rocm"), errors.HardwareReportMalformed),
    "date": (setting("date", to="today"), errors.HardwareReportMalformed),
    "name of control characters": (setting("device", "name", to="MI\n300"), errors.HardwareReportMalformed),
    "no name": (setting("device", "name", to=""), errors.HardwareReportMalformed),
    "units": (setting("device", "compute_units", to=True), errors.HardwareReportMalformed),
    "target of another arch": (setting("device", "target_id", to="gfx950:xnack-"), errors.HardwareReportContradicts),
    "package": (setting("package", "lock_sha256", to="0"), errors.HardwareReportMalformed),
    "requests": (setting("requests", to={}), errors.HardwareReportMalformed),
    "request that is no object": (setting("requests", to=[1]), errors.HardwareReportMalformed),
    "unknown field of a request": (request(colour=1), errors.HardwareReportMalformed),
    "unhashable outcome": (request(outcome=["right"]), errors.HardwareReportMalformed),
    "problem with a field less": (lambda data: data["requests"][0]["problem"].pop("lse"), errors.HardwareReportMalformed),
    "problem that is none": (setting("requests", 0, "problem", "heads", to=0), errors.HardwareReportMalformed),
    "problem of another arch": (setting("requests", 0, "problem", "arch", to="gfx950"), errors.HardwareReportContradicts),
    "lengths": (request(kv_lens=[1, -1]), errors.HardwareReportMalformed),
    "number of lengths": (request(kv_lens=[150]), errors.HardwareReportContradicts),
    "kernel": (request(kernel={"file": "../x.co", "sha256": "a" * 64, "bytes": 1}), errors.HardwareReportMalformed),
    "no kernel": (request(kernel=None), errors.HardwareReportContradicts),
    "refused with a kernel": (request(outcome="refused", error=None), errors.HardwareReportContradicts),
    "right with too large an error": (request(error=0.05), errors.HardwareReportContradicts),
    "right without an error": (request(error=None), errors.HardwareReportContradicts),
    "wrong with a small error": (request(outcome="wrong"), errors.HardwareReportContradicts),
    "failed with an error": (request(outcome="failed", error=0.3), errors.HardwareReportContradicts),
    "generous bound": (request(bound=0.5), errors.HardwareReportContradicts),
    "right without a launch": (request(launched=False), errors.HardwareReportContradicts),
    "date that is none": (setting("date", to="9999-99-99T99:99:99Z"), errors.HardwareReportMalformed),
    "date of other digits": (setting("date", to="٢026-12-01T00:00:00Z"), errors.HardwareReportMalformed),
    "error beyond a float": (request(outcome="wrong", error=10**400), errors.HardwareReportMalformed),
    "kernel without a fold": (request(fold=None), errors.HardwareReportContradicts),
    **{
        f"problem that no kernel ran: {name}": (setting("requests", 0, "problem", name, to=value), errors.HardwareReportContradicts)
        for name, value in {
            "out_dtype": "fp16",
            "qk_head_dim": 128,
            "v_head_dim": 128,
            "logit_cap": 5.0,
            "kv_bytes": 1 << 40,
            "lse": True,
            "ragged": True,
            "sparse": True,
            "cp_world_size": 2,
        }.items()
    },
    "more keys than smoke has": (request(kv_lens=[1 << 20, 1]), errors.HardwareReportContradicts),
    "fewer keys than query tokens": (request(kv_lens=[150, 0]), errors.HardwareReportContradicts),
    "long text": (request(text="x" * 1001), errors.HardwareReportMalformed),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_record_is_refused(tmp_path: Path, fault: str) -> None:
    change, error = FAULTS[fault]
    with pytest.raises(error) as caught:
        record.read(changed(tmp_path, change))
    assert caught.value.cause
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"schema": 1, "schema": 1}', '{"schema": NaN}', "\udcff"])
def test_what_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(errors.HardwareReportUnreadable):
        record.read(path)


def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(record.LARGEST_FILE + 1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path, tmp_path / "absent", large, pipe):
        with pytest.raises(errors.HardwareReportUnreadable):
            record.read(path)


def test_damaged_bytes_are_a_record_or_a_typed_error(tmp_path: Path) -> None:
    chance = random.Random(580)
    whole = json.dumps(RECORD).encode()
    path = tmp_path / "record.json"
    refused = 0
    for _ in range(500):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(len(content))] = chance.choice(b'0123456789-.{}[]",:aenrt\x00\xff')
        path.write_bytes(content)
        try:
            record.read(path)
        except errors.HardwareReportError:
            refused += 1
    assert refused > 100


def test_only_objects_of_the_catalog_are_taken_by_their_bytes(tmp_path: Path) -> None:
    with pytest.raises(errors.HardwareReportUnknownObject):
        importing.import_record(HSA, record.read(changed(tmp_path, lambda _: None)))
    known = "b86601b4f183"
    (line,) = {line for line in (HSA / "gfx942/kernels.toml").read_text("utf-8").splitlines() if f'"{known}' in line and "sha256" in line}
    with pytest.raises(errors.HardwareReportContradicts, match="has the hash"):
        importing.import_record(HSA, record.read(changed(tmp_path, setting("requests", 0, "kernel", "sha256", to=line.split('"')[1]))))


def test_an_arch_without_data_is_refused(tmp_path: Path) -> None:
    def other(data: dict[str, Any]) -> None:
        data["device"] |= {"arch": "gfx90a", "target_id": "gfx90a"}
        data["requests"] = []

    with pytest.raises(errors.HardwareReportUnknownObject, match="gfx90a"):
        importing.import_record(HSA, record.read(changed(tmp_path, other)))
