"""The MODE register: where its fields come from, what reads and writes it, and what they change."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.machine.device import DESCRIPTOR, assemble
from tests.emulator.machine.hip import Hip, LaunchError

START = "s_load_dwordx2 s[8:9], s[0:1], 0\nv_mov_b32 v1, 0\ns_waitcnt lgkmcnt(0)\n"
MODE = "s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 32)\n"
FIELDS = [
    ("float_round_mode_32", 2, 2),
    ("float_round_mode_16_64", 3, 3 << 2),
    ("float_denorm_mode_32", 0, 0),
    ("float_denorm_mode_32", 2, 2 << 4),
    ("float_denorm_mode_16_64", 1, 1 << 6),
    ("dx10_clamp", 0, 0),
    ("ieee_mode", 0, 0),
    ("fp16_overflow", 1, 1 << 23),
]
MASKS = {
    "float_round_mode_32": 3,
    "float_round_mode_16_64": 12,
    "float_denorm_mode_32": 0x30,
    "float_denorm_mode_16_64": 0xC0,
    "dx10_clamp": 0x100,
}
MASKS |= {"ieee_mode": 0x200, "fp16_overflow": 1 << 23}
LARGE, HALF_INFINITY, LARGEST_HALF = 0x7BFF, 0x7C00, 0x7BFF


def run(hip: Hip, kernels: Path, body: str, *registers: str, descriptor: str = DESCRIPTOR, arch: str = "gfx942") -> list[int]:
    """Scalar registers, or lane 0 of vector registers, after the body."""
    hip.devices(arch)
    out = hip.buffer([len(registers)], np.uint32)
    store = "\n".join(f"v_mov_b32 v2, {name}\nglobal_store_dword v1, v2, s[8:9] offset:{4 * n}" for n, name in enumerate(registers))
    image = assemble(START + body + "\ns_mov_b64 exec, 1\n" + store + "\ns_endpgm", arch, kernels, descriptor=descriptor)
    hip.run_assembly(image, struct.pack("<Q", out.address))
    return [int(value) for value in out.array]


@pytest.mark.parametrize(("field", "value", "bits"), FIELDS)
def test_a_wave_begins_with_the_fields_of_the_descriptor(hip: Hip, kernels: Path, field: str, value: int, bits: int) -> None:
    (mode,) = run(hip, kernels, MODE, "s20", descriptor=f"  .amdhsa_{field} {value}\n")
    (usual,) = run(hip, kernels, MODE, "s20", descriptor="")
    assert mode & MASKS[field] == bits
    assert mode & ~MASKS[field] == usual & ~MASKS[field]


@pytest.mark.parametrize(("offset", "width", "value"), [(0, 4, 9), (4, 4, 6), (8, 1, 0), (9, 1, 0), (23, 1, 1), (27, 1, 1)])
def test_what_s_setreg_writes_s_getreg_reads(hip: Hip, kernels: Path, offset: int, width: int, value: int) -> None:
    field = f"hwreg(HW_REG_MODE, {offset}, {width})"
    body = f"{MODE}s_mov_b32 s21, {value}\ns_setreg_b32 {field}, s21\ns_getreg_b32 s22, {field}\n{MODE.replace('s20', 's23')}"
    body += f"s_setreg_imm32_b32 {field}, 0\ns_getreg_b32 s24, {field}\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0"
    before, read, after, cleared = run(hip, kernels, body, "s20", "s22", "s23", "s24")
    assert (read, cleared) == (value, 0)
    mask = ((1 << width) - 1) << offset
    assert after & ~mask == before & ~mask


HALVES = (
    f"v_mov_b32 v4, 0x{LARGE:x}\nv_mov_b32 v5, 0x{LARGE | LARGE << 16:x}\nv_mov_b32 v6, 0x{HALF_INFINITY:x}\nv_mov_b32 v7, 0x47c35000\n"
)
OVERFLOWS = [
    "v_add_f16 v3, v4, v4",
    "v_mul_f16 v3, v4, v4",
    "v_fma_f16 v3, v4, v4, v4",
    "v_cvt_f16_f32 v3, v7",
    "v_pk_add_f16 v3, v4, v4",
    "v_pk_mul_f16 v3, v4, v4",
    "v_pk_fma_f16 v3, v4, v4, v4",
    "v_fma_mixlo_f16 v3, v7, 1.0, 1.0",
]


@pytest.mark.parametrize(("instruction", "arch"), [*((text, "gfx942") for text in OVERFLOWS), ("v_cvt_sr_f16_f32 v3, v7, v1", "gfx950")])
def test_half_overflow_gives_the_largest_half_where_the_mode_says_so(hip: Hip, kernels: Path, instruction: str, arch: str) -> None:
    for descriptor, want in [(DESCRIPTOR, HALF_INFINITY), ("  .amdhsa_fp16_overflow 1\n", LARGEST_HALF)]:
        (value,) = run(hip, kernels, HALVES + "v_mov_b32 v3, 0\n" + instruction, "v3", descriptor=descriptor, arch=arch)
        assert value & 0xFFFF == want


@pytest.mark.parametrize("instruction", ["v_add_f16 v3, v6, v4", "v_mul_f16 v3, v6, v4", "v_pk_add_f16 v3, v6, v4", "v_rcp_f16 v3, 0"])
def test_true_infinities_stay(hip: Hip, kernels: Path, instruction: str) -> None:
    (value,) = run(hip, kernels, HALVES + instruction, "v3", descriptor="  .amdhsa_fp16_overflow 1\n")
    assert value & 0xFFFF == HALF_INFINITY


def test_indexing_follows_m0_while_it_is_on(hip: Hip, kernels: Path) -> None:
    setup = "v_mov_b32 v4, 4\nv_mov_b32 v5, 5\nv_mov_b32 v6, 6\ns_mov_b32 s4, 1\n"
    body = setup + "s_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_mov_b32 v10, v4\ns_set_gpr_idx_idx 2\nv_mov_b32 v11, v4\n"
    body += "s_set_gpr_idx_mode gpr_idx()\nv_mov_b32 v12, v4\ns_set_gpr_idx_off\ns_set_gpr_idx_mode gpr_idx(SRC0)\nv_mov_b32 v13, v4"
    assert run(hip, kernels, body, "v10", "v11", "v12", "v13") == [5, 6, 4, 4]


SINGLE = [
    "v_add_f32 v3, v4, v4",
    "v_fma_f32 v3, v4, v4, v4",
    "v_fmac_f32 v3, v4, v4",
    "v_pk_fma_f32 v[4:5], v[4:5], v[6:7], v[4:5]",
    "v_exp_f32 v3, v4",
    "v_rcp_f32 v3, v4",
    "v_cvt_f32_i32 v3, v4",
    "v_cvt_f32_u32 v3, v4",
    "v_cvt_f32_f64 v3, v[4:5]",
    "v_ldexp_f32 v3, v4, v5",
    "v_div_fixup_f32 v3, v4, v4, v4",
    "v_dot2_f32_f16 v3, v4, v4, v4",
    "v_fma_mix_f32 v3, v4, v4, v4",
]
OTHERS = [
    "v_add_f16 v3, v4, v4",
    "v_pk_mul_f16 v3, v4, v4",
    "v_cvt_f16_f32 v3, v4",
    "v_cvt_f16_i16 v3, v4",
    "v_fma_f64 v[4:5], v[4:5], v[4:5], v[4:5]",
    "v_add_f64 v[4:5], v[4:5], v[4:5]",
    "v_ldexp_f64 v[4:5], v[4:5], v4",
]


@pytest.mark.parametrize(("field", "instruction"), [("32", text) for text in SINGLE] + [("16_64", text) for text in OTHERS])
def test_rounding_other_than_to_nearest_is_refused_not_ignored(hip: Hip, kernels: Path, field: str, instruction: str) -> None:
    start = "v_mov_b32 v4, 1.0\nv_mov_b32 v5, 1.0\nv_mov_b64 v[6:7], 1.0\n"
    run(hip, kernels, start + instruction, "v3")
    with pytest.raises(LaunchError) as error:
        run(hip, kernels, start + instruction, "v3", descriptor=f"  .amdhsa_float_round_mode_{field} 2\n")
    fault = error.value.report["fault"]
    assert fault["kind"] == "unsupported"
    assert fault["at"]["instruction"].split()[0].removesuffix("_e32").removesuffix("_e64") == instruction.split()[0]


@pytest.mark.parametrize("instruction", ["v_cvt_pk_fp8_f32 v3, v4, v4", "v_cvt_pkrtz_f16_f32 v3, v4, v4", "v_cvt_i32_f32 v3, v4"])
def test_what_rounds_its_own_way_runs_in_every_mode(hip: Hip, kernels: Path, instruction: str) -> None:
    start = "v_mov_b32 v4, 0x3fb9999a\nv_mov_b32 v3, 0\n"
    want = run(hip, kernels, start + instruction, "v3")
    assert run(hip, kernels, start + instruction, "v3", descriptor="  .amdhsa_float_round_mode_32 2\n") == want
