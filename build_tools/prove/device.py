"""The emulator, called through its C interface: modules, memory and launches of one process."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import LibraryUnusable, PlanImpossible
from .memory import Slot

ABI_VERSION = 1


@dataclass(frozen=True)
class Launch:
    """A launch that was carried out. ``fault`` is the emulator's report of what stopped it."""

    fault: Mapping[str, Any] | None
    counters: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...]


class Arena:
    """Buffers that live for one launch."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._slots: list[Slot] = []

    def array(self, shape: tuple[int, ...], dtype: npt.DTypeLike, *, writable: bool, fill: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Memory a kernel may read, and may write if ``writable``. No byte outside it may be touched."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        slot = Slot(size)
        self._slots.append(slot)
        if size and self._library.emulator_register(ctypes.c_void_p(slot.address), ctypes.c_size_t(size), int(writable)) != 0:
            raise PlanImpossible("memory could not be registered", cause="the emulator refused it", remedy="report this")
        array = slot.array(dtype, shape)
        if fill is not None:
            array[...] = fill
        return array

    def copy(self, source: npt.NDArray[Any], *, writable: bool = False) -> npt.NDArray[Any]:
        """A copy of an array."""
        return self.array(source.shape, source.dtype, writable=writable, fill=source)

    def close(self) -> None:
        """Frees everything."""
        for slot in self._slots:
            self._library.emulator_unregister(ctypes.c_void_p(slot.address))
            slot.close()
        self._slots.clear()


class Kernel:
    """A kernel of a loaded object."""

    def __init__(self, library: ctypes.CDLL, function: ctypes.c_void_p) -> None:
        self._library = library
        self._function = function

    def launch(self, grid: tuple[int, int, int], workgroup: int, kernarg: bytes) -> Launch:
        """Runs to the end or to a fault. Raises ``PlanImpossible`` where the emulator refuses the launch itself."""
        size = ctypes.c_size_t(len(kernarg))
        block = ctypes.create_string_buffer(kernarg, max(1, len(kernarg)))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block), 2, ctypes.addressof(size), 3)
        error = self._library.hipModuleLaunchKernel(self._function, *grid, workgroup, 1, 1, 0, None, None, extra)
        text = self._library.emulator_report()
        report = json.loads(text) if text else {}
        if error != 0:
            self._library.hipGetLastError()
            if "fault" not in report:
                name = self._library.hipGetErrorName(error).decode()
                raise PlanImpossible(f"launch refused: {name}", cause=f"grid {grid}, {len(kernarg)} bytes of arguments", remedy="see cause")
        return Launch(report.get("fault"), report["counters"], tuple(report.get("findings", ())))


class Emulator:
    """The library. One device and one set of options for the whole process."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise LibraryUnusable(f"{path}: {error}", cause="the emulator cannot be loaded", remedy="build it again") from error
        if self._library.emulator_abi_version() != ABI_VERSION:
            raise LibraryUnusable(f"{path} has another interface", cause="another version", remedy="build it again")
        self._library.emulator_report.restype = ctypes.c_char_p
        self._library.emulator_level.restype = ctypes.c_char_p
        self._library.hipGetErrorName.restype = ctypes.c_char_p
        self._kernels: dict[tuple[str, str, str], Kernel] = {}

    @property
    def level(self) -> str:
        """The compiled level in use."""
        return str(self._library.emulator_level().decode())

    def device(self, arch: str) -> None:
        """Sets the only device."""
        if self._library.emulator_set_devices(arch.encode()) != 0:
            raise PlanImpossible(f"no emulated device {arch}", cause="the emulator knows no such arch", remedy="use gfx942 or gfx950")

    def options(self, **options: int | str) -> None:
        """Sets options by their names in ``emulator_set_options``."""
        text = ",".join(f"{name}={value}" for name, value in options.items())
        if self._library.emulator_set_options(text.encode()) != 0:
            raise PlanImpossible(f"emulator options {text} refused", cause="an unknown name or value", remedy="see the emulator's page")

    def kernel(self, arch: str, sha256: str, image: bytes, symbol: str) -> Kernel:
        """The kernel of an object; loaded once. The device must be set to the arch."""
        key = (arch, sha256, symbol)
        if key not in self._kernels:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            loaded = self._library.emulator_module_load(ctypes.byref(module), image, ctypes.c_size_t(len(image)), 0)
            if loaded != 0 or self._library.hipModuleGetFunction(ctypes.byref(function), module, symbol.encode()) != 0:
                raise PlanImpossible(f"object {sha256[:12]} could not be loaded", cause=f"kernel {symbol!a} on {arch}", remedy="inspect it")
            self._kernels[key] = Kernel(self._library, function)
        return self._kernels[key]

    @contextmanager
    def arena(self) -> Iterator[Arena]:
        """Memory for one launch."""
        arena = Arena(self._library)
        try:
            yield arena
        finally:
            arena.close()
