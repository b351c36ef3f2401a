"""Bounds of the reader. The published MLA objects stay below a twentieth of each; beyond a bound a file is refused, not read."""

from __future__ import annotations

from typing import Final

FILE_BYTES: Final = 16 << 20
IMAGE_BYTES: Final = 256 << 20
SEGMENTS: Final = 64
SECTIONS: Final = 512
SYMBOLS: Final = 4096
NAME_BYTES: Final = 1024
NOTES: Final = 64
METADATA_BYTES: Final = 1 << 20
METADATA_ITEMS: Final = 1 << 16
METADATA_DEPTH: Final = 16
KERNELS: Final = 256
