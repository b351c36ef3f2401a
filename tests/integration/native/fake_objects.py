"""Code objects made for tests: the ELF header fields that the loader reads, a symbol, and a payload that makes each unique."""

from __future__ import annotations

import struct
from typing import Final

MACH: Final = {"gfx942": 0x4C, "gfx950": 0x4F}
ANY_FEATURES: Final = 0x500
ABI_VERSION: Final = {4: 2, 5: 3, 6: 4}


def fake_object(symbol: str, arch: str = "gfx942", *, features: int = ANY_FEATURES, version: int = 5, payload: bytes = b"") -> bytes:
    """An image that the HIP recorder loads on a device of ``arch``."""
    body = symbol.encode() + b"\0" + symbol.encode() + b".kd\0" + payload
    size = 64 + len(body)
    ident = b"\x7fELF" + bytes([2, 1, 1, 64, ABI_VERSION[version]]) + bytes(7)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, size, MACH[arch] | features, 64, 0, 0, 64, 0, 0)
    return ident + header + body
