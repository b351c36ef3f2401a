"""The emulator library through ctypes."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt


class LaunchError(Exception):
    """A HIP call failed; ``report`` is the launch's if it got as far as running."""

    def __init__(self, call: str, error: int, name: str, report: dict[str, Any]) -> None:
        super().__init__(f"{call}: {error} {name} {json.dumps(report.get('fault'))}")
        self.error = error
        self.name = name
        self.report = report


class Buffer:
    """Memory of hipMalloc with a view as an array."""

    def __init__(self, hip: Hip, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
        kind = np.dtype(dtype)
        count = int(np.prod(shape))
        address = ctypes.c_void_p()
        hip.call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(count * kind.itemsize))
        self.hip = hip
        self.address = cast(int, address.value)
        self.bytes = count * kind.itemsize
        raw = (ctypes.c_char * self.bytes).from_address(self.address)
        self.array: npt.NDArray[Any] = np.frombuffer(memoryview(raw).cast("B"), dtype=kind).reshape(shape)

    def free(self) -> None:
        self.hip.call("hipFree", ctypes.c_void_p(self.address))


class Hip:
    """Calls of the library, errors as exceptions."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.emulator_report.restype = ctypes.c_char_p
        self.library.emulator_level.restype = ctypes.c_char_p
        self.library.emulator_audit.restype = ctypes.c_char_p
        self.library.hipGetErrorName.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        error = getattr(self.library, name)(*arguments)
        if error != 0:
            self.library.hipGetLastError()
            raise LaunchError(name, error, self.library.hipGetErrorName(error).decode(), {})

    def report(self) -> dict[str, Any]:
        text = self.library.emulator_report()
        return cast("dict[str, Any]", json.loads(text)) if text else {}

    def devices(self, listing: str) -> None:
        self.call("emulator_set_devices", listing.encode())

    def options(self, listing: str) -> None:
        self.call("emulator_set_options", listing.encode())

    def buffer(self, shape: Sequence[int], dtype: npt.DTypeLike) -> Buffer:
        return Buffer(self, shape, dtype)

    def upload(self, array: npt.NDArray[Any]) -> Buffer:
        buffer = Buffer(self, array.shape, array.dtype)
        buffer.array[...] = array
        return buffer

    def register(self, address: int, size: int, *, writable: bool = True) -> None:
        self.call("emulator_register", ctypes.c_void_p(address), ctypes.c_size_t(size), int(writable))

    def unregister(self, address: int) -> None:
        self.call("emulator_unregister", ctypes.c_void_p(address))

    def load(self, image: bytes | ctypes.c_void_p) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("hipModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        self.call("hipModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def launch(
        self,
        function: ctypes.c_void_p,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        kernarg: bytes,
        *,
        lds: int = 0,
    ) -> dict[str, Any]:
        """Runs a kernel and gives its report; raises ``LaunchError`` with it if the launch fails."""
        size = ctypes.c_size_t(len(kernarg))
        block_of_bytes = ctypes.create_string_buffer(kernarg, max(1, len(kernarg)))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block_of_bytes), 2, ctypes.addressof(size), 3)
        error = self.library.hipModuleLaunchKernel(function, *grid, *block, lds, None, None, extra)
        if error != 0:
            self.library.hipGetLastError()
            raise LaunchError("hipModuleLaunchKernel", error, self.library.hipGetErrorName(error).decode(), self.report())
        return self.report()

    def run_assembly(
        self, image: bytes, kernarg: bytes, *, name: str = "test", grid: int = 1, block: int = 64, lds: int = 0
    ) -> dict[str, Any]:
        """Loads an object made by ``assemble``, runs one of its kernels and unloads it."""
        module = self.load(image)
        try:
            return self.launch(self.function(module, name), (grid, 1, 1), (block, 1, 1), kernarg, lds=lds)
        finally:
            self.call("hipModuleUnload", module)
