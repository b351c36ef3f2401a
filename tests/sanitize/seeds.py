"""What the fuzz starts from, made anew for every run: small assembled objects, the text of AMD's objects, random programs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.emulator.machine.device import assemble, compile_hip
from tests.fuzz.fuzz_code_object import corpus

SLICE: Final = 256
"""Bytes of a piece of code."""

_BODIES: Final = (
    "s_endpgm",
    "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v0, s[4:5]\ns_endpgm",
    "v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v1\ns_endpgm",
    "again: s_branch again",
)
_HIP: Final = """
extern "C" __global__ void first(int* out, int n) { if (global_id() < n) out[global_id()] = n; }
extern "C" __global__ void second(float* out, float x) { __shared__ float kept[64]; kept[lane_of_block()] = x; out[0] = kept[1]; }
"""


def objects(folder: Path, arch: str) -> list[bytes]:
    """Small code objects of one arch, as assembler, compiler and ``synthetic_object`` make them."""
    return [*corpus(), compile_hip(_HIP, arch, folder), *(assemble(body, arch, folder, lds=256, private=64) for body in _BODIES)]


def code(paths: Iterable[Path]) -> list[bytes]:
    """Pieces of the given objects, evenly spread."""
    pieces = []
    for path in sorted(paths):
        data = path.read_bytes()
        pieces += [data[at : at + SLICE] for at in range(4096, len(data) - SLICE, max(SLICE, len(data) // 8 // 4 * 4))]
    return pieces


def programs(count: int, seed: int) -> list[bytes]:
    """Random bytes, of which the target of the machine makes programs."""
    source = random.Random(seed)
    return [source.randbytes(40 + 19 * source.randrange(1, 30)) for _ in range(count)]


def write(folder: Path, pieces: Iterable[bytes]) -> Path:
    """A folder with a file for each piece."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, piece in enumerate(pieces):
        (folder / f"{number:04}").write_bytes(piece)
    return folder
