"""Tensors without memory of their own that speak torch's DLPack C exchange protocol, on any device of any type.

They stand for ROCm tensors in tests: the extension reads them exactly as it reads torch's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar, Final

CPU: Final = 1
CUDA: Final = 2
ROCM: Final = 10

DTYPES: Final = {
    "int32": (0, 32),
    "int64": (0, 64),
    "uint8": (1, 8),
    "uint64": (1, 64),
    "float16": (2, 16),
    "float32": (2, 32),
    "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
}


class DlTensor(ctypes.Structure):
    """DLPack's DLTensor."""

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


class ExchangeTable(ctypes.Structure):
    """DLPack's exchange table up to the entry that describes a tensor."""

    _fields_: ClassVar = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("unused", ctypes.c_void_p * 3),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    ]


class FakeTensor:
    """A dense tensor of a given shape whose address is chosen by the test."""

    __dlpack_c_exchange_api__: ClassVar[Any]

    def __init__(
        self,
        shape: Sequence[int],
        dtype: str,
        *,
        address: int = 0x7000_0000_0000,
        device: tuple[int, int] = (ROCM, 0),
        strides: Sequence[int] | None = None,
        byte_offset: int = 0,
        unreadable: bool = False,
    ) -> None:
        self.shape = tuple(shape)
        self.address = address
        self.unreadable = unreadable
        steps = list(strides) if strides is not None else _contiguous(shape)
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*steps)
        code, bits = DTYPES[dtype]
        self.dl = DlTensor(address, *device, len(shape), code, bits, 1, self._shape, self._strides, byte_offset)


def _contiguous(shape: Sequence[int]) -> list[int]:
    steps = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * shape[axis + 1]
    return steps


def _describe(tensor: Any, out: Any) -> int:
    if tensor.unreadable:
        return -1
    ctypes.memmove(out, ctypes.byref(tensor.dl), ctypes.sizeof(DlTensor))
    return 0


_DESCRIBE: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))(_describe)


def capsule(major: int = 1, previous: ExchangeTable | None = None) -> tuple[Any, ExchangeTable]:
    """An exchange capsule and its table, which must outlive it."""
    address = ctypes.cast(_DESCRIBE, ctypes.c_void_p).value
    table = ExchangeTable(major, 3, ctypes.addressof(previous) if previous else None, (ctypes.c_void_p * 3)(), address, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(table), b"dlpack_exchange_api", None), table


FakeTensor.__dlpack_c_exchange_api__, _TABLE = capsule()
