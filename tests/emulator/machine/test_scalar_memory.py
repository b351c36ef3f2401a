"""SMEM: atomics at an address and through a descriptor, and stores through a descriptor."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.machine.device import Batch
from tests.emulator.machine.hip import Hip, LaunchError

ARCHS = ("gfx942", "gfx950")
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
# The buffer at s[4:5] and in the descriptor s[12:15]; the operand in s[20:21], and behind it what is compared with.
START = """
s_load_dwordx2 s[4:5], s[0:1], 0
v_mov_b32 v1, 0
s_waitcnt lgkmcnt(0)
s_load_dwordx4 s[20:23], s[4:5], 64
s_mov_b32 s12, s4
s_mov_b32 s13, s5
s_mov_b32 s14, 256
s_mov_b32 s15, 0x20000
s_mov_b32 s8, 16
s_waitcnt lgkmcnt(0)
s_mov_b32 s24, s22
s_mov_b32 s25, s23
"""
END = "\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s20\nv_mov_b32 v3, s21\nglobal_store_dwordx2 v1, v[2:3], s[4:5] offset:128\ns_endpgm"


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def expected(name: str, old: int, operand: int, compared: int, bits: int) -> int:
    """What an atomic leaves."""
    mask = (1 << bits) - 1
    return {
        "swap": operand,
        "cmpswap": operand if old == compared else old,
        "add": (old + operand) & mask,
        "sub": (old - operand) & mask,
        "smin": min(old, operand, key=lambda value: signed(value, bits)),
        "umin": min(old, operand),
        "smax": max(old, operand, key=lambda value: signed(value, bits)),
        "umax": max(old, operand),
        "and": old & operand,
        "or": old | operand,
        "xor": old ^ operand,
        "inc": 0 if old >= operand else old + 1,
        "dec": operand if old == 0 or old > operand else old - 1,
    }[name]


NAMES = ("swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec")
CASES = [(name, wide, buffer) for name in NAMES for wide in (False, True) for buffer in (False, True)]


def atomic(name: str, wide: bool, buffer: bool) -> str:
    count = (2 if name == "cmpswap" else 1) * (2 if wide else 1)
    data = {1: "s20", 2: "s[20:21]", 4: "s[20:23]"}[count]
    place = "s[12:15], 0x10" if buffer else "s[4:5], s8"
    return f"s_{'buffer_' * buffer}atomic_{name}{'_x2' * wide} {data}, {place} glc"


STORES = """
s_buffer_store_dwordx4 s[20:23], s[12:15], 0xf8
s_buffer_store_dword s20, s[12:15], 0x100
s_buffer_store_dwordx2 s[20:21], s[12:15], 0x20
"""
PAST_THE_END = "s_buffer_atomic_add s20, s[12:15], 0x100 glc"
QUIET = "s_atomic_add s20, s[4:5], 0x10\ns_atc_probe 0, s[4:5], 0"
BATCH = Batch()
for _arch in ARCHS:
    for _text in [
        *(atomic(*case) for case in CASES),
        STORES,
        PAST_THE_END,
        QUIET,
        "s_atomic_add s20, s[4:5], 0x200",
        "s_atomic_add_x2 s[20:21], s[4:5], 4",
    ]:
        BATCH.add(_arch, START + _text + END)


def run(hip: Hip, kernels: Path, arch: str, body: str, words: list[int]) -> list[int]:
    """The buffer of 64 dwords after a run, with these at its start."""
    hip.devices(arch)
    buffer = hip.upload(np.array(words + [0] * (80 - len(words)), np.uint32)[:80])
    image, name = BATCH.kernel(arch, START + body + END, kernels)
    hip.run_assembly(image, struct.pack("<Q", buffer.address), name=name)
    return [int(word) for word in buffer.array]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("name", "wide", "buffer"), CASES)
def test_atomics_replace_the_value_and_give_the_old_one(hip: Hip, kernels: Path, arch: str, name: str, wide: bool, buffer: bool) -> None:
    bits = 64 if wide else 32
    mask = (1 << bits) - 1
    for old, operand in [(5, 7), (M64 - 2, 3), (0, 9), (1 << (bits - 1), 1), (0x123456789ABCDEF0, 0x0FEDCBA987654321)]:
        old, operand = old & mask, operand & mask
        for compared in (old, old ^ 1) if name == "cmpswap" else (0,):
            data = [operand & M32, operand >> 32] if wide else [operand]
            data += [compared & M32, compared >> 32] if wide else [compared]
            words = run(hip, kernels, arch, atomic(name, wide, buffer), [0] * 4 + [old & M32, old >> 32] + [0] * 10 + data)
            got = words[4] | (words[5] << 32 if wide else 0)
            returned = words[32] | (words[33] << 32 if wide else 0)
            assert (got, returned) == (expected(name, old, operand, compared, bits), old)


@pytest.mark.parametrize("arch", ARCHS)
def test_without_glc_the_register_stays(hip: Hip, kernels: Path, arch: str) -> None:
    words = run(hip, kernels, arch, QUIET, [0] * 4 + [5] + [0] * 11 + [7])
    assert (words[4], words[32]) == (12, 7)


@pytest.mark.parametrize("arch", ARCHS)
def test_stores_end_with_the_buffer(hip: Hip, kernels: Path, arch: str) -> None:
    words = run(hip, kernels, arch, STORES, [0] * 16 + [11, 12, 13, 14])
    assert words[8:10] == [11, 12]
    assert words[62:] == [11, 12] + [0] * 16


@pytest.mark.parametrize("arch", ARCHS)
def test_atomics_past_the_end_of_the_buffer_give_0(hip: Hip, kernels: Path, arch: str) -> None:
    words = run(hip, kernels, arch, PAST_THE_END, [0] * 16 + [11] + [0] * 47 + [3])
    assert (words[32], words[64]) == (0, 3)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("body", "kind"),
    [("s_atomic_add s20, s[4:5], 0x200", "scalar_out_of_bounds"), ("s_atomic_add_x2 s[20:21], s[4:5], 4", "misaligned")],
)
def test_atomics_elsewhere_are_faults(hip: Hip, kernels: Path, arch: str, body: str, kind: str) -> None:
    with pytest.raises(LaunchError) as error:
        run(hip, kernels, arch, body, [])
    fault = error.value.report["fault"]
    assert (fault["kind"], fault["access"], fault["at"]["instruction"].split()[0]) == (kind, "write", body.split()[0])
