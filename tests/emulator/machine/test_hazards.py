"""Uses that only timing makes right: loads that no s_waitcnt covers, LDS that waves share without a barrier."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.emulator.machine.device import assemble
from tests.emulator.machine.hip import Hip

ARCHS = ("gfx942", "gfx950")
START = "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\nv_mov_b32 v8, 0\nv_mov_b32 v3, 0\ns_waitcnt lgkmcnt(0)\n"
START += "s_mov_b32 s12, s4\ns_mov_b32 s13, s5\ns_mov_b32 s14, 4096\ns_mov_b32 s15, 0x20000\ns_mov_b32 m0, 0\ns_nop 7\ns_nop 7\n"
END = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_nop 15\ns_endpgm"
LDS = "ds_read_b32 v8, v1"
MEMORY = "global_load_dword v8, v1, s[4:5]"
WIDE = "global_load_dwordx4 v[8:11], v3, s[4:5]"
SCALAR = "s_load_dwordx4 s[20:23], s[4:5], 0"
VCC = "s_load_dwordx2 vcc, s[4:5], 0"


def findings(hip: Hip, kernels: Path, arch: str, body: str, *, block: int = 64, options: str = "") -> list[dict[str, Any]]:
    """Findings of a run of the body: v1 = 4 * lane, s[4:5] a buffer, s[12:15] its descriptor, 4096 bytes of LDS."""
    hip.devices(arch)
    hip.options("hazards=1" + options)
    buffer = hip.upload(np.arange(1024, dtype=np.uint32))
    report = hip.run_assembly(assemble(START + body + END, arch, kernels, lds=4096), struct.pack("<Q", buffer.address), block=block)
    found: list[dict[str, Any]] = report["findings"]
    return found


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("load", "use", "register"),
    [
        (LDS, "v_mov_b32 v9, v8", "v8"),
        (MEMORY, "v_add_u32 v9, v0, v8", "v8"),
        (MEMORY, "ds_write_b32 v1, v8", "v8"),
        (MEMORY, "ds_write_b32 v8, v0", "v8"),
        (WIDE, "global_store_dword v1, v10, s[4:5]", "v10"),
        (WIDE, "buffer_store_dword v11, v1, s[12:15], 0 offen", "v11"),
        (WIDE, "ds_write2_b32 v1, v0, v9 offset1:2", "v9"),
        (WIDE, "v_mfma_f32_16x16x16_f16 v[12:15], v[10:11], v[22:23], v[24:27]", "v10"),
        (WIDE, "v_mfma_f32_16x16x16_f16 v[12:15], v[22:23], v[10:11], v[24:27]", "v10"),
        (WIDE, "v_mfma_f32_16x16x16_f16 v[12:15], v[22:23], v[20:21], v[8:11]", "v8"),
        (WIDE, "v_fmac_f32 v9, v0, v0", "v9"),
        (WIDE, "global_atomic_add v1, v8, s[4:5]", "v8"),
        ("global_load_dword a8, v1, s[4:5]", "v_accvgpr_read_b32 v9, a8", "a8"),
        (SCALAR, "s_add_u32 s24, s22, 1", "s22"),
        (SCALAR, "v_mov_b32 v9, s23", "s23"),
        (SCALAR, "s_load_dword s30, s[20:21], 0", "s20"),
        (VCC, "s_cbranch_vccz over\nover:", "vcc_lo"),
        (VCC, "v_cndmask_b32 v9, v0, v1, vcc", "vcc_lo"),
        (VCC, "v_div_fmas_f32 v9, v0, v1, v3", "vcc_lo"),
    ],
)
def test_every_register_an_instruction_reads_is_looked_at(hip: Hip, kernels: Path, arch: str, load: str, use: str, register: str) -> None:
    if "s_load_dword s30" in use:
        load = "s_load_dwordx2 s[20:21], s[0:1], 0"  # so that the address is one when the use reads what has arrived
        found = findings(hip, kernels, arch, f"{load}\n{use}", options=",timing=instant")
    else:
        found = findings(hip, kernels, arch, f"{load}\n{use}")
    (finding,) = [finding for finding in found if finding["kind"].endswith("before_wait")]
    assert finding["kind"] == ("sgpr" if register[0] in "sm" or "vcc" in register else "vgpr") + "_before_wait"
    assert finding["register"] == register
    assert finding["source"]["instruction"].startswith(load.split()[0])
    assert finding["use"]["instruction"].split()[0].removesuffix("_e32").removesuffix("_e64") == use.split()[0]
    assert int(finding["use"]["pc"], 16) - int(finding["source"]["pc"], 16) == 8
    covered = findings(hip, kernels, arch, f"{load}\ns_waitcnt vmcnt(0) lgkmcnt(0)\n{use}", options=",timing=latency")
    assert [finding for finding in covered if finding["kind"] != "wait_states"] == []


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("load", "write", "kind", "register"),
    [
        (MEMORY, "v_mov_b32 v8, 0", "vgpr_write_before_wait", "v8"),
        (WIDE, "ds_read_b32 v10, v1", "vgpr_write_before_wait", "v10"),
        (SCALAR, "s_mov_b32 s21, 0", "sgpr_write_before_wait", "s21"),
        (SCALAR, "v_readfirstlane_b32 s20, v0", "sgpr_write_before_wait", "s20"),
        (SCALAR, "s_load_dword s21, s[4:5], 64", "sgpr_write_before_wait", "s21"),
    ],
)
def test_results_that_a_load_will_overwrite_are_found(
    hip: Hip, kernels: Path, arch: str, load: str, write: str, kind: str, register: str
) -> None:
    (finding,) = findings(hip, kernels, arch, f"{load}\n{write}")
    assert (finding["kind"], finding["register"]) == (kind, register)
    assert findings(hip, kernels, arch, f"{load}\ns_waitcnt vmcnt(0) lgkmcnt(0)\n{write}") == []


def test_loads_of_one_counter_that_return_in_order_may_share_a_register(hip: Hip, kernels: Path) -> None:
    assert findings(hip, kernels, "gfx942", f"{MEMORY}\n{WIDE}\ns_waitcnt vmcnt(0)\nv_mov_b32 v9, v8") == []


def test_scalar_loads_return_in_any_order(hip: Hip, kernels: Path) -> None:
    two = "s_load_dword s20, s[4:5], 0\ns_load_dword s21, s[4:5], 64\n"
    (finding,) = findings(hip, kernels, "gfx942", two + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s22, s20")
    assert (finding["kind"], finding["register"]) == ("sgpr_before_wait", "s20")
    assert findings(hip, kernels, "gfx942", two + "s_waitcnt lgkmcnt(0)\ns_mov_b32 s22, s20") == []
    # One LDS read that must be done when one of the two is still under way: the reads of LDS are in order among themselves.
    mixed = "ds_read_b32 v8, v1\ns_load_dword s20, s[4:5], 0\nds_read_b32 v9, v1\ns_waitcnt lgkmcnt({})\nv_mov_b32 v10, v8"
    assert findings(hip, kernels, "gfx942", mixed.format(1)) == []
    assert [found["register"] for found in findings(hip, kernels, "gfx942", mixed.format(2))] == ["v8"]


def test_what_arrives_at_its_wait_only_has_no_distance(hip: Hip, kernels: Path) -> None:
    (finding,) = findings(hip, kernels, "gfx942", f"{MEMORY}\nv_mov_b32 v9, v8", options=",timing=at_wait")
    assert "clocks" not in finding
    (finding,) = findings(hip, kernels, "gfx942", f"{MEMORY}\nv_mov_b32 v9, v8", options=",timing=latency")
    assert finding["clocks"] == 4 - 600


@pytest.mark.parametrize("arch", ARCHS)
def test_lds_read_before_the_wait_for_the_load_that_fills_it(hip: Hip, kernels: Path, arch: str) -> None:
    load = "global_load_lds_dword v1, s[4:5]\n"
    (finding,) = findings(hip, kernels, arch, load + "ds_read_b32 v9, v1")
    assert (finding["kind"], finding["where"]) == ("lds_before_wait", 0)
    assert finding["source"]["instruction"].startswith("global_load_lds_dword")
    assert findings(hip, kernels, arch, load + "s_waitcnt vmcnt(0)\nds_read_b32 v9, v1") == []
    assert findings(hip, kernels, arch, load + "ds_read_b32 v9, v1 offset:256") == []


NEIGHBOUR = "v_xor_b32 v4, 0x100, v1\n"


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("ds_write_b32 v1, v0", "ds_read_b32 v9, v4", "lds_read_after_write"),
        ("ds_read_b32 v9, v1", "ds_write_b32 v4, v0", "lds_write_after_read"),
        ("ds_write_b32 v1, v0", "ds_write_b32 v4, v0", "lds_write_after_write"),
    ],
)
def test_lds_that_waves_share_without_a_barrier(hip: Hip, kernels: Path, arch: str, first: str, second: str, kind: str) -> None:
    body = f"{NEIGHBOUR}{first}\ns_waitcnt lgkmcnt(0)\n{{}}{second}"
    found = findings(hip, kernels, arch, body.format("s_nop 7\n"), block=256)
    assert kind in {finding["kind"] for finding in found}
    finding = next(finding for finding in found if finding["kind"] == kind)
    assert (finding["source"]["instruction"], finding["use"]["instruction"]) == (first, second)
    assert finding["clocks"] > 0
    assert finding["count"] % 256 == 0
    assert findings(hip, kernels, arch, body.format("s_barrier\n"), block=256) == []


def test_findings_do_not_depend_on_threads(hip: Hip, kernels: Path) -> None:
    buffer = hip.upload(np.arange(1024, dtype=np.uint32))
    body = f"{NEIGHBOUR}ds_write_b32 v1, v0\ns_nop 7\nds_read_b32 v9, v4\nv_mov_b32 v10, v9\nv_readfirstlane_b32 s20, v10"
    image = assemble(START + body + END, "gfx942", kernels, lds=4096)
    reports = []
    for threads in (1, 3):
        hip.options(f"hazards=1,timing=random,threads={threads}")
        reports.append(hip.run_assembly(image, struct.pack("<Q", buffer.address), grid=20, block=256))
    assert reports[0] == reports[1]
    assert len(reports[0]["findings"]) >= 3


def test_no_finding_is_lost_without_a_word(hip: Hip, kernels: Path) -> None:
    body = f"{LDS}\n" + "\n".join(f"v_mov_b32 v{n % 200 + 20}, v8" for n in range(530))
    hip.options("hazards=1,timing=at_wait")
    buffer = hip.upload(np.arange(1024, dtype=np.uint32))
    report = hip.run_assembly(assemble(START + body + END, "gfx942", kernels, lds=4096), struct.pack("<Q", buffer.address))
    assert (len(report["findings"]), report["findings_left_off"]) == (512, 18)
