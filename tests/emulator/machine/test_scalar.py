"""Scalar arithmetic against an oracle of Python integers, on random and edge values; program flow by small programs."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.machine.device import assemble
from tests.emulator.machine.hip import Hip
from tests.emulator.machine.scalar_cases import M32, M64, ONE_SOURCE, TWO_SOURCES, Function

EDGES = [0, 1, 2, 31, 32, 63, 0x7FFFFFFF, 0x80000000, M32, 1 << 32, 0x7FFFFFFFFFFFFFFF, 1 << 63, M64, 0x00200005, 0x00400000, 0x0001001F]
OLD = 0x0123456789ABCDEF


def _register(first: int, count: int) -> str:
    return f"s{first}" if count == 1 else f"s[{first}:{first + 1}]"


def _programs() -> list[tuple[str, str, Function, int]]:
    """Mnemonic, instruction, oracle and registers of the destination."""
    programs = []
    for name, (function, target, first, second) in TWO_SOURCES.items():
        operands = ([] if target == 0 else [_register(20, target)]) + [_register(8, first), _register(10, second)]
        programs.append((name, f"{name} {', '.join(operands)}", function, target))
    for name, (one, target, source) in ONE_SOURCE.items():
        programs.append((name, f"{name} {_register(20, target)}, {_register(8, source)}", one, target))
    return programs


def _cases() -> list[tuple[int, int, bool]]:
    rng = random.Random(7)
    cases = [(a, b, scc) for a in EDGES for b in EDGES for scc in (False, True)]
    cases += [(rng.getrandbits(64), rng.getrandbits(64), bool(rng.getrandbits(1))) for _ in range(200)]
    # Shifts, fields and bit numbers by random amounts in range.
    cases += [(rng.getrandbits(64), rng.randrange(64) | rng.randrange(66) << 16, False) for _ in range(200)]
    return cases


@pytest.fixture(scope="module")
def outcome(loaded: Hip, kernels: Path) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.uint32]]]:
    """Destination (two dwords) and SCC of every instruction on every case, run as one kernel that loops over the cases."""
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0",
        "s_load_dword s16, s[0:1], 16",
        "s_mov_b64 exec, 1",
        "v_mov_b32 v1, 0",
        "s_waitcnt lgkmcnt(0)",
    ]
    lines += ["loop:", "s_load_dwordx4 s[8:11], s[4:5], 0", "s_load_dword s12, s[4:5], 16", "s_waitcnt lgkmcnt(0)"]
    for _, text, _, _ in _programs():
        lines += [f"s_mov_b32 s20, 0x{OLD & M32:x}", f"s_mov_b32 s21, 0x{OLD >> 32:x}", "s_cmp_lg_u32 s12, 0", text]
        lines += ["s_cselect_b32 s22, 1, 0", "v_mov_b32 v4, s20", "v_mov_b32 v5, s21", "v_mov_b32 v6, s22"]
        lines += ["global_store_dwordx3 v1, v[4:6], s[6:7]", "s_add_u32 s6, s6, 12", "s_addc_u32 s7, s7, 0"]
    lines += ["s_add_u32 s4, s4, 32", "s_addc_u32 s5, s5, 0", "s_sub_u32 s16, s16, 1", "s_cmp_lg_u32 s16, 0"]
    # The body is longer than a branch reaches.
    lines += ["s_cbranch_scc0 done", "s_getpc_b64 s[24:25]", "here:", "s_add_u32 s24, s24, (loop-here)&0xffffffff"]
    lines += ["s_addc_u32 s25, s25, -1", "s_setpc_b64 s[24:25]", "done:", "s_endpgm"]
    cases = _cases()
    packed = b"".join(struct.pack("<QQIIII", a, b, scc, 0, 0, 0) for a, b, scc in cases)
    loaded.devices("gfx942")
    inputs = loaded.upload(np.frombuffer(packed, dtype=np.uint8))
    outputs = loaded.buffer([len(cases), len(_programs()), 3], np.uint32)
    loaded.run_assembly(assemble("\n".join(lines), "gfx942", kernels), struct.pack("<QQI", inputs.address, outputs.address, len(cases)))
    return {name: outputs.array[:, index].copy() for index, (name, _, _, _) in enumerate(_programs())}


@pytest.mark.parametrize("program", _programs(), ids=lambda program: program[0])
def test_result_and_scc_are_the_oracles(
    program: tuple[str, str, Function, int], outcome: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.uint32]]]
) -> None:
    name, _, function, registers = program
    for (a, b, scc), (low, high, flag) in zip(_cases(), outcome[name].tolist(), strict=True):
        wanted = function(a, b, OLD, scc)
        value = OLD if wanted.value is None else wanted.value if registers == 2 else (OLD & ~M32) | wanted.value
        assert (low | high << 32) == value, f"{name} {a:#x} {b:#x} {scc}"
        assert bool(flag) == (scc if wanted.scc is None else wanted.scc), f"SCC of {name} {a:#x} {b:#x} {scc}"


def _stores(*registers: str) -> str:
    """Stores scalar registers one after the other to the buffer of the first argument."""
    lines = ["s_load_dwordx2 s[30:31], s[0:1], 0", "s_mov_b64 exec, 1", "v_mov_b32 v10, 0", "s_waitcnt lgkmcnt(0)"]
    for index, register in enumerate(registers):
        lines += [f"v_mov_b32 v11, {register}", f"global_store_dword v10, v11, s[30:31] offset:{4 * index}"]
    return "\n".join([*lines, "s_endpgm"])


def run(hip: Hip, kernels: Path, body: str, *registers: str) -> list[int]:
    out = hip.buffer([len(registers)], np.uint32)
    hip.run_assembly(assemble(body + "\n" + _stores(*registers), "gfx942", kernels), struct.pack("<Q", out.address))
    return [int(value) for value in out.array]


def test_saveexec_gives_the_old_mask_and_sets_the_new(hip: Hip, kernels: Path) -> None:
    body = "s_mov_b64 exec, 0xff\ns_mov_b64 s[4:5], 0xf0f\ns_and_saveexec_b64 s[6:7], s[4:5]\ns_mov_b64 s[8:9], exec\n"
    body += "s_andn1_wrexec_b64 s[10:11], 3\ns_mov_b64 s[12:13], exec"
    assert run(hip, kernels, body, "s6", "s8", "s10", "s12") == [0xFF, 0x0F, 0x0C, 0x0C]


def test_calls_return_behind_themselves(hip: Hip, kernels: Path) -> None:
    body = """
    s_mov_b32 s4, 1
    s_getpc_b64 s[8:9]
    s_add_u32 s8, s8, callee-after
    after:
    s_addc_u32 s9, s9, 0
    s_sub_u32 s8, s8, 0
    s_swappc_b64 s[10:11], s[8:9]
    s_mul_i32 s4, s4, 10
    s_call_b64 s[10:11], callee
    s_branch end
    callee:
    s_add_u32 s4, s4, 5
    s_setpc_b64 s[10:11]
    end:
    """
    assert run(hip, kernels, body.replace("callee-after", "callee-after+8"), "s4") == [65]


@pytest.mark.parametrize(
    ("setup", "branch", "taken"),
    [
        ("s_cmp_eq_u32 s0, s0", "s_cbranch_scc1", True),
        ("s_cmp_eq_u32 s0, s0", "s_cbranch_scc0", False),
        ("s_mov_b64 vcc, 0", "s_cbranch_vccz", True),
        ("s_mov_b64 vcc, 0", "s_cbranch_vccnz", False),
        ("s_mov_b64 exec, 0", "s_cbranch_execz", True),
        ("s_mov_b64 exec, 2", "s_cbranch_execnz", True),
    ],
)
def test_branches_follow_their_condition(hip: Hip, kernels: Path, setup: str, branch: str, taken: bool) -> None:
    body = f"s_mov_b32 s4, 1\n{setup}\n{branch} over\ns_mov_b32 s4, 2\nover:"
    assert run(hip, kernels, body, "s4") == [1 if taken else 2]


def test_immediate_forms(hip: Hip, kernels: Path) -> None:
    body = "s_movk_i32 s4, -2\ns_mov_b32 s5, 7\ns_addk_i32 s5, -9\ns_cselect_b32 s6, 1, 0\ns_mulk_i32 s5, -3\n"
    body += "s_cmpk_lt_i32 s4, -1\ns_cselect_b32 s7, 1, 0\ns_cmpk_gt_u32 s4, 0xffff\ns_cselect_b32 s8, 1, 0\ns_cmovk_i32 s8, 77"
    assert run(hip, kernels, body, "s4", "s5", "s6", "s7", "s8") == [0xFFFFFFFE, 6, 0, 1, 77]


def test_mode_register_is_kept(hip: Hip, kernels: Path) -> None:
    body = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0x9\ns_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)\n"
    body += "s_getreg_b32 s5, hwreg(HW_REG_MODE, 0, 4)"
    assert run(hip, kernels, body, "s4", "s5") == [9, 0]


def test_relative_scalar_moves_use_m0(hip: Hip, kernels: Path) -> None:
    body = "s_mov_b32 s9, 42\ns_mov_b32 m0, 3\ns_movrels_b32 s4, s6\ns_mov_b32 s5, 0\ns_mov_b32 m0, 1\ns_movreld_b32 s4, 9"
    assert run(hip, kernels, body, "s4", "s5") == [42, 9]


def test_vector_indexing_moves_through_m0(hip: Hip, kernels: Path) -> None:
    body = "v_mov_b32 v4, 11\nv_mov_b32 v6, 33\ns_mov_b32 s4, 2\ns_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_mov_b32 v7, v4\ns_set_gpr_idx_off\n"
    body += "v_readfirstlane_b32 s5, v7\ns_set_gpr_idx_on s4, gpr_idx(DST)\nv_mov_b32 v7, 55\ns_set_gpr_idx_off\nv_readfirstlane_b32 s6, v9"
    assert run(hip, kernels, body, "s5", "s6") == [33, 55]


def test_clock_moves_on(hip: Hip, kernels: Path) -> None:
    body = "s_memtime s[4:5]\ns_waitcnt lgkmcnt(0)\ns_sleep 4\ns_memtime s[6:7]\ns_memrealtime s[8:9]\n"
    body += "s_waitcnt lgkmcnt(0)\ns_sub_u32 s6, s6, s4"
    assert run(hip, kernels, body, "s6")[0] >= 256
