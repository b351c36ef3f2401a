"""Device memory of a launch: each buffer in address space of its own, ending at the byte it ends at."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .errors import PlanImpossible

_GUARD: Final = 4 << 30
_PAGE: Final = mmap.PAGESIZE
_NO_RESERVE: Final = 0x4000
_NO_HUGE_PAGES: Final = 15
_FAILED: Final = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Slot:
    """Zeroed memory with 4 GiB of unmapped address space before and behind it. Pages exist once they are touched.

    The first byte lies at a page's start, as a device allocator gives it; the emulator knows the last byte exactly.
    """

    def __init__(self, size: int) -> None:
        pages = -(-max(size, 1) // _PAGE) * _PAGE
        self._length = pages + 2 * _GUARD
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        self._start = _libc.mmap(None, self._length, 0, flags, -1, 0)
        if self._start == _FAILED:
            raise PlanImpossible("no address space left", cause=f"mmap of {self._length} bytes failed", remedy="use fewer jobs")
        first = self._start + _GUARD
        if _libc.mprotect(first, pages, mmap.PROT_READ | mmap.PROT_WRITE) != 0:
            raise PlanImpossible("no memory left", cause=f"mprotect of {pages} bytes failed", remedy="use fewer jobs")
        # A row here and there must not cost a huge page each. A kernel without huge pages refuses, to the same effect.
        _libc.madvise(first, pages, _NO_HUGE_PAGES)
        self.size = size
        self.address: int = first

    def array(self, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """The memory as an array, to be used while the slot is open."""
        raw = (ctypes.c_uint8 * self.size).from_address(self.address)
        whole: npt.NDArray[np.uint8] = np.ctypeslib.as_array(raw)
        return whole.view(dtype).reshape(shape)

    def close(self) -> None:
        """Gives the address space back."""
        _libc.munmap(self._start, self._length)
