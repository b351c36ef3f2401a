"""A bounded, seeded mutation fuzz of the code object reader.

``python3 -m tests.fuzz.fuzz_code_object [--rounds N] [--seed S] [OBJECT ...]`` mutates synthetic objects and the given ones.
A finding is anything but an object or a ``CodeObjectError``, or memory beyond a bound. It ends the run with a traceback that
names seed and round, which repeat it.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from build_tools.code_object import read
from build_tools.code_object.errors import CodeObjectError
from tests.synthetic_object import Kernel, build, metadata

MEMORY_BYTES: Final = 32 << 20
"""More than reading any object of these sizes takes; a decoder that believes the sizes in a file takes far more."""
INTERESTING: Final = (
    0,
    1,
    2,
    7,
    8,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0xFFFFFFFF,
    1 << 40,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)
TAGS: Final = bytes((0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC4, 0xC6, 0xC9, 0xCF, 0xD4, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xFF))

MEASURED: Final = 8
"""Memory is measured in every so manyth round: measuring makes a round ten times as slow."""

Mutation = Callable[[bytearray, random.Random], None]


class TooMuchMemory(Exception):
    """Reading an object took memory out of proportion to it."""


def flip(data: bytearray, source: random.Random) -> None:
    for _ in range(source.randint(1, 4)):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def overwrite_number(data: bytearray, source: random.Random) -> None:
    width = source.choice((1, 2, 4, 8))
    at = source.randrange(max(1, len(data) - width))
    data[at : at + width] = (source.choice(INTERESTING) & ((1 << 8 * width) - 1)).to_bytes(width, source.choice(("little", "big")))


def overwrite_header(data: bytearray, source: random.Random) -> None:
    """A number where the counts and offsets are: in the ELF header or one of the tables it points to."""
    if len(data) < 64:
        return
    tables = [0, *struct.unpack_from("<QQ", data, 32)]
    at = source.choice(tables) + 4 * source.randrange(120)
    width = source.choice((2, 4, 8))
    if at + width <= len(data):
        data[at : at + width] = (source.choice(INTERESTING) & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def overwrite_tag(data: bytearray, source: random.Random) -> None:
    """A msgpack tag inside the metadata."""
    start = data.find(b"amdhsa")
    if start > 0:
        data[source.randrange(start, min(len(data), start + 1500))] = source.choice(TAGS)


def truncate(data: bytearray, source: random.Random) -> None:
    del data[source.randrange(len(data)) :]


def grow(data: bytearray, source: random.Random) -> None:
    at = source.randrange(len(data) + 1)
    data[at:at] = source.randbytes(source.randint(1, 64))


def copy_block(data: bytearray, source: random.Random) -> None:
    size = source.randint(1, min(256, len(data)))
    start, to = (source.randrange(len(data) - size + 1) for _ in range(2))
    data[to : to + size] = data[start : start + size]


MUTATIONS: Final[tuple[Mutation, ...]] = (
    flip,
    overwrite_number,
    overwrite_header,
    overwrite_header,
    overwrite_tag,
    overwrite_tag,
    truncate,
    grow,
    copy_block,
)


def corpus() -> list[bytes]:
    """Valid objects to start from."""
    two = [Kernel("first", kernarg=32), Kernel("second", lds=1024, metadata={".agpr_count": 0, ".vgpr_spill_count": 0})]
    return [
        build(),
        build(two, e_flags=0x54F, abiversion=4),
        build(payload=metadata(target="amdgcn-amd-amdhsa--gfx942"), undefined=["x", "y"]),
    ]


def fuzz(objects: Sequence[bytes], rounds: int, seed: int) -> Counter[str]:
    """Mutate and read ``rounds`` times: how often each error code came out, and ``read`` for an object.

    Any exception but ``CodeObjectError`` passes through, with the seed of its round in a note.
    """
    outcomes: Counter[str] = Counter()
    for number in range(rounds):
        label = f"{seed}/{number}"
        source = random.Random(label)
        data = bytearray(source.choice(objects))
        for _ in range(source.randint(1, 3)):
            if data:
                source.choice(MUTATIONS)(data, source)
        try:
            outcomes[measured(bytes(data)) if number % MEASURED == 0 else attempt(bytes(data))] += 1
        except Exception as error:
            error.add_note(f"found by the fuzz in round {label}")
            raise
    return outcomes


def attempt(data: bytes) -> str:
    """The error code of one object, or ``read``."""
    try:
        read(data, "fuzzed.co")
    except CodeObjectError as error:
        return error.code
    return "read"


def measured(data: bytes) -> str:
    """As ``attempt``; raises ``TooMuchMemory``."""
    tracemalloc.start()
    try:
        outcome = attempt(data)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if used > MEMORY_BYTES:
        raise TooMuchMemory(f"{used} bytes for an object of {len(data)}")
    return outcome


def main(arguments: Sequence[str]) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="fuzz the code object reader")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("objects", nargs="*", type=Path, metavar="OBJECT")
    parsed = parser.parse_args(arguments)
    outcomes = fuzz([*corpus(), *(path.read_bytes() for path in parsed.objects)], parsed.rounds, parsed.seed)
    for code, count in sorted(outcomes.items()):
        print(f"{code:8} {count}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
