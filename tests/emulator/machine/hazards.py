"""What the tests of the hazard mode share: how a kernel begins and ends, and a run that gives its findings."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from tests.emulator.machine.device import Batch
from tests.emulator.machine.hip import Hip

ARCHS = ("gfx942", "gfx950")
START = """
s_load_dwordx2 s[4:5], s[0:1], 0
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v3, 0
v_mov_b32 v8, 0
s_waitcnt lgkmcnt(0)
s_mov_b32 s12, s4
s_mov_b32 s13, s5
s_mov_b32 s14, 4096
s_mov_b32 s15, 0x20000
s_mov_b32 m0, 0
s_nop 7
s_nop 7
"""
END = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_nop 15\ns_endpgm"

Finding = dict[str, Any]


class Bodies:
    """Kernels of one module: v1 = 4 * lane, s[4:5] a buffer of 4096 bytes, s[12:15] its descriptor, 4096 bytes of LDS."""

    def __init__(self) -> None:
        self._batch = Batch(lds=4096)

    def add(self, *bodies: str, archs: tuple[str, ...] = ARCHS) -> None:
        """Bodies that tests will run."""
        for arch in archs:
            for body in bodies:
                self._batch.add(arch, START + body + END)

    def run(self, hip: Hip, kernels: Path, arch: str, body: str, *, block: int = 64, grid: int = 1, options: str = "") -> dict[str, Any]:
        """The report of a run with the hazard mode on."""
        hip.devices(arch)
        hip.options("hazards=1,timing=latency" + options)
        buffer = hip.upload(np.arange(1024, dtype=np.uint32))
        image, name = self._batch.kernel(arch, START + body + END, kernels)
        return hip.run_assembly(image, struct.pack("<Q", buffer.address), name=name, block=block, grid=grid)

    def findings(self, hip: Hip, kernels: Path, arch: str, body: str, *, block: int = 64, options: str = "") -> list[Finding]:
        """The findings of that run."""
        found: list[Finding] = self.run(hip, kernels, arch, body, block=block, options=options)["findings"]
        return found
