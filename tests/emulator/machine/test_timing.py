"""When results arrive under each timing model, how waves interleave, and what the hazard report says about it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.emulator.machine.device import assemble
from tests.emulator.machine.hip import Hip

START = "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v8, -1\ns_waitcnt lgkmcnt(0)\n"
START += "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n"
END = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v1, v9, s[4:5]\ns_endpgm"


def run(hip: Hip, kernels: Path, body: str, *, block: int = 64) -> tuple[list[int], dict[str, Any]]:
    """v9 of every lane: START leaves lane numbers in LDS and in memory, END stores v9."""
    hip.devices("gfx942")
    buffer = hip.upload(np.arange(block, dtype=np.uint32))
    report = hip.run_assembly(assemble(START + body + END, "gfx942", kernels, lds=4096), struct.pack("<Q", buffer.address), block=block)
    return [int(value) for value in buffer.array], report


def arrived(hip: Hip, kernels: Path, load: str, slots: int) -> bool:
    """Whether v8 has its value ``slots`` issue slots after the load, with no s_waitcnt between."""
    nops = "\n".join(["s_nop 0"] * (slots - 1))
    values, _ = run(hip, kernels, f"{load}\n{nops}\nv_mov_b32 v9, v8")
    assert values in (list(range(64)), [0xFFFFFFFF] * 64)
    return values[1] == 1


LDS = "ds_read_b32 v8, v1"
MEMORY = "global_load_dword v8, v1, s[4:5]"


@pytest.mark.parametrize(("load", "latency"), [(LDS, 130), (MEMORY, 600)])
def test_results_arrive_after_their_latency(hip: Hip, kernels: Path, load: str, latency: int) -> None:
    assert not arrived(hip, kernels, load, latency // 4 - 1)
    assert arrived(hip, kernels, load, latency // 4 + 1)


@pytest.mark.parametrize("load", [LDS, MEMORY])
def test_instant_results_are_there_at_once_and_others_only_at_the_wait(hip: Hip, kernels: Path, load: str) -> None:
    hip.options("timing=instant")
    assert arrived(hip, kernels, load, 1)
    hip.options("timing=at_wait")
    assert not arrived(hip, kernels, load, 400)


def test_random_latencies_depend_on_the_seed_only(hip: Hip, kernels: Path) -> None:
    seen = set()
    for seed in range(12):
        hip.options(f"timing=random,seed={seed}")
        first = arrived(hip, kernels, MEMORY, 200)
        assert arrived(hip, kernels, MEMORY, 200) == first
        seen.add(first)
    assert seen == {False, True}


def test_slow_indices_delay_single_dwords_but_not_wide_loads(hip: Hip, kernels: Path) -> None:
    hip.options("timing=slow_index")
    assert not arrived(hip, kernels, MEMORY, 300)
    wide = "v_mov_b32 v3, 0\nglobal_load_dwordx2 v[8:9], v3, s[4:5]\n"
    values, _ = run(hip, kernels, wide + "s_nop 0\n" * 160 + "v_mov_b32 v9, v9")
    assert values[0] == 1


def test_waits_cover_the_oldest_loads_first(hip: Hip, kernels: Path) -> None:
    hip.options("timing=at_wait")
    body = "v_mov_b32 v10, -1\nglobal_load_dword v8, v1, s[4:5]\nglobal_load_dword v10, v1, s[4:5]\ns_waitcnt vmcnt(1)\n"
    body += "v_min_u32 v9, v8, v10\nv_max_u32 v10, v8, v10"
    values, _ = run(hip, kernels, body)
    assert values == list(range(64))  # v8 has arrived, v10 has not


def test_loads_deeper_than_the_counter_wait_for_room(hip: Hip, kernels: Path) -> None:
    hip.options("timing=at_wait")
    body = "global_load_dword v8, v1, s[4:5]\n" + "global_load_dword v20, v1, s[4:5]\n" * 63 + "v_mov_b32 v9, v8"
    assert run(hip, kernels, body)[0] == list(range(64))


def test_four_waves_run_in_step(hip: Hip, kernels: Path) -> None:
    # Every wave reads what its neighbour wrote two slots before, with no barrier: right only if waves are interleaved.
    body = "s_barrier\nds_write_b32 v1, v0 offset:1024\ns_nop 1\nv_xor_b32 v3, 0x100, v1\nds_read_b32 v9, v3 offset:1024"
    values, _ = run(hip, kernels, body, block=256)
    assert values == [i ^ 64 for i in range(256)]


def test_barriers_hold_waves_back(hip: Hip, kernels: Path) -> None:
    body = "v_readfirstlane_b32 s8, v0\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 others\ns_sleep 100\nothers:\n"
    body += "ds_write_b32 v1, v0 offset:1024\ns_waitcnt lgkmcnt(0)\n"
    body += "s_barrier\nv_sub_u32 v3, 0x3fc, v1\nds_read_b32 v9, v3 offset:1024"
    values, _ = run(hip, kernels, body, block=256)
    assert values == list(range(255, -1, -1))


def test_a_missing_wait_is_a_finding_with_register_and_distance(hip: Hip, kernels: Path) -> None:
    hip.options("hazards=1")
    values, report = run(hip, kernels, "ds_read_b32 v8, v1\ns_nop 15\ns_nop 15\ns_nop 15\nv_mov_b32 v9, v8")
    assert values == list(range(64))  # right, but by timing only
    (finding,) = report["findings"]
    assert (finding["kind"], finding["where"]) == ("vgpr_before_wait", 8)
    assert finding["use"]["instruction"] == "v_mov_b32_e32 v9, v8"
    assert finding["source"]["instruction"] == "ds_read_b32 v8, v1"
    assert finding["clocks"] == 4 + 3 * 64 - 130


def test_covered_uses_are_no_finding(hip: Hip, kernels: Path) -> None:
    hip.options("hazards=1")
    _, report = run(hip, kernels, "ds_read_b32 v8, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v9, v8")
    assert report["findings"] == []


def test_lds_shared_without_a_barrier_is_a_finding(hip: Hip, kernels: Path) -> None:
    hip.options("hazards=1")
    shared = "ds_write_b32 v1, v0 offset:1024\ns_waitcnt lgkmcnt(0)\n{}v_xor_b32 v3, 0x100, v1\nds_read_b32 v9, v3 offset:1024"
    _, report = run(hip, kernels, shared.format("s_nop 7\n"), block=256)
    assert {finding["kind"] for finding in report["findings"]} == {"lds_read_after_write"}
    _, report = run(hip, kernels, shared.format("s_barrier\n"), block=256)
    assert report["findings"] == []


def test_counters_are_of_the_work_done(hip: Hip, kernels: Path) -> None:
    body = "v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], 0\nv_mov_b32 v9, 0\ns_barrier"
    _, report = run(hip, kernels, body, block=256)
    counters = report["counters"]
    assert counters["mfma"] == {"v_mfma_f32_16x16x16_f16": 4}
    assert counters["by_class"]["barrier"] == 4
    assert counters["lds_bytes_written"] == 1024
    assert counters["global_bytes_written"] == 1024
    assert counters["global_bytes_read"] == 4 * 8
    assert counters["wave_instructions"] == sum(counters["by_class"].values())


def test_matrix_core_takes_one_instruction_after_the_other(hip: Hip, kernels: Path) -> None:
    def clocks(body: str) -> int:
        return int(run(hip, kernels, body + "\nv_mov_b32 v9, 0")[1]["counters"]["longest_clock"])

    base = clocks("")
    mfma = "v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], 0\n"
    assert clocks(mfma) == base + 4
    assert clocks(mfma * 5) == base + 4 * 16 + 4


@pytest.mark.parametrize("poison", ["zero", "finite", "nan"])
def test_registers_begin_with_the_poison(hip: Hip, kernels: Path, poison: str) -> None:
    hip.options(f"poison={poison}")
    values, _ = run(hip, kernels, "v_mov_b32 v9, v60")
    assert set(values) == {{"zero": 0, "finite": 0x3B3B3B3B, "nan": 0xFFFFFFFF}[poison]}
