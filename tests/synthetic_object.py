"""Small valid AMDGPU code objects, made here byte by byte, and the means to damage one field of them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgpack

EHDR: Final = {
    "e_type": (16, 2),
    "e_machine": (18, 2),
    "e_version": (20, 4),
    "e_phoff": (32, 8),
    "e_shoff": (40, 8),
    "e_flags": (48, 4),
} | {
    name: (52 + 2 * number, 2) for number, name in enumerate(("e_ehsize", "e_phentsize", "e_phnum", "e_shentsize", "e_shnum", "e_shstrndx"))
}
PHDR: Final = {"p_type": (0, 4), "p_flags": (4, 4), "p_offset": (8, 8), "p_vaddr": (16, 8), "p_filesz": (32, 8), "p_memsz": (40, 8)}
SHDR: Final = {
    "sh_type": (4, 4),
    "sh_flags": (8, 8),
    "sh_addr": (16, 8),
    "sh_offset": (24, 8),
    "sh_size": (32, 8),
    "sh_link": (40, 4),
    "sh_entsize": (56, 8),
}
SYM: Final = {"st_name": (0, 4), "st_info": (4, 1), "st_shndx": (6, 2), "st_value": (8, 8), "st_size": (16, 8)}
KD: Final = {
    "lds": (0, 4),
    "private": (4, 4),
    "kernarg": (8, 4),
    "entry": (16, 8),
    "rsrc3": (44, 4),
    "rsrc1": (48, 4),
    "properties": (56, 2),
}
RECORDS: Final = {"ehdr": (EHDR, 64), "phdr": (PHDR, 56), "shdr": (SHDR, 64), "sym": (SYM, 24), "kd": (KD, 64)}

TEXT_SHIFT: Final = 0x1000
"""Addresses of the code are its file offsets plus this, as a linker does it."""
READ_ONLY, CODE, NOTE, STACK = range(4)
"""Program headers of a synthetic object."""
S_NOTE, S_DYNSYM, S_DYNSTR, S_RODATA, S_TEXT, S_NAMES = range(1, 7)
"""Section headers of a synthetic object."""

ARGS: Final = (
    {".name": "O", ".offset": 0, ".size": 8, ".value_kind": "global_buffer", ".address_space": "global"},
    {".name": "pad", ".offset": 8, ".size": 8, ".value_kind": "by_value"},
    {".name": "scale", ".offset": 16, ".size": 4, ".value_kind": "by_value"},
)


@dataclass(frozen=True)
class Kernel:
    """A kernel to be written; ``metadata`` replaces keys of its entry, a value of ``None`` takes one out."""

    name: str = "_ZN4test6kernelE"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    code: bytes = b"\x00\x00\x81\xbf"
    lds: int = 65536
    private: int = 0
    kernarg: int = 0

    def entry(self) -> dict[str, Any]:
        plain: dict[str, Any] = {
            ".args": list(ARGS),
            ".group_segment_fixed_size": self.lds,
            ".kernarg_segment_align": 4,
            ".kernarg_segment_size": 32,
            ".max_flat_workgroup_size": 256,
            ".name": self.name,
            ".private_segment_fixed_size": self.private,
            ".reqd_workgroup_size": [256, 1, 1],
            ".sgpr_count": 96,
            ".symbol": f"{self.name}.kd",
            ".vgpr_count": 512,
            ".wavefront_size": 64,
        }
        return {key: value for key, value in (plain | dict(self.metadata)).items() if value is not None}


class Image(bytes):
    """A finished object and where its tables are."""

    starts: Mapping[str, int]

    def offset(self, record: str, number: int, name: str) -> tuple[int, int]:
        """File offset and width of a field of the ``number``-th record of a table."""
        fields, size = RECORDS[record]
        at, width = fields[name]
        return self.starts[record] + number * size + at, width

    def get(self, record: str, number: int, name: str) -> int:
        at, width = self.offset(record, number, name)
        return int.from_bytes(self[at : at + width], "little")

    def put(self, record: str, number: int, name: str, value: int) -> Image:
        """A copy with one field changed."""
        at, width = self.offset(record, number, name)
        return self.splice(at, value.to_bytes(width, "little", signed=value < 0))

    def splice(self, at: int, new: bytes) -> Image:
        """A copy with bytes replaced, and the same notion of where things are."""
        changed = Image(self[:at] + new + self[at + len(new) :])
        changed.starts = self.starts
        return changed


def note(payload: bytes, *, owner: bytes = b"AMDGPU\0", kind: int = 32) -> bytes:
    """One ELF note, padded."""
    return struct.pack("<III", len(owner), len(payload), kind) + _padded(owner, 4) + _padded(payload, 4)


def metadata(kernels: Sequence[Kernel] = (Kernel(),), **extra: Any) -> bytes:
    """The msgpack of a metadata note. A keyword such as ``target`` sets ``amdhsa.target``."""
    root = {"amdhsa.kernels": [kernel.entry() for kernel in kernels], "amdhsa.version": [1, 0]} | {
        f"amdhsa.{key}": value for key, value in extra.items()
    }
    packed: bytes = msgpack.packb(root)
    return packed


def build(
    kernels: Sequence[Kernel] = (Kernel(),),
    *,
    e_flags: int = 0x54C,
    abiversion: int = 3,
    payload: bytes | None = None,
    notes: bytes | None = None,
    undefined: Sequence[str] = (),
) -> Image:
    """A valid object; ``payload`` replaces its metadata, ``notes`` the whole note segment."""
    blob = bytearray(64 + 4 * 56)
    starts = {"ehdr": 0, "phdr": 64}
    notes = note(metadata(kernels) if payload is None else payload) if notes is None else notes
    at_note = _append(blob, notes, 4)
    names, symbols = b"\0", [(0, 0, 0, 0, 0)]
    for text in undefined:
        symbols.append((len(names), 0x10, 0, 0, 0))
        names += text.encode() + b"\0"
    count = 1 + len(undefined) + len(kernels)
    at_symbols = _append(blob, bytes(24 * count), 8)
    at_descriptors = (at_symbols + 24 * count + 63) & ~63
    for number, kernel in enumerate(kernels):
        symbols.append((len(names), 0x11, S_RODATA, at_descriptors + 64 * number, 64))
        names += f"{kernel.name}.kd".encode() + b"\0"
    blob[at_symbols : at_symbols + 24 * count] = b"".join(struct.pack("<IBxHQQ", *row) for row in symbols)
    blob += bytes(at_descriptors - len(blob) + 64 * len(kernels))
    at_names = _append(blob, names, 1)
    data_end = len(blob)
    code = b"".join(_padded(kernel.code, 256) for kernel in kernels)
    at_code = _append(blob, code, 256)
    position = at_code
    for number, kernel in enumerate(kernels):
        distance = position + TEXT_SHIFT - (at_descriptors + 64 * number)
        words = struct.pack("<III4xq20xIIIHH4x", kernel.lds, kernel.private, kernel.kernarg, distance, 0x3F, 0xC033F, 0x384, 8, 0)
        blob[at_descriptors + 64 * number : at_descriptors + 64 * (number + 1)] = words
        position += len(_padded(kernel.code, 256))
    at_section_names = _append(blob, b"\0", 1)
    sections = [
        (0, 0, 0, 0, 0, 0, 0),
        (7, 2, at_note, at_note, len(notes), 0, 0),
        (11, 2, at_symbols, at_symbols, 24 * count, S_DYNSTR, 24),
        (3, 2, at_names, at_names, len(names), 0, 0),
        (1, 2, at_descriptors, at_descriptors, 64 * len(kernels), 0, 0),
        (1, 6, at_code + TEXT_SHIFT, at_code, len(code), 0, 0),
        (3, 0, 0, at_section_names, 1, 0, 0),
    ]
    rows = b"".join(
        struct.pack("<IIQQQQIIQQ", 0, kind, flags, address, at, size, link, 0, 1, entry)
        for kind, flags, address, at, size, link, entry in sections
    )
    starts |= {"shdr": _append(blob, rows, 8), "sym": at_symbols, "kd": at_descriptors, "note": at_note}
    segments = [
        (1, 4, 0, 0, data_end, data_end),
        (1, 5, at_code, at_code + TEXT_SHIFT, len(code), len(code)),
        (4, 4, at_note, at_note, len(notes), len(notes)),
        (0x6474E551, 6, 0, 0, 0, 0),
    ]
    for number, (kind, flags, at, address, size, memory) in enumerate(segments):
        struct.pack_into("<IIQQQQQQ", blob, 64 + 56 * number, kind, flags, at, address, address, size, memory, 4)
    identity = struct.pack("<4s5B7x", b"\x7fELF", 2, 1, 1, 64, abiversion)
    blob[:64] = identity + struct.pack(
        "<HHIQQQI6H", 3, 224, 1, 0, 64, starts["shdr"], e_flags, 64, 56, len(segments), 64, len(sections), S_NAMES
    )
    image = Image(blob)
    image.starts = starts
    return image


def _append(blob: bytearray, data: bytes, alignment: int) -> int:
    blob += bytes(-len(blob) % alignment)
    at = len(blob)
    blob += data
    return at


def _padded(data: bytes, alignment: int) -> bytes:
    return data + bytes(-len(data) % alignment)
