"""Wait states that software has to insert: every rule finds what is one state short, and nothing where there are enough."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.emulator.machine.device import Batch, assemble, compile_hip
from tests.emulator.machine.hip import Hip

ARCHS = ("gfx942", "gfx950")
START = "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
END = "\ns_nop 15\ns_nop 15\ns_endpgm"
MFMA = "v_mfma_f32_16x16x16_f16 v[12:15], v[20:21], v[22:23], v[24:27]"
BIG = "v_mfma_f32_32x32x8_f16 v[32:47], v[20:21], v[22:23], v[48:63]"
SMALL = "v_mfma_f32_4x4x4_16b_f16 v[12:15], v[20:21], v[22:23], v[24:27]"
SINGLE = "v_mfma_f32_16x16x4_f32 v[12:15], v20, v22, v[24:27]"
DOUBLE = "v_mfma_f64_4x4x4_4b_f64 v[12:13], v[20:21], v[22:23], v[24:25]"
LARGE_DOUBLE = "v_mfma_f64_16x16x4_f64 v[12:19], v[20:21], v[22:23], v[24:31]"
SPARSE = "v_smfmac_f32_16x16x32_f16 v[12:15], v[20:21], v[24:27], v28"
WIDE = "v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[32:39], v[40:47], v[24:27]"
NARROW = "v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[32:35], v[40:43], v[24:27] cbsz:4 blgp:4"

Rule = tuple[str, str, str, int, int, str]
"""The rule, the two instructions, the states between them on gfx942 and gfx950, and the register."""

RULES: tuple[Rule, ...] = (
    ("VALU writes SGPR, VMEM reads it", "v_readfirstlane_b32 s8, v1", "buffer_load_dword v9, off, s[12:15], s8", 5, 5, "s8"),
    ("VALU writes SGPR, VMEM reads it", "v_readfirstlane_b32 s4, v30", "global_load_dword v9, v1, s[4:5]", 5, 5, "s4"),
    ("VALU writes SGPR, VALU reads it", "v_cmp_lt_u32_e64 s[8:9], v0, v1", "v_cndmask_b32_e64 v9, v0, v1, s[8:9]", 2, 2, "s8"),
    ("VALU writes SGPR, VALU reads it", "v_cmp_lt_u32_e32 vcc, v0, v1", "v_cndmask_b32_e32 v9, v0, v1, vcc", 2, 2, "vcc_lo"),
    (
        "VALU writes SGPR, v_readlane or v_writelane takes the lane from it",
        "v_readfirstlane_b32 s8, v1",
        "v_readlane_b32 s9, v0, s8",
        4,
        4,
        "s8",
    ),
    ("VALU writes VCC, v_div_fmas reads it", "v_cmp_lt_u32_e32 vcc, v0, v1", "v_div_fmas_f32 v9, v0, v1, v2", 4, 4, "vcc_lo"),
    ("VALU writes VCC or EXEC, VALU reads vccz or execz", "v_cmp_lt_u32_e32 vcc, v0, v1", "v_mov_b32_e32 v9, src_vccz", 5, 5, "vcc_lo"),
    ("VALU writes EXEC, DPP", "v_cmpx_le_u32_e32 vcc, v0, v1", "v_mov_b32_dpp v9, v0 quad_perm:[1,0,3,2]", 5, 5, "exec_lo"),
    ("VALU writes EXEC, move between lanes", "v_cmpx_le_u32_e32 vcc, v0, v1", "v_readfirstlane_b32 s9, v0", 4, 4, "exec_lo"),
    ("VALU writes EXEC, MFMA", "v_cmpx_le_u32_e32 vcc, v0, v1", MFMA, 4, 4, "exec_lo"),
    ("VALU writes VGPR, DPP reads it", "v_mov_b32 v9, v0", "v_mov_b32_dpp v10, v9 row_shl:1", 2, 2, "v9"),
    ("VALU writes VGPR, v_readlane reads it", "v_mov_b32 v9, v0", "v_readfirstlane_b32 s9, v9", 1, 1, "v9"),
    ("VALU writes VGPR, v_readlane reads it", "v_mov_b32 v9, v0", "v_readlane_b32 s9, v9, 3", 1, 1, "v9"),
    ("VALU writes VCC or EXEC, VALU reads vccz or execz", "v_cmpx_le_u32_e32 vcc, v0, v1", "v_mov_b32_e32 v9, src_execz", 5, 5, "exec_lo"),
    ("VALU writes VGPR, MFMA reads it", "v_mov_b32 v21, v0", MFMA, 2, 2, "v21"),
    ("VALU writes VGPR, MFMA reads it", "v_accvgpr_write_b32 a3, v0", MFMA.replace("v[22:23]", "a[2:3]"), 2, 2, "a3"),
    ("transcendental VALU writes VGPR, other VALU reads it", "v_exp_f32 v9, v0", "v_add_f32 v10, v9, v0", 1, 1, "v9"),
    (
        "VALU writes part of a VGPR by op_sel or SDWA, VALU reads it",
        "v_add_u16_sdwa v9, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
        "v_mov_b32 v10, v9",
        1,
        1,
        "v9",
    ),
    (
        "VALU writes part of a VGPR by op_sel or SDWA, VALU reads it",
        "v_cvt_pk_fp8_f32 v9, v0, v1 op_sel:[0,0,1]",
        "v_add_u16_sdwa v9, v0, v1 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
        1,
        1,
        "v9",
    ),
    ("dot product writes VGPR, VALU reads it", "v_dot4_i32_i8 v9, v0, v1, v2", "v_mov_b32 v10, v9", 3, 3, "v9"),
    ("dot product writes VGPR, VALU writes it", "v_dot4_i32_i8 v9, v0, v1, v2", "v_mov_b32 v9, v0", 3, 3, "v9"),
    ("MFMA writes VGPR, VALU or memory reads it", SMALL, "v_mov_b32 v9, v15", 5, 5, "v15"),
    ("MFMA writes VGPR, VALU or memory reads it", MFMA, "v_mov_b32 v9, v15", 7, 8, "v15"),
    ("MFMA writes VGPR, VALU or memory reads it", BIG, "v_mov_b32 v9, v40", 11, 12, "v40"),
    ("MFMA writes VGPR, VALU or memory reads it", MFMA, "ds_write_b32 v1, v13", 7, 8, "v13"),
    ("MFMA writes VGPR, VALU or memory reads it", SINGLE, "v_mov_b32 v9, v15", 10, 10, "v15"),
    ("MFMA writes VGPR, VALU or memory reads it", DOUBLE, "v_mov_b32 v9, v13", 6, 6, "v13"),
    ("MFMA writes VGPR, VALU or memory reads it", DOUBLE, "ds_write_b32 v1, v13", 9, 9, "v13"),
    ("MFMA writes VGPR, VALU or memory reads it", LARGE_DOUBLE, "v_mov_b32 v9, v13", 11, 19, "v13"),
    ("MFMA writes VGPR, VALU or memory reads it", LARGE_DOUBLE, "ds_write_b32 v1, v13", 18, 18, "v13"),
    ("MFMA writes VGPR, VALU or memory reads it", SPARSE, "v_mov_b32 v9, v13", 7, 8, "v13"),
    ("MFMA writes VGPR, MFMA reads it as A or B", MFMA, MFMA.replace("v[22:23]", "v[14:15]").replace("v[12:15]", "v[64:67]"), 7, 8, "v14"),
    ("MFMA writes VGPR, MFMA reads it as A or B", MFMA, SPARSE.replace("v28", "v12").replace("v[12:15]", "v[64:67]"), 7, 8, "v12"),
    ("MFMA writes VGPR, MFMA reads it as C", BIG, MFMA.replace("v[24:27]", "v[44:47]"), 9, 10, "v44"),
    ("MFMA writes VGPR, MFMA reads it as C", SMALL, SMALL.replace("v[24:27]", "v[12:15]"), 2, 2, "v12"),
    ("MFMA writes VGPR, VALU or memory writes it", MFMA, "v_mov_b32 v14, 0", 7, 8, "v14"),
    ("MFMA writes VGPR, VALU or memory writes it", MFMA, "ds_read_b32 v14, v1", 7, 8, "v14"),
    ("MFMA reads VGPR as C, VALU or memory writes it", BIG, "v_mov_b32 v50, 0", 7, 7, "v50"),
    ("MFMA of doubles, v_fma_f64", DOUBLE, "v_fma_f64 v[64:65], v[20:21], v[22:23], v[24:25]", 2, 2, "v12"),
    (
        "store of more than two dwords reads VGPR, VALU writes it",
        "global_store_dwordx4 v1, v[20:23], s[4:5]",
        "v_mov_b32 v22, 0",
        2,
        2,
        "v22",
    ),
    ("SALU writes M0, LDS or message reads it", "s_mov_b32 m0, 0", "global_load_lds_dword v1, s[4:5]", 1, 1, "m0"),
    ("SALU writes M0, LDS or message reads it", "s_mov_b32 m0, 0", "ds_read_addtid_b32 v9", 1, 1, "m0"),
    (
        "s_setreg, s_getreg of the same register",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0",
        "s_getreg_b32 s9, hwreg(HW_REG_MODE)",
        2,
        2,
        "",
    ),
    (
        "s_setreg, s_setreg of the same register",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 8, 1), 0",
        2,
        2,
        "",
    ),
)

NEWER: tuple[Rule, ...] = (
    ("VALU writes VGPR, v_permlane swaps it", "v_mov_b32 v9, v0", "v_permlane32_swap_b32 v10, v9", 0, 2, "v9"),
    ("VALU writes EXEC, move between lanes", "v_cmpx_le_u32_e32 vcc, v0, v1", "v_permlane16_swap_b32 v10, v9", 0, 4, "exec_lo"),
    (
        "VALU writes part of a VGPR by op_sel or SDWA, VALU reads it",
        "v_cvt_scalef32_pk_fp4_f32 v9, v0, v1, v2",
        "v_mov_b32 v10, v9",
        0,
        1,
        "v9",
    ),
    ("MFMA writes VGPR, VALU or memory reads it", WIDE, "v_mov_b32 v9, v12", 0, 12, "v12"),
    ("MFMA writes VGPR, VALU or memory reads it", NARROW, "v_mov_b32 v9, v12", 0, 8, "v12"),
)
"""What gfx942 does not have."""


def gap(states: int) -> str:
    """That many wait states."""
    lines = []
    while states > 0:
        lines.append(f"s_nop {min(states, 16) - 1}")
        states -= 16
    return "\n".join(lines)


# A buffer descriptor of the whole buffer in s[12:15], and half of its address in v30, for reads that must not change it.
SETUP = "s_mov_b32 s12, s4\ns_mov_b32 s13, s5\ns_mov_b32 s14, 4096\ns_mov_b32 s15, 0x20000\nv_mov_b32 v30, s4\n" + gap(32) + "\n"
HANDED_ON = f"{MFMA}\n{MFMA.replace('v[24:27]', 'v[12:15]')}"
OTHER = MFMA.replace("v[12:15]", "v[64:67]")
BATCH = Batch(lds=4096)


def states(rule: Rule, arch: str) -> int:
    return rule[3] if arch == "gfx942" else rule[4]


def apart(rule: Rule, count: int) -> str:
    return f"{rule[1]}\n{gap(count)}\n{rule[2]}"


def held_back(arch: str) -> str:
    return f"{MFMA}\n{OTHER}\n{OTHER}\n{gap(1 if arch == 'gfx950' else 0)}\nv_mov_b32 v9, v15"


for _arch in ARCHS:
    for _rule in (*RULES, *(NEWER if _arch == "gfx950" else ())):
        BATCH.add(_arch, START + SETUP + apart(_rule, states(_rule, _arch) - 1) + END)
        BATCH.add(_arch, START + SETUP + apart(_rule, states(_rule, _arch)) + END)
    BATCH.add(_arch, START + SETUP + HANDED_ON + END)
    BATCH.add(_arch, START + SETUP + held_back(_arch) + END)


def findings(hip: Hip, kernels: Path, arch: str, body: str) -> list[dict[str, Any]]:
    """Breaches of wait states that a run of the body has."""
    hip.devices(arch)
    hip.options("hazards=1")
    buffer = hip.upload(np.zeros(1024, np.uint32))
    image, name = BATCH.kernel(arch, START + SETUP + body + END, kernels)
    report = hip.run_assembly(image, struct.pack("<Q", buffer.address), name=name)
    return [finding for finding in report["findings"] if finding["kind"] == "wait_states"]


def check(hip: Hip, kernels: Path, arch: str, rule: Rule) -> None:
    name, first, second, *_, register = rule
    needed = states(rule, arch)
    (finding,) = findings(hip, kernels, arch, apart(rule, needed - 1))
    assert (finding["rule"], finding["needed"], finding["had"], finding["missing"]) == (name, needed, needed - 1, 1)
    assert finding.get("register", "") == register
    assert mnemonic(finding["source"]["instruction"]) == mnemonic(first)
    assert mnemonic(finding["use"]["instruction"]) == mnemonic(second)
    assert int(finding["use"]["pc"], 16) > int(finding["source"]["pc"], 16)
    assert findings(hip, kernels, arch, apart(rule, needed)) == []


def mnemonic(text: str) -> str:
    return text.split()[0].removesuffix("_e32").removesuffix("_e64")


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("rule", RULES, ids=[f"{rule[0]}: {rule[2]}" for rule in RULES])
def test_one_state_too_few_is_a_finding_and_enough_are_none(hip: Hip, kernels: Path, arch: str, rule: Rule) -> None:
    check(hip, kernels, arch, rule)


@pytest.mark.parametrize("rule", NEWER, ids=[f"{rule[0]}: {rule[2]}" for rule in NEWER])
def test_instructions_of_cdna4_have_theirs(hip: Hip, kernels: Path, rule: Rule) -> None:
    check(hip, kernels, "gfx950", rule)


@pytest.mark.parametrize("arch", ARCHS)
def test_results_handed_on_as_c_need_no_states(hip: Hip, kernels: Path, arch: str) -> None:
    assert findings(hip, kernels, arch, HANDED_ON) == []


@pytest.mark.parametrize("arch", ARCHS)
def test_a_busy_matrix_core_holds_the_next_instruction_back_itself(hip: Hip, kernels: Path, arch: str) -> None:
    assert findings(hip, kernels, arch, held_back(arch)) == []


def test_findings_off_leave_no_report(hip: Hip, kernels: Path) -> None:
    hip.devices("gfx942")
    buffer = hip.upload(np.zeros(64, np.uint32))
    report = hip.run_assembly(assemble(START + f"{MFMA}\nv_mov_b32 v9, v12" + END, "gfx942", kernels), struct.pack("<Q", buffer.address))
    assert "findings" not in report


SOURCE = """
typedef float f4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
extern "C" __global__ void work(float* out, const float* in, u32 n) {
    __shared__ float tile[256];
    const u32 id = lane_of_block();
    float x = in[id];
    tile[id] = __builtin_amdgcn_exp2f(x) / (1.0f + x * x);
    __syncthreads();
    h4 a = {(_Float16)tile[id ^ 1], (_Float16)tile[id ^ 2], (_Float16)x, (_Float16)1.0f};
    f4 c = {0, 0, 0, 0};
    for (u32 i = 0; i < n; ++i) {
        c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, a, c, 0, 0, 0);
        a[i & 3] = (_Float16)c[0];
    }
    double d = (double)c[1] / 3.0 + (double)in[255 - id];
    out[id] = (float)d + __builtin_amdgcn_readfirstlane((int)c[2]) + c[3];
}
""".replace("__syncthreads();", "__builtin_amdgcn_s_barrier();")


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_what_the_compiler_makes_keeps_every_rule(hip: Hip, kernels: Path, arch: str, level: str) -> None:
    hip.devices(arch)
    hip.options("hazards=1,uninitialised=1")
    source = hip.upload(np.linspace(0, 1, 256, dtype=np.float32))
    out = hip.buffer([256], np.float32)
    module = hip.load(compile_hip(SOURCE, arch, kernels, optimisation=level))
    report = hip.launch(hip.function(module, "work"), (1, 1, 1), (256, 1, 1), struct.pack("<QQI", out.address, source.address, 5))
    assert report["findings"] == []
