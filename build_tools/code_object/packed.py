"""Bounded msgpack.

The bytes are walked once without building anything. Only what passes reaches the decoder, which allocates by the sizes it is told.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack

from . import limits
from .errors import LimitExceeded, MetadataMalformed

SIZED: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
"""Tags of byte and text strings: bytes of the length field."""
SCALARS: Final = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
CONTAINERS: Final = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Tags of arrays and maps: bytes of the length field, values for each element."""


def decode(data: bytes, name: str) -> Any:
    """The one value that ``data`` encodes; raises ``MetadataMalformed`` or ``LimitExceeded``."""
    check(data, name)

    def pairs(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, value in items:
            if not isinstance(key, str | int):
                raise MetadataMalformed(name, f"a metadata key is a {type(key).__name__}", cause="keys are text or numbers")
            if key in result:
                raise MetadataMalformed(name, f"metadata key {key!r:.100} occurs twice", cause="readers would take different ones")
            result[key] = value
        return result

    try:
        return msgpack.unpackb(data, raw=False, strict_map_key=False, object_pairs_hook=pairs)
    except (ValueError, msgpack.UnpackException) as error:
        raise MetadataMalformed(name, "the metadata is no valid msgpack", cause=str(error)) from error


def check(data: bytes, name: str) -> None:
    """Walk the encoding: every length inside the data, at most so many values so deep, and nothing behind the value."""
    position, values = 0, 0
    open_counts = [1]
    while open_counts:
        if not open_counts[-1]:
            open_counts.pop()
            continue
        open_counts[-1] -= 1
        values += 1
        if values > limits.METADATA_ITEMS:
            raise LimitExceeded(name, "the metadata has too many values", cause=f"at most {limits.METADATA_ITEMS} are read")
        position, children = _value(data, position, name)
        # A child takes a byte at least, so a longer container cannot be complete.
        if position + children > len(data):
            raise MetadataMalformed(name, "the metadata is cut off", cause=f"a value reaches past its {len(data)} bytes")
        if children:
            open_counts.append(children)
            if len(open_counts) > limits.METADATA_DEPTH:
                raise LimitExceeded(name, "the metadata is nested too deep", cause=f"at most {limits.METADATA_DEPTH} levels are read")
    if position != len(data):
        raise MetadataMalformed(name, f"{len(data) - position} bytes follow the metadata", cause="a note holds one msgpack value")


def _value(data: bytes, position: int, name: str) -> tuple[int, int]:
    """Where the head of the value at ``position`` ends, and how many values it holds."""
    if position >= len(data):
        raise MetadataMalformed(name, "the metadata is cut off", cause=f"a value is missing at its end, byte {position}")
    tag = data[position]
    position += 1
    if tag < 0x80 or tag >= 0xE0:
        return position, 0
    if tag < 0x90:
        return position, 2 * (tag & 0xF)
    if tag < 0xA0:
        return position, tag & 0xF
    if tag < 0xC0:
        return position + (tag & 0x1F), 0
    if tag in SCALARS:
        return position + SCALARS[tag], 0
    if tag in SIZED:
        return position + SIZED[tag] + _length(data, position, SIZED[tag]), 0
    if tag in CONTAINERS:
        width, factor = CONTAINERS[tag]
        return position + width, factor * _length(data, position, width)
    raise MetadataMalformed(name, f"msgpack tag {tag:#x} at byte {position - 1}", cause="metadata holds no extension types")


def _length(data: bytes, position: int, width: int) -> int:
    return int.from_bytes(data[position : position + width], "big")
