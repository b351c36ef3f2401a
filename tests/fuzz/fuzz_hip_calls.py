"""A bounded, seeded fuzz of the emulator's HIP face: sequences of calls with stale, foreign and null handles, and wrong arguments.

``python3 -m tests.fuzz.fuzz_hip_calls LIBRARY OBJECT [--rounds N] [--seed S]`` loads the library, and makes objects by damaging
OBJECT, which has a kernel ``test``. Every call must return an error code that HIP names; what ends the process is a finding.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from tests.fuzz.fuzz_code_object import INTERESTING, MUTATIONS

SLOTS: Final = 6
TEXTS: Final = (
    b"timing=random,seed=7",
    b"poison=nan",
    b"hazards=1",
    b"uninitialised=1",
    b"timing=latency",
    b"seed=",
    b"=",
    b"",
    b"x" * 300,
)
LISTS: Final = (b"gfx950:256,gfx942:80", b"gfx942", b"gfx950", b"gfx950:0", b"gfx942:" + b"9" * 40, b",", b"gfx1100")
SIZES: Final = (0, 1, 2, 3, 64, 65, 1024, 1025, 65536, 0x7FFFFFFF, 0xFFFFFFFF)
BUDGET: Final = b"budget=2000,threads=2"

Call = Callable[[], int]


class Caller:
    """The library, and the handles that calls gave, the stale ones too."""

    def __init__(self, library: Path, image: bytes, source: random.Random) -> None:
        self.library = ctypes.CDLL(str(library))
        self.library.hipGetErrorName.restype = ctypes.c_char_p
        self.library.emulator_report.restype = ctypes.c_char_p
        self.library.emulator_audit.restype = ctypes.c_char_p
        self.image = image
        self.source = source
        self.memory = [ctypes.c_void_p() for _ in range(SLOTS)]
        self.modules = [ctypes.c_void_p() for _ in range(SLOTS)]
        self.functions = [ctypes.c_void_p() for _ in range(SLOTS)]
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()  # the newest
        self.own = ctypes.create_string_buffer(256)
        self.calls: tuple[Call, ...] = (
            self.allocate, self.free, self.copy, self.fill, self.load, self.load, self.unload, self.find, self.find, self.launch,
            self.launch, self.launch, self.launch, self.options, self.devices, self.device, self.register, self.audit, self.query,
        )  # fmt: skip
        self.library.emulator_set_options(BUDGET)

    def step(self) -> tuple[str, int]:
        """One call: its name and what it returned."""
        call = self.source.choice(self.calls)
        return call.__name__, call()

    def any_handle(self) -> ctypes.c_void_p:
        """A handle of any kind, or a number that is none."""
        source = self.source
        wild = ctypes.c_void_p(source.choice(INTERESTING))
        inside = ctypes.c_void_p((source.choice(self.memory).value or 0) + source.randrange(64))
        return source.choice([wild, inside, source.choice(self.functions), source.choice(self.modules), source.choice(self.memory)])

    def pick(self, kind: list[ctypes.c_void_p]) -> ctypes.c_void_p:
        """Mostly a handle of the right kind."""
        return self.any_handle() if self.source.random() < 0.1 else self.source.choice(kind)

    def count(self) -> ctypes.c_size_t:
        source = self.source
        return ctypes.c_size_t(source.choice(INTERESTING) if source.random() < 0.1 else source.randrange(5000))

    def allocate(self) -> int:
        size = ctypes.c_size_t(0x1000) if self.source.random() < 0.5 else self.count()
        place = None if self.source.random() < 0.05 else ctypes.byref(self.source.choice(self.memory))
        return int(self.library.hipMalloc(place, size))

    def free(self) -> int:
        return int(self.library.hipFree(self.pick(self.memory)))

    def copy(self) -> int:
        device, size = self.pick(self.memory), ctypes.c_size_t(self.source.randrange(257))
        direction = self.source.choice((1, 2, 3, 5, -1))
        if direction == 3:
            return int(self.library.hipMemcpy(device, self.pick(self.memory), size, direction))
        ends = (device, self.own) if direction == 1 else (self.own, device)
        return int(self.library.hipMemcpy(*ends, size, direction))

    def fill(self) -> int:
        return int(self.library.hipMemset(self.pick(self.memory), self.source.randrange(256), self.count()))

    def load(self) -> int:
        source = self.source
        data = bytearray(self.image)
        for _ in range(source.choice((0, 0, 1, 3))):
            if data:
                source.choice(MUTATIONS)(data, source)
        place = ctypes.byref(source.choice(self.modules))
        if source.random() < 0.2:
            # HIP is not told the size: the buffer is larger than any header may claim here, as a mapped file would be.
            padded = bytes(data).ljust(1 << 18, b"\0")
            return int(self.library.hipModuleLoadData(place, padded))
        place = ctypes.byref(self.module) if source.random() < 0.7 else place
        device = 0 if source.random() < 0.8 else source.randrange(-1, 3)
        return int(self.library.emulator_module_load(place, bytes(data), ctypes.c_size_t(len(data)), device))

    def unload(self) -> int:
        return int(self.library.hipModuleUnload(self.module if self.source.random() < 0.2 else self.pick(self.modules)))

    def find(self) -> int:
        name = self.source.choice([b"test", b"test", b"test", b"", b"x" * 3000, None])
        newest = self.source.random() < 0.8
        place, module = (self.function, self.module) if newest else (self.source.choice(self.functions), self.pick(self.modules))
        return int(self.library.hipModuleGetFunction(ctypes.byref(place), module, name))

    def sizes(self) -> list[int]:
        return [self.source.choice(SIZES) if self.source.random() < 0.1 else 1 for _ in range(3)]

    def launch(self) -> int:
        source = self.source
        grid, block = self.sizes(), self.sizes()
        block[0] = source.choice((1, 64, 65, 256, block[0]))
        if 10_000 < grid[0] * grid[1] * grid[2] < 1 << 80:
            grid = [source.choice((1, 3)), 1, 1]  # a device would take it, and so much work would not end here
        block_of_bytes = ctypes.create_string_buffer(64)
        ctypes.memmove(block_of_bytes, ctypes.byref(source.choice(self.memory)), 8)
        size = ctypes.c_size_t(source.choice(INTERESTING) if source.random() < 0.1 else source.randrange(65))
        words: list[Any] = [1, ctypes.addressof(block_of_bytes), 2, ctypes.addressof(size), 3]
        if source.random() < 0.2:
            words[source.randrange(5)] = source.choice((None, 2, 4, 99))
        extra = (ctypes.c_void_p * 12)(*words, *[3] * 7)
        pointers = (ctypes.c_void_p * 16)(*[ctypes.addressof(block_of_bytes) if source.random() < 0.9 else None for _ in range(16)])
        way = source.random()
        lds = source.choice(SIZES) if source.random() < 0.1 else 0
        function = self.function if source.random() < 0.8 else self.pick(self.functions)
        parameters = pointers if way < 0.3 else None
        error = self.library.hipModuleLaunchKernel(function, *grid, *block, lds, None, parameters, None if way < 0.25 else extra)
        text = self.library.emulator_report()
        if text:
            json.loads(text)
        return int(error)

    def options(self) -> int:
        error = int(self.library.emulator_set_options(self.source.choice((*TEXTS, None))))
        self.library.emulator_set_options(BUDGET)
        return error

    def devices(self) -> int:
        error = int(self.library.emulator_set_devices(self.source.choice((*LISTS, None))))
        if self.source.random() < 0.8:
            self.library.emulator_set_devices(b"gfx942,gfx950")
        return error

    def device(self) -> int:
        return int(self.library.hipSetDevice(self.source.choice((0, 0, 0, 0, 1, 2, -1, 1 << 30))))

    def register(self) -> int:
        size = ctypes.c_size_t(self.source.choice((0, 1, 100, 256)))
        start = self.source.choice((self.own, self.own, None))
        call = self.source.choice((self.library.emulator_register, self.library.emulator_register_for_launch))
        error = int(call(start, size, self.source.randrange(2)))
        return error | int(self.library.emulator_unregister(self.source.choice((self.own, self.any_handle()))))

    def audit(self) -> int:
        text = self.library.emulator_audit(self.pick(self.functions))
        if text is None:
            return 1
        json.loads(text)
        return 0

    def query(self) -> int:
        value = ctypes.c_int()
        properties = ctypes.create_string_buffer(1472)
        error = self.library.hipDeviceGetAttribute(ctypes.byref(value), self.source.randrange(120), self.source.randrange(-1, 3))
        self.library.hipGetDevicePropertiesR0600(self.source.choice((properties, None)), self.source.randrange(-1, 3))
        self.library.hipStreamIsCapturing(None, None)
        return int(error)


def fuzz(library: Path, image: bytes, rounds: int, seed: int) -> Counter[tuple[str, str]]:
    """Makes ``rounds`` calls: how often each ended with each error."""
    caller = Caller(library, image, random.Random(seed))
    outcomes: Counter[tuple[str, str]] = Counter()
    for _ in range(rounds):
        name, error = caller.step()
        outcomes[name, caller.library.hipGetErrorName(error).decode()] += 1
    return outcomes


def main(arguments: Sequence[str]) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="fuzz the HIP face of the emulator")
    parser.add_argument("library", type=Path)
    parser.add_argument("object", type=Path)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parsed = parser.parse_args(arguments)
    outcomes = fuzz(parsed.library, parsed.object.read_bytes(), parsed.rounds, parsed.seed)
    for (name, error), count in sorted(outcomes.items()):
        print(f"{name:10} {error:30} {count}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
