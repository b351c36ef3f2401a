"""How fast the emulator runs a decode kernel: by level of x86-64, with checks, over cores; and what a launch costs.

    PYTHONPATH=build/stage .env/bin/python benchmarks/emulator.py [--library FILE]... [--json]

Or the interpreter of an environment that holds the wheel. Every level, and every library if several are given, is
measured in a process of its own, in turns, so that figures of one run can be compared with each other on a noisy machine. A rate per core
is wave instructions for each second of processor time of one thread; rates over threads are for each second that passes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ARCH: Final = "gfx942"
KERNEL: Final = "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
REQUESTS: Final = 8
LENGTH: Final = 1024
HEADS, QK, V = 16, 576, 512
LEVELS: Final = {"v1": "1", "v3": "3", "v4": "4"}
LEVEL_VARIABLE: Final = "AITER_MLA_EMULATOR_LEVEL"
LAUNCHES: Final = 300


class Device:
    """The library with one decode planned: every request is the work of a workgroup of its own."""

    def __init__(self, library: Path) -> None:
        from aiter_mla_aot import table
        from aiter_mla_aot.integrity import load_object

        self.hip = ctypes.CDLL(str(library))
        self.hip.emulator_report.restype = ctypes.c_char_p
        self.hip.emulator_level.restype = ctypes.c_char_p
        self._held: list[Any] = []
        self._call("emulator_set_devices", f"{ARCH}:{REQUESTS}".encode())
        kernel = next(kernel for kernel in table.load(ARCH).kernels if kernel.name == KERNEL)
        module = ctypes.c_void_p()
        self._call("hipModuleLoadData", ctypes.byref(module), load_object(ARCH, kernel.file))
        self.function = ctypes.c_void_p()
        self._call("hipModuleGetFunction", ctypes.byref(self.function), module, kernel.symbol.encode())
        self.kernarg_bytes = int(kernel.info["kernarg_segment_size"])
        self.kernarg = self._kernarg([0, *range(1, REQUESTS + 1)])
        self.idle = self._kernarg([0] * (REQUESTS + 1))

    def _call(self, name: str, *arguments: Any) -> None:
        error = getattr(self.hip, name)(*arguments)
        if error != 0:
            raise SystemExit(f"{name}: error {error}")

    def options(self, listing: str) -> None:
        """Options of launches from now on."""
        self._call("emulator_set_options", listing.encode())

    def _upload(self, content: bytes) -> int:
        address = ctypes.c_void_p()
        self._call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(len(content)))
        self._call("hipMemcpy", address, content, ctypes.c_size_t(len(content)), 1)
        return address.value or 0

    def _ints(self, values: Sequence[int]) -> int:
        return self._upload(struct.pack(f"<{len(values)}i", *values))

    def _kernarg(self, work_indptr: Sequence[int]) -> bytes:
        """The arguments in slots of 16 bytes, values being finite float8 numbers."""
        source = random.Random(ARCH)
        pages = REQUESTS * LENGTH
        order = list(range(pages))
        source.shuffle(order)
        work = [number for index in range(REQUESTS) for number in (index, -1, index, index + 1, index * LENGTH, (index + 1) * LENGTH, 0, 0)]
        meta = self._upload(struct.pack("<QQ", self._ints(work_indptr), self._ints(work)))
        scale = self._upload(struct.pack("<f", 1.0))
        values = bytes(source.choices(range(0x30, 0x48), k=REQUESTS * HEADS * QK))
        slots: dict[int, tuple[str, int | float]] = {
            0x00: ("Q", self._upload(bytes(4 * REQUESTS * HEADS * V))), 0x10: ("Q", self._upload(bytes(4 * REQUESTS * HEADS))),
            0x20: ("Q", self._upload(values)), 0x30: ("Q", self._upload((values * 64)[: pages * QK])),
            0x40: ("Q", self._ints([index * LENGTH for index in range(REQUESTS + 1)])), 0x50: ("Q", self._ints(order)),
            0x60: ("Q", self._ints([1] * REQUESTS)), 0x70: ("f", QK**-0.5), 0x80: ("I", HEADS), 0x90: ("I", 1), 0xA0: ("I", HEADS * QK),
            0xB0: ("I", QK), 0xC0: ("I", 0), 0xD0: ("Q", self._ints(range(REQUESTS + 1))), 0xE0: ("Q", meta),
            0xF0: ("Q", self._upload(bytes(2 * REQUESTS * HEADS * V))), 0x100: ("Q", scale), 0x110: ("Q", scale), 0x120: ("I", 1),
        }  # fmt: skip
        block = bytearray(384)
        for offset, (kind, value) in slots.items():
            struct.pack_into("<" + kind, block, offset, value)
        return bytes(block[: self.kernarg_bytes])

    def launch(self, kernarg: bytes) -> None:
        """One launch with these arguments, to its end."""
        size = ctypes.c_size_t(len(kernarg))
        block = ctypes.create_string_buffer(kernarg, len(kernarg))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block), 2, ctypes.addressof(size), 3)
        self._call("hipModuleLaunchKernel", self.function, REQUESTS, 1, 1, 256, 1, 1, 0, None, None, extra)

    def instructions(self) -> int:
        """Wave instructions of the last launch."""
        return int(json.loads(self.hip.emulator_report())["counters"]["wave_instructions"])


def measure(library: Path) -> dict[str, Any]:
    """All figures of one process."""
    device = Device(library)
    figures: dict[str, Any] = {"level": device.hip.emulator_level().decode()}

    def rate(options: str, clock: str) -> float:
        device.options(options)
        read = time.process_time if clock == "processor" else time.perf_counter
        device.launch(device.kernarg)
        start = read()
        device.launch(device.kernarg)
        return device.instructions() / (read() - start)

    figures["per_core"] = rate("threads=1,hazards=0", "processor")
    figures["per_core_hazards"] = rate("threads=1,hazards=1", "processor")
    device.options("hazards=0")
    cpus = len(os.sched_getaffinity(0))
    for threads in sorted({1, *(1 << bit for bit in range(cpus.bit_length()) if 1 << bit <= cpus), cpus}):
        figures[f"threads_{threads}"] = rate(f"threads={threads}", "wall")
    device.options("threads=1")
    start = time.process_time()
    for _ in range(LAUNCHES):
        device.launch(device.idle)
    figures["launches"] = LAUNCHES / (time.process_time() - start)
    return figures


@dataclass
class Subject:
    """A library at a level, and what was measured of it."""

    library: Path
    level: str
    figures: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> bool:
        """Measures once more. False if this CPU does not have the level."""
        environment = os.environ | {LEVEL_VARIABLE: LEVELS[self.level]}
        command = [sys.executable, "-P", str(Path(__file__).resolve()), "--measure", "--library", str(self.library)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        figures = json.loads(done.stdout)
        self.figures.append(figures)
        return bool(figures["level"] == self.level)

    def spread(self, name: str) -> dict[str, float]:
        """Of all rounds."""
        values = [figures[name] for figures in self.figures]
        return {"median": statistics.median(values), "least": min(values), "most": max(values)}

    def summary(self) -> dict[str, Any]:
        """Of all rounds, figure by figure."""
        names = [name for name in self.figures[0] if name != "level"]
        return {"library": str(self.library), "level": self.level, **{name: self.spread(name) for name in names}}


def table(summaries: list[dict[str, Any]]) -> str:
    """One line for each figure of each subject."""
    lines = []
    several = len({summary["library"] for summary in summaries}) > 1
    for summary in summaries:
        for name, value in summary.items():
            if isinstance(value, dict):
                unit, scale = ("launches/s", 1.0) if name == "launches" else ("M wave instructions/s", 1e6)
                numbers = [value[key] / scale for key in ("median", "least", "most")]
                label = f"{summary['library'] + ' ' if several else ''}{summary['level']} {name.replace('_', ' ')}"
                lines.append(f"{label:32} {numbers[0]:9.2f} {unit} ({numbers[1]:.2f} .. {numbers[2]:.2f})")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, action="append", help="the emulator; that of the package by default")
    parser.add_argument("--level", choices=LEVELS, action="append", help="measure only this level (may be given again)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if not args.library:
        from aiter_mla_aot.emulator import LIBRARY

        args.library = [LIBRARY]
    if args.measure:
        print(json.dumps(measure(args.library[0])))
        return 0
    subjects = [Subject(library, level) for library in args.library for level in args.level or LEVELS]
    for _ in range(args.rounds):
        subjects = [subject for subject in subjects if subject.run()]
    summaries = [subject.summary() for subject in subjects]
    report = {"schema": 1, "benchmark": "emulator", "arch": ARCH, "kernel": KERNEL, "subjects": summaries}
    print(json.dumps(report) if args.json else table(summaries))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
