"""The kernel descriptor: 64 bytes behind a kernel's ``.kd`` symbol, and the code that they point to."""

from __future__ import annotations

import struct
from typing import Final

from .errors import DescriptorInvalid
from .layout import EXECUTABLE, SHF_EXECINSTR, Layout
from .model import KernelDescriptor
from .symbols import Symbol

BYTES: Final = 64
FORM: Final = struct.Struct("<III4xq20xIIIHH4x")
ENTRY_ALIGNMENT: Final = 256


def read(layout: Layout, symbol: Symbol, label: str) -> KernelDescriptor:
    """Decode a descriptor; ``label`` names its symbol in messages."""
    if symbol.kind != "STT_OBJECT" or symbol.binding not in ("STB_GLOBAL", "STB_WEAK") or symbol.size != BYTES:
        raise DescriptorInvalid(
            layout.name,
            f"{label} is a symbol of type {symbol.kind}, binding {symbol.binding}, with {symbol.size} bytes",
            cause=f"the loader knows a kernel descriptor as a global object of {BYTES} bytes",
        )
    segment = layout.segment_of(symbol.address, BYTES)
    if segment is None:
        raise DescriptorInvalid(layout.name, f"{label} at {symbol.address:#x} is not loaded", cause="no loaded segment holds its bytes")
    group, private, kernarg, entry, rsrc3, rsrc1, rsrc2, properties, preload = FORM.unpack_from(
        layout.data, symbol.address - segment.address + segment.offset
    )
    return KernelDescriptor(symbol.address, group, private, kernarg, entry, rsrc1, rsrc2, rsrc3, properties, preload)


def entry(layout: Layout, descriptor: KernelDescriptor, label: str) -> tuple[int, int]:
    """The address where the kernel's code starts, and its offset in the executable section that holds it."""
    address = descriptor.address + descriptor.entry_offset
    if address % ENTRY_ALIGNMENT:
        raise DescriptorInvalid(layout.name, f"{label} starts at {address:#x}", cause=f"code starts at a multiple of {ENTRY_ALIGNMENT}")
    segment = layout.segment_of(address, 4) if address >= 0 else None
    if segment is None or not segment.flags & EXECUTABLE:
        raise DescriptorInvalid(
            layout.name, f"{label} starts at {address:#x}, which is no code", cause="no executable loaded segment holds that address"
        )
    for section in layout.sections:
        if section.flags & SHF_EXECINSTR and section.address <= address < section.address + section.file_size and layout.is_loaded(section):
            return address, address - section.address
    raise DescriptorInvalid(
        layout.name,
        f"{label} starts at {address:#x}, outside every section of code",
        cause="sections and segments disagree, or the offset is wrong",
    )
