"""AMD's published objects on the machine: nothing in them is unknown, and the smallest fp8 decode kernel gives the reference's rows."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from build_tools.code_object import read_file
from tests.emulator.machine.hip import Hip

ROOT = Path(__file__).resolve().parents[3]
OBJECTS = Path(os.environ.get("AITER_MLA_OBJECTS", ROOT / "build" / "objects"))
KERNEL = "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
UNITS = 20
HEADS, QK, V = 16, 576, 512


def objects(arch: str) -> list[Path]:
    found = sorted((OBJECTS / arch).rglob("*.co"))
    if not found:
        pytest.fail(
            f"{OBJECTS / arch} holds no objects: run `python3 -m build_tools wheel` first, or name their folder in AITER_MLA_OBJECTS"
        )
    return found


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_every_instruction_of_every_object_can_run(hip: Hip, arch: str) -> None:
    hip.devices(arch)
    for path in objects(arch):
        module = hip.load(path.read_bytes())
        for kernel in read_file(path).kernels:
            audit = json.loads(hip.library.emulator_audit(hip.function(module, kernel.name)))
            assert audit["unknown"] == [], path.name
        hip.call("hipModuleUnload", module)


def fp8_values(arch: str) -> npt.NDArray[np.float64]:
    """All 256 codes: e4m3fnuz on gfx942, e4m3fn on gfx950."""
    code = np.arange(256)
    exponent, mantissa = code >> 3 & 15, code & 7
    bias = 8 if arch == "gfx942" else 7
    value = np.where(exponent == 0, mantissa * 2.0 ** (-2 - bias), (8 + mantissa) * 2.0 ** (exponent - 3.0 - bias))
    value = np.where(code & 128 != 0, -value, value)
    value[[128] if arch == "gfx942" else [127, 255]] = np.nan
    return value


def to_fp8(x: npt.NDArray[np.float64], arch: str) -> npt.NDArray[np.uint8]:
    values = fp8_values(arch)
    codes = np.flatnonzero(np.isfinite(values))
    codes = codes[np.argsort(values[codes], kind="stable")]
    at = np.clip(np.searchsorted(values[codes], x), 1, len(codes) - 1)
    nearer = np.abs(values[codes[at]] - x) < np.abs(values[codes[at - 1]] - x)
    return codes[np.where(nearer, at, at - 1)].astype(np.uint8)


class Decode:
    """One request of one query token at page size 1, planned by hand as one work item of the first workgroup."""

    def __init__(self, hip: Hip, arch: str, length: int) -> None:
        rng = np.random.default_rng(length)
        self.hip = hip
        hip.devices(f"{arch}:{UNITS}")
        pages = length + 5
        self.values = fp8_values(arch)
        self.q = hip.upload(to_fp8(rng.standard_normal((HEADS, QK)), arch))
        self.kv = hip.upload(to_fp8(rng.standard_normal((pages, QK)), arch))
        self.order = hip.upload(rng.permutation(pages)[:length].astype(np.int32))
        ints = {
            "kv_indptr": [0, length],
            "last": [1],
            "qo_indptr": [0, 1],
            "work_indptr": [0] + [1] * UNITS,
            "work": [0, -1, 0, 1, 0, length, 0, 0],
        }
        held = {name: hip.upload(np.array(values, np.int32)) for name, values in ints.items()}
        meta = hip.upload(np.array([held["work_indptr"].address, held["work"].address], np.uint64))
        scales = [hip.upload(np.array([value], np.float32)) for value in (0.7, 1.3)]
        self.partial, self.lse = hip.buffer([HEADS, V], np.float32), hip.buffer([HEADS], np.float32)
        self.out = hip.buffer([HEADS, V], np.uint16)
        slots: dict[int, tuple[str, Any]] = {
            0x00: ("Q", self.partial.address), 0x10: ("Q", self.lse.address), 0x20: ("Q", self.q.address), 0x30: ("Q", self.kv.address),
            0x40: ("Q", held["kv_indptr"].address), 0x50: ("Q", self.order.address), 0x60: ("Q", held["last"].address),
            0x70: ("f", QK**-0.5), 0x80: ("I", HEADS), 0x90: ("I", 1), 0xA0: ("I", HEADS * QK), 0xB0: ("I", QK), 0xC0: ("I", 0),
            0xD0: ("Q", held["qo_indptr"].address), 0xE0: ("Q", meta.address), 0xF0: ("Q", self.out.address),
            0x100: ("Q", scales[0].address), 0x110: ("Q", scales[1].address), 0x120: ("I", 1),
        }  # fmt: skip
        block = bytearray(384)
        for offset, (kind, value) in slots.items():
            struct.pack_into("<" + kind, block, offset, value)
        path = next(path for path in objects(arch) if path.stem == KERNEL)
        kernel = read_file(path).kernels[0]
        self.kernarg = bytes(block[: kernel.kernarg_segment_size])
        self.function = hip.function(hip.load(path.read_bytes()), kernel.name)

    def run(self) -> dict[str, Any]:
        self.out.array[...] = 0x7FC0
        return self.hip.launch(self.function, (UNITS, 1, 1), (256, 1, 1), self.kernarg)

    def error(self) -> float:
        """Relative Frobenius error against float64 on the dequantised inputs."""
        q, k = self.values[self.q.array] * np.float32(0.7), self.values[self.kv.array[self.order.array]] * np.float32(1.3)
        scores = q @ k.T * QK**-0.5
        weights = np.exp(scores - scores.max(1, keepdims=True))
        want = weights @ k[:, :V] / weights.sum(1, keepdims=True)
        got = (self.out.array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return float(np.linalg.norm(got - want) / np.linalg.norm(want))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("length", [1, 16, 17, 63, 64, 100, 1000])
def test_decode_gives_the_reference(hip: Hip, arch: str, length: int) -> None:
    decode = Decode(hip, arch, length)
    decode.run()
    assert decode.error() < 4e-2


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("timing", ["instant", "at_wait", "random,seed=1", "random,seed=2", "slow_index"])
def test_timing_models_agree(hip: Hip, arch: str, timing: str) -> None:
    decode = Decode(hip, arch, 200)
    decode.run()
    want = decode.out.array.copy()
    hip.options(f"timing={timing}")
    decode.run()
    assert (decode.out.array == want).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_checks_change_no_bit_and_find_what_the_schedule_relies_on(hip: Hip, arch: str) -> None:
    decode = Decode(hip, arch, 200)
    plain = decode.run()
    want = decode.out.array.copy()
    hip.options("hazards=1")
    report = decode.run()
    assert (decode.out.array == want).all()
    assert report["counters"] == plain["counters"]
    assert report["findings_left_off"] == 0
    # Every load to a register is waited for. Waves share LDS with a barrier too few, or one that a write was not waited for at.
    assert set(report["findings_by_kind"]) == {"lds_write_after_read", "lds_before_wait", "wait_states"}
    rules = {finding["rule"] for finding in report["findings"] if finding["kind"] == "wait_states"}
    assert rules == {"VALU writes SGPR, VALU reads it"}


def test_work_and_results_do_not_depend_on_threads(hip: Hip) -> None:
    decode = Decode(hip, "gfx942", 100)
    reports, outputs = [], []
    for threads in (1, 2, 7):
        hip.options(f"threads={threads}")
        reports.append(decode.run())
        outputs.append(decode.out.array.copy())
    assert all(report == reports[0] for report in reports)
    assert all((output == outputs[0]).all() for output in outputs)
