"""The calls of the emulator library beyond HIP."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from ..errors import ArgumentInvalid, HipError, HipNotFound

ABI: Final = 1
"""What ``emulator_abi_version`` must answer."""


class Memory:
    """Device memory in a slot of its own: an access outside is a fault to the byte, and untouched pages cost nothing.

    It is memory of this process too: ``view`` gives it to NumPy or torch (``torch.frombuffer``). The view must not outlive it.
    """

    def __init__(self, library: ctypes.CDLL, size: int) -> None:
        address = ctypes.c_void_p()
        if size <= 0 or library.hipMalloc(ctypes.byref(address), ctypes.c_size_t(size)) != 0:
            raise HipError(f"no slot of {size} bytes", cause="hipMalloc of the emulator failed", remedy="ask for less, or free some")
        self._library = library
        self.size = size
        self.address = cast(int, address.value)

    def view(self) -> memoryview:
        """The bytes. Raises ``ArgumentInvalid`` after ``free``."""
        if not self.address:
            raise ArgumentInvalid(
                "the memory was given back", cause="free was called", remedy="take the view before, and drop it with the memory"
            )
        return memoryview((ctypes.c_char * self.size).from_address(self.address)).cast("B")

    def free(self) -> None:
        """Gives the slot back; kernels that touch it from then on fault."""
        if self.address:
            self._library.hipFree(ctypes.c_void_p(self.address))
            self.address = 0


class Emulator:
    """The loaded library: devices, options, memory, reports."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        if not hasattr(library, "emulator_abi_version") or library.emulator_abi_version() != ABI:
            raise HipNotFound(
                f"{path} is not the emulator of this package",
                cause=f"it does not answer emulator_abi_version with {ABI}",
                remedy="use the library of the same wheel",
            )
        library.emulator_report.restype = ctypes.c_char_p
        library.emulator_level.restype = ctypes.c_char_p
        self._library = library
        self.path = path

    @property
    def level(self) -> str:
        """Level of x86-64 whose code is in use; results do not depend on it."""
        return cast(bytes, self._library.emulator_level()).decode()

    def set_devices(self, archs: Sequence[str], compute_units: int | None = None) -> None:
        """Replaces all devices. Raises ``ArgumentInvalid``."""
        listing = ",".join(arch if compute_units is None else f"{arch}:{compute_units}" for arch in archs)
        if self._library.emulator_set_devices(listing.encode()) != 0:
            raise ArgumentInvalid(
                f"devices are {listing!r:.80}", cause="1 to 16 devices of 1 to 1024 CUs can be emulated", remedy="change the list"
            )

    def set_rocm(self, version: str) -> None:
        """Sets the version the run time claims, ``major.minor``. Raises ``ArgumentInvalid``."""
        match = re.fullmatch(r"(\d{1,2})\.(\d{1,2})", version)
        if match is None:
            raise ArgumentInvalid(f"rocm is {version!r:.80}", cause="it must be major.minor", remedy="pass a version such as 7.0")
        self._library.emulator_set_runtime_version(int(match[1]) * 10_000_000 + int(match[2]) * 100_000)

    def set_options(self, **options: str | int | bool) -> None:
        """Options of launches from now on. Raises ``ArgumentInvalid``.

        timing: latency, instant, at_wait, random, slow_index. seed: of random latencies. lds_latency, memory_latency: clocks.
        budget: wave instructions of a workgroup. threads: 0 for one per CPU. poison: zero, finite, nan, what registers and LDS
        hold at first. uninitialised: reads of what was never written are faults. hazards: what only timing makes right is listed in
        the report and is no fault: registers used while a load to them is on its way and no s_waitcnt covers it, LDS that waves share
        without a barrier, wait states that the instruction set asks for and that are missing.
        """
        listing = ",".join(f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in options.items())
        # One option is one word or number: nothing in it may end it and begin another, or be cut by the library.
        words = all(re.fullmatch(r"-?\w+", str(value), re.ASCII) for value in options.values())
        fits = all(value < 1 << 64 for value in options.values() if isinstance(value, int))
        if not (words and fits) or self._library.emulator_set_options(listing.encode()) != 0:
            raise ArgumentInvalid(f"options are {listing!r:.120}", cause="a name or a value is unknown", remedy="see Emulator.set_options")

    def memory(self, size: int) -> Memory:
        """Device memory of ``size`` bytes. Raises ``HipError``."""
        return Memory(self._library, size)

    def register(self, address: int, size: int, *, writable: bool = True) -> None:
        """Makes memory of the caller device memory until ``unregister``. Raises ``ArgumentInvalid``."""
        if self._library.emulator_register(ctypes.c_void_p(address), ctypes.c_size_t(size), int(writable)) != 0:
            raise ArgumentInvalid(f"{size} bytes at {address:#x}", cause="the range is empty or at null", remedy="pass memory that exists")

    def unregister(self, address: int) -> None:
        """Takes back ``register``. Raises ``ArgumentInvalid`` if nothing is registered there."""
        if self._library.emulator_unregister(ctypes.c_void_p(address)) != 0:
            raise ArgumentInvalid(f"nothing is registered at {address:#x}", cause="", remedy="pass the address given to register")

    def report(self) -> dict[str, Any]:
        """What the last launch of this thread did: counters, and its fault or findings. Empty if there was none."""
        text = cast("bytes | None", self._library.emulator_report())
        return cast("dict[str, Any]", json.loads(text)) if text else {}
