"""The few header fields that tell which target a code object is for. The build reads code objects whole; this does not."""

from __future__ import annotations

import struct
from typing import Final

ELF64_LITTLE: Final = b"\x7fELF\x02\x01\x01"
OSABI_AMDGPU_HSA: Final = 64
EM_AMDGPU: Final = 224
HEADER_BYTES: Final = 64


def fault(data: bytes, mach: int) -> tuple[str, str] | None:
    """(expected, found) if the bytes are no AMDGPU code object with this EF_AMDGPU_MACH, the low byte of ``e_flags``; else None."""
    if len(data) < HEADER_BYTES:
        return f"an ELF header of {HEADER_BYTES} bytes", f"{len(data)} bytes"
    if data[:7] != ELF64_LITTLE:
        return "a 64-bit little-endian ELF file", data[:7].hex()
    if data[7] != OSABI_AMDGPU_HSA:
        return f"OS ABI {OSABI_AMDGPU_HSA} (AMDGPU HSA)", f"OS ABI {data[7]}"
    machine = struct.unpack_from("<H", data, 18)[0]
    if machine != EM_AMDGPU:
        return f"machine {EM_AMDGPU} (AMDGPU)", f"machine {machine}"
    found = struct.unpack_from("<I", data, 48)[0] & 0xFF
    if found != mach:
        return f"arch flag {mach:#04x}", f"arch flag {found:#04x}"
    return None
