"""Registers that are read or written while a load to them is on its way and no s_waitcnt covers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.machine.hazards import ARCHS, Bodies
from tests.emulator.machine.hip import Hip

LDS = "ds_read_b32 v8, v1"
MEMORY = "global_load_dword v8, v1, s[4:5]"
WIDE = "global_load_dwordx4 v[8:11], v3, s[4:5]"
SCALAR = "s_load_dwordx4 s[20:23], s[4:5], 0"
VCC = "s_load_dwordx2 vcc, s[4:5], 0"
WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
READS = [
    (LDS, "v_mov_b32 v9, v8", "v8"),
    (MEMORY, "v_add_u32 v9, v0, v8", "v8"),
    (MEMORY, "v_mov_b32_dpp v9, v8 row_shl:1", "v8"),
    (MEMORY, "v_add_u16_sdwa v9, v8, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD", "v8"),
    (MEMORY, "v_readfirstlane_b32 s30, v8", "v8"),
    (MEMORY, "v_cmp_eq_u32 vcc, v0, v8", "v8"),
    (MEMORY, "ds_write_b32 v1, v8", "v8"),
    (MEMORY, "ds_write_b32 v8, v0", "v8"),
    (MEMORY, "ds_bpermute_b32 v9, v8, v0", "v8"),
    (WIDE, "global_store_dword v1, v10, s[4:5]", "v10"),
    (WIDE, "buffer_store_dword v11, v1, s[12:15], 0 offen", "v11"),
    (WIDE, "ds_write2_b32 v1, v0, v9 offset1:2", "v9"),
    (WIDE, "v_mfma_f32_16x16x16_f16 v[12:15], v[10:11], v[22:23], v[24:27]", "v10"),
    (WIDE, "v_mfma_f32_16x16x16_f16 v[12:15], v[22:23], v[10:11], v[24:27]", "v10"),
    (WIDE, "v_mfma_f32_16x16x16_f16 v[12:15], v[22:23], v[20:21], v[8:11]", "v8"),
    (WIDE, "v_pk_fma_f32 v[12:13], v[20:21], v[22:23], v[10:11]", "v10"),
    (WIDE, "v_fmac_f32 v9, v0, v0", "v9"),
    (WIDE, "global_atomic_add v1, v8, s[4:5]", "v8"),
    ("global_load_dword a8, v1, s[4:5]", "v_accvgpr_read_b32 v9, a8", "a8"),
    (SCALAR, "s_add_u32 s24, s22, 1", "s22"),
    (SCALAR, "s_cmp_eq_u32 s20, 0", "s20"),
    (SCALAR, "v_mov_b32 v9, s23", "s23"),
    (SCALAR, "s_bitset1_b32 s21, 3", "s21"),
    ("s_load_dwordx2 s[20:21], s[0:1], 0", "s_load_dword s30, s[20:21], 0", "s20"),
    ("s_load_dwordx2 s[12:13], s[0:1], 0", "buffer_load_dword v9, v1, s[12:15], 0 offen", "s12"),
    (VCC, "s_cbranch_vccz 1f\n1:", "vcc_lo"),
    (VCC, "v_cndmask_b32 v9, v0, v1, vcc", "vcc_lo"),
    (VCC, "v_div_fmas_f32 v9, v0, v1, v3", "vcc_lo"),
    (VCC, "v_mov_b32 v9, src_vccz", "vcc_lo"),
]
WRITES = [
    (MEMORY, "v_mov_b32 v8, 0", "vgpr_write_before_wait", "v8"),
    (WIDE, "ds_read_b32 v10, v1", "vgpr_write_before_wait", "v10"),
    (LDS, "global_load_dword v8, v1, s[4:5]", "vgpr_write_before_wait", "v8"),
    ("global_load_dword a8, v1, s[4:5]", "v_accvgpr_write_b32 a8, v0", "vgpr_write_before_wait", "a8"),
    (WIDE, "v_mfma_f32_16x16x16_f16 v[8:11], v[20:21], v[22:23], v[24:27]", "vgpr_write_before_wait", "v8"),
    (SCALAR, "s_mov_b32 s21, 0", "sgpr_write_before_wait", "s21"),
    (SCALAR, "v_readfirstlane_b32 s20, v0", "sgpr_write_before_wait", "s20"),
    (SCALAR, "s_load_dword s21, s[4:5], 64", "sgpr_write_before_wait", "s21"),
    (VCC, "v_cmp_eq_u32 vcc, v0, v1", "sgpr_write_before_wait", "vcc_lo"),
]
RELATIVE = "s_mov_b32 s30, 2\ns_set_gpr_idx_on s30, gpr_idx(SRC0)\nv_mov_b32 v9, v6\ns_set_gpr_idx_off"
IN_ORDER = f"{MEMORY}\n{WIDE}\n{WAIT}v_mov_b32 v9, v8"
TWO_SCALARS = "s_load_dword s20, s[4:5], 0\ns_load_dword s21, s[4:5], 64\ns_waitcnt lgkmcnt({})\ns_mov_b32 s22, s20"
MIXED = "ds_read_b32 v8, v1\ns_load_dword s20, s[4:5], 0\nds_read_b32 v9, v1\ns_waitcnt lgkmcnt({})\nv_mov_b32 v10, v8"
FLAT = "v_mov_b32 v20, s4\nv_mov_b32 v21, s5\nflat_load_dword v8, v[20:21]\n{}\ns_waitcnt {}\nv_mov_b32 v9, v8"
FLAT_WAITS = [("", "vmcnt(0)"), ("", "lgkmcnt(0)"), (MEMORY.replace("v8", "v10"), "vmcnt(1) lgkmcnt(0)")]
MANY = f"{LDS}\n" + "\n".join(f"v_mov_b32 v{n % 200 + 20}, v8" for n in range(530))
PLAIN = f"{MEMORY}\nv_add_u32 v9, v0, v8"

BODIES = Bodies()
for _load, _use, *_ in (*READS, *WRITES):
    BODIES.add(f"{_load}\n{_use}", f"{_load}\n{WAIT}{_use}")
BODIES.add(*(FLAT.format(*wait) for wait in [*FLAT_WAITS, ("", "vmcnt(0) lgkmcnt(0)")]))
BODIES.add(f"{MEMORY}\n{RELATIVE}", IN_ORDER, MANY)
BODIES.add(*(TWO_SCALARS.format(left) for left in (0, 1)), *(MIXED.format(left) for left in (1, 2)))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("load", "use", "register"), READS)
def test_every_register_an_instruction_reads_is_looked_at(hip: Hip, kernels: Path, arch: str, load: str, use: str, register: str) -> None:
    # Addresses in flight must be addresses when they are used, so those arrive at once; what an s_waitcnt covers does not depend on it.
    timing = ",timing=instant" if "dwordx2 s[" in load else ""
    found = BODIES.findings(hip, kernels, arch, f"{load}\n{use}", options=timing)
    (finding,) = [finding for finding in found if finding["kind"] != "wait_states"]
    assert finding["kind"] == ("sgpr" if register[0] == "s" or "vcc" in register else "vgpr") + "_before_wait"
    assert finding["register"] == register
    assert finding["source"]["instruction"].startswith(load.split()[0])
    assert finding["use"]["instruction"].split()[0].removesuffix("_e32").removesuffix("_e64") == use.split()[0]
    assert int(finding["use"]["pc"], 16) - int(finding["source"]["pc"], 16) == 8
    assert [found for found in BODIES.findings(hip, kernels, arch, f"{load}\n{WAIT}{use}") if found["kind"] != "wait_states"] == []


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("load", "write", "kind", "register"), WRITES)
def test_results_that_a_load_will_overwrite_are_found(
    hip: Hip, kernels: Path, arch: str, load: str, write: str, kind: str, register: str
) -> None:
    (finding,) = BODIES.findings(hip, kernels, arch, f"{load}\n{write}")
    assert (finding["kind"], finding["register"]) == (kind, register)
    assert BODIES.findings(hip, kernels, arch, f"{load}\n{WAIT}{write}") == []


def test_registers_are_those_that_indexing_makes_of_them(hip: Hip, kernels: Path) -> None:
    (finding,) = BODIES.findings(hip, kernels, "gfx942", f"{MEMORY}\n{RELATIVE}")
    assert (finding["kind"], finding["register"]) == ("vgpr_before_wait", "v8")


def test_loads_of_one_counter_that_return_in_order_may_share_a_register(hip: Hip, kernels: Path) -> None:
    assert BODIES.findings(hip, kernels, "gfx942", IN_ORDER) == []


def test_scalar_loads_return_in_any_order(hip: Hip, kernels: Path) -> None:
    (finding,) = BODIES.findings(hip, kernels, "gfx942", TWO_SCALARS.format(1))
    assert (finding["kind"], finding["register"]) == ("sgpr_before_wait", "s20")
    assert BODIES.findings(hip, kernels, "gfx942", TWO_SCALARS.format(0)) == []


def test_reads_of_lds_are_in_order_among_themselves(hip: Hip, kernels: Path) -> None:
    # With one of the three under way, at least the older of the two reads of LDS is done.
    assert BODIES.findings(hip, kernels, "gfx942", MIXED.format(1)) == []
    assert [found["register"] for found in BODIES.findings(hip, kernels, "gfx942", MIXED.format(2))] == ["v8"]


def test_what_arrives_at_its_wait_only_has_no_distance(hip: Hip, kernels: Path) -> None:
    (finding,) = BODIES.findings(hip, kernels, "gfx942", PLAIN, options=",timing=at_wait")
    assert "clocks" not in finding
    (finding,) = BODIES.findings(hip, kernels, "gfx942", PLAIN)
    assert finding["clocks"] == 4 - 600


def test_no_finding_is_lost_without_a_word(hip: Hip, kernels: Path) -> None:
    report = BODIES.run(hip, kernels, "gfx942", MANY, options=",timing=at_wait")
    assert (len(report["findings"]), report["findings_left_off"]) == (512, 18)
    assert report["findings_by_kind"] == {"vgpr_before_wait": 512}


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("wait", FLAT_WAITS)
def test_flat_loads_are_covered_by_both_counters_at_0(hip: Hip, kernels: Path, arch: str, wait: tuple[str, str]) -> None:
    (finding,) = BODIES.findings(hip, kernels, arch, FLAT.format(*wait))
    assert (finding["kind"], finding["register"]) == ("vgpr_before_wait", "v8")
    assert finding["source"]["instruction"].startswith("flat_load_dword")
    assert BODIES.findings(hip, kernels, arch, FLAT.format("", "vmcnt(0) lgkmcnt(0)")) == []
