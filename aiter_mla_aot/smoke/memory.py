"""Tensors in memory of the HIP device in use, without torch: what a smoke request hands to the extension."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from ..device import HipRuntime
from ..errors import HipError

_CPU: Final = 1
_ROCM: Final = 10
_TO_DEVICE: Final = 1
_TO_HOST: Final = 2
_DTYPES: Final = {
    "int32": (0, 32),
    "uint64": (1, 64),
    "float32": (2, 32),
    "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
}
"""DLPack's code and number of bits of each type."""


class _DlTensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _ExchangeTable(ctypes.Structure):
    # DLPack's exchange table up to the last entry that version 1 has; the extension uses the one that describes a tensor.
    _fields_: ClassVar = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("not_offered", ctypes.c_void_p * 3),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    ]


class Tensor:
    """A dense tensor in device memory that owns its bytes; the extension reads it as it reads torch's."""

    __dlpack_c_exchange_api__: ClassVar[Any]

    def __init__(self, memory: Memory, shape: Sequence[int], dtype: str, content: bytes | None) -> None:
        code, bits = _DTYPES[dtype]
        self._memory = memory
        self.size = math.prod(shape) * bits // 8
        self.address = memory.allocate(self.size)
        if content is not None:
            memory.copy(self.address, content)
        steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        numbers = ctypes.c_int64 * len(shape)
        self._extents, self._steps = numbers(*shape), numbers(*steps)
        device = (_CPU if memory.emulated else _ROCM, memory.device)
        self.description = _DlTensor(self.address, *device, len(shape), code, bits, 1, self._extents, self._steps, 0)

    def content(self) -> bytes:
        """The bytes as they are on the device now."""
        return self._memory.read(self.address, self.size)


class Memory:
    """Memory of one HIP device. Frees what it gave at the end of the ``with`` block."""

    def __init__(self, runtime: HipRuntime, device: int) -> None:
        self.emulated = runtime.emulated
        self.device = 0 if runtime.emulated else device
        self._hip = ctypes.CDLL(runtime.path)
        self._given: list[int] = []

    def __enter__(self) -> Memory:
        self.call("hipSetDevice", self.device)
        return self

    def __exit__(self, *_: object) -> None:
        while self._given:
            self._hip.hipFree(ctypes.c_void_p(self._given.pop()))

    def tensor(self, shape: Sequence[int], dtype: str, content: bytes | None = None) -> Tensor:
        """A new tensor, with the given bytes or with whatever the memory holds. Raises ``HipError``."""
        return Tensor(self, shape, dtype, content)

    def allocate(self, size: int) -> int:
        """Address of new memory."""
        address = ctypes.c_void_p()
        self.call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(size))
        self._given.append(address.value or 0)
        return self._given[-1]

    def copy(self, address: int, content: bytes) -> None:
        """Writes bytes to the device."""
        self.call("hipMemcpy", ctypes.c_void_p(address), content, ctypes.c_size_t(len(content)), _TO_DEVICE)

    def read(self, address: int, size: int) -> bytes:
        """Reads bytes of the device."""
        buffer = ctypes.create_string_buffer(size)
        self.call("hipMemcpy", buffer, ctypes.c_void_p(address), ctypes.c_size_t(size), _TO_HOST)
        return buffer.raw

    def wait(self) -> None:
        """Waits until everything launched has ended."""
        self.call("hipDeviceSynchronize")

    def name(self) -> str:
        """What the run time calls the device. Raises ``HipError``."""
        if self.emulated:
            return "emulator"
        text = ctypes.create_string_buffer(256)
        self.call("hipDeviceGetName", text, len(text), self.device)
        return "".join(char for char in text.value.decode(errors="replace") if char.isprintable()).strip() or "unnamed"

    def unload(self, module: ctypes.c_void_p) -> None:
        """Gives a module back; after a fault the run time may refuse even that."""
        self._hip.hipModuleUnload(module)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the run time. Raises ``HipError`` where it does not succeed."""
        error = getattr(self._hip, name)(*arguments)
        if error != 0:
            raise HipError(
                f"{name} failed ({error})",
                cause="the HIP run time refused it",
                remedy="aiter-mla-aot doctor shows the run time and its devices",
            )


def _describe(tensor: Any, out: Any) -> int:
    ctypes.memmove(out, ctypes.byref(tensor.description), ctypes.sizeof(_DlTensor))
    return 0


def _exchange_capsule(table: _ExchangeTable) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(table), b"dlpack_exchange_api", None)


# Callback and table are referred to by address only, so they must live as long as the module.
_DESCRIBE: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_DlTensor))(_describe)
_TABLE: Final = _ExchangeTable(1, 0, None, (ctypes.c_void_p * 3)(), ctypes.cast(_DESCRIBE, ctypes.c_void_p).value, None)
Tensor.__dlpack_c_exchange_api__ = _exchange_capsule(_TABLE)
