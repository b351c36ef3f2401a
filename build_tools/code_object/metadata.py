"""The decoded metadata note, field by field, with every type and range checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from . import limits, packed
from .errors import LimitExceeded, MetadataInvalid
from .model import Argument

UINT32: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """One entry of ``amdhsa.kernels``; ``None`` is what it leaves out."""

    name: str
    symbol: str
    args: tuple[Argument, ...]
    kernarg_segment_size: int
    kernarg_segment_align: int | None
    group_segment_fixed_size: int
    private_segment_fixed_size: int | None
    vgpr_count: int
    agpr_count: int | None
    sgpr_count: int
    vgpr_spill_count: int | None
    sgpr_spill_count: int | None
    max_flat_workgroup_size: int
    reqd_workgroup_size: tuple[int, int, int] | None
    wavefront_size: int | None


@dataclass(frozen=True, slots=True)
class Metadata:
    """The whole note. ``target`` is what ``amdhsa.target`` says, if it is there."""

    version: tuple[int, int]
    target: str | None
    kernels: tuple[KernelMetadata, ...]


class _Fields:
    """A metadata map whose values are asked for by name and type; unknown keys are left alone, newer compilers add some."""

    def __init__(self, value: object, file: str, where: str) -> None:
        if not isinstance(value, dict):
            raise MetadataInvalid(file, f"{where} is {_short(value)}", cause="it must be a map")
        self._values = value
        self._file = file
        self._where = where

    def fault(self, key: str, cause: str) -> MetadataInvalid:
        return MetadataInvalid(
            self._file, f"{self._where}: {key} is {_short(self._values[key]) if key in self._values else 'missing'}", cause=cause
        )

    def optional(self, key: str) -> int | None:
        if key not in self._values:
            return None
        return self.number(key)

    def number(self, key: str) -> int:
        value = self._values.get(key)
        if type(value) is not int or not 0 <= value <= UINT32:
            raise self.fault(key, "it must be a number from 0 to 2^32 - 1")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.get(key, default)
        if not isinstance(value, str) or len(value) > limits.NAME_BYTES:
            raise self.fault(key, f"it must be text of at most {limits.NAME_BYTES} characters")
        return value

    def sequence(self, key: str, default: list[Any] | None = None) -> list[Any]:
        value = self._values.get(key, default)
        if not isinstance(value, list):
            raise self.fault(key, "it must be a list")
        return value

    def numbers(self, key: str, count: int) -> tuple[int, ...]:
        values = self.sequence(key)
        if len(values) != count or any(type(value) is not int or not 0 <= value <= UINT32 for value in values):
            raise self.fault(key, f"it must be {count} numbers from 0 to 2^32 - 1")
        return tuple(values)

    def __contains__(self, key: str) -> bool:
        return key in self._values


def read(payload: bytes, file: str) -> Metadata:
    """Decode and check the payload of the metadata note."""
    root = _Fields(packed.decode(payload, file), file, "metadata")
    major, minor = root.numbers("amdhsa.version", 2)
    entries = root.sequence("amdhsa.kernels")
    if not entries:
        raise root.fault("amdhsa.kernels", "an object without a kernel is of no use")
    if len(entries) > limits.KERNELS:
        raise LimitExceeded(file, f"{len(entries)} kernels", cause=f"at most {limits.KERNELS} are read")
    kernels = tuple(_kernel(_Fields(entry, file, f"kernel {number}"), file, number) for number, entry in enumerate(entries))
    for key in ("name", "symbol"):
        if len({getattr(kernel, key) for kernel in kernels}) < len(kernels):
            raise MetadataInvalid(file, f"two kernels have one .{key}", cause="kernels are found by it")
    return Metadata((major, minor), root.text("amdhsa.target") if "amdhsa.target" in root else None, kernels)


def _kernel(fields: _Fields, file: str, number: int) -> KernelMetadata:
    symbol = fields.text(".symbol")
    if not fields.text(".name"):
        raise fields.fault(".name", "a kernel without a name cannot be found")
    if not symbol.endswith(".kd"):
        raise fields.fault(".symbol", "the symbol of a kernel descriptor ends in .kd")
    size = fields.number(".kernarg_segment_size")
    args = tuple(
        _argument(_Fields(item, file, f"kernel {number} argument {index}"), size) for index, item in enumerate(fields.sequence(".args", []))
    )
    required = fields.numbers(".reqd_workgroup_size", 3) if ".reqd_workgroup_size" in fields else None
    align = fields.optional(".kernarg_segment_align")
    if align is not None and align.bit_count() != 1:
        raise fields.fault(".kernarg_segment_align", "an alignment is a power of two")
    wavefront = fields.optional(".wavefront_size")
    if wavefront not in (None, 32, 64):
        raise fields.fault(".wavefront_size", "a wave has 32 or 64 lanes")
    return KernelMetadata(
        name=fields.text(".name"),
        symbol=symbol,
        args=args,
        kernarg_segment_size=size,
        kernarg_segment_align=align,
        group_segment_fixed_size=fields.number(".group_segment_fixed_size"),
        private_segment_fixed_size=fields.optional(".private_segment_fixed_size"),
        vgpr_count=fields.number(".vgpr_count"),
        agpr_count=fields.optional(".agpr_count"),
        sgpr_count=fields.number(".sgpr_count"),
        vgpr_spill_count=fields.optional(".vgpr_spill_count"),
        sgpr_spill_count=fields.optional(".sgpr_spill_count"),
        max_flat_workgroup_size=fields.number(".max_flat_workgroup_size"),
        reqd_workgroup_size=(required[0], required[1], required[2]) if required else None,
        wavefront_size=wavefront,
    )


def _argument(fields: _Fields, kernarg_size: int) -> Argument:
    argument = Argument(fields.number(".offset"), fields.number(".size"), fields.text(".value_kind"), fields.text(".name", ""))
    if argument.end > kernarg_size:
        raise fields.fault(".offset", f"with {argument.size} bytes it ends past the {kernarg_size} bytes of the kernarg segment")
    return argument


def _short(value: object) -> str:
    """A value for a message: never long, whatever the file holds."""
    if isinstance(value, dict | list):
        return f"a {'map' if isinstance(value, dict) else 'list'} of {len(value)}"
    return ascii(value[:60] if isinstance(value, str | bytes) else value)
