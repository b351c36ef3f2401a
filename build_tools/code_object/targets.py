"""Archs and code object versions: which bits of an ELF header mean what. The archs are data, ``hsa/<arch>/device.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from build_tools.data import data_file
from build_tools.errors import SchemaDrift

from .errors import UnknownAbi, WrongArch

HSA: Final = Path(__file__).resolve().parents[2] / "hsa"
MACH_MASK: Final = 0xFF
FP8_FORMATS: Final = ("e4m3fnuz", "e4m3fn")


@dataclass(frozen=True, slots=True)
class Device:
    """What ``device.toml`` says of an arch: its mach byte in ``e_flags``, the LDS of a workgroup and the float8 format."""

    mach: int
    lds_bytes: int
    fp8: str


@dataclass(frozen=True, slots=True)
class Target:
    """An arch that objects may be for. ``fp8`` is ``e4m3fnuz`` or ``e4m3fn``."""

    arch: str
    mach: int
    lds_bytes: int
    fp8: str = "e4m3fn"


@dataclass(frozen=True, slots=True)
class Abi:
    """A code object version: the ``EI_ABIVERSION`` it is written as, and the first ROCm that loads it.

    ``minimum_rocm`` is ``None`` where the version is older than every ROCm that knows the archs here.
    """

    code_object_version: int
    minimum_rocm: str | None
    flag_mask: int


ABIS: Final[dict[int, Abi]] = {
    1: Abi(3, None, 0x3FF),
    2: Abi(4, None, 0xFFF),
    3: Abi(5, None, 0xFFF),
    4: Abi(6, "6.3", 0xFFF),  # ROCm/ROCR-Runtime#321
}
"""By ``EI_ABIVERSION``. Version 6 keeps the number of a generic target in the top byte; no such target has fp8 matrix operations."""

SETTINGS: Final = ("unsupported", "any", "off", "on")


@cache
def known(hsa: Path = HSA) -> tuple[Target, ...]:
    """Every arch that has a folder of data."""
    return tuple(load(path) for path in sorted(hsa.glob("gfx*/device.toml")))


def find(name: str, e_flags: int, targets: Sequence[Target]) -> Target:
    """The arch that an object is for; raises ``WrongArch``."""
    mach = e_flags & MACH_MASK
    for target in targets:
        if target.mach == mach:
            return target
    listed = ", ".join(f"{target.arch} ({target.mach:#x})" for target in targets)
    raise WrongArch(
        name, f"mach {mach:#x} in e_flags is no known arch", cause=f"known are {listed}", remedy="use an object for one of these archs"
    )


def features(name: str, e_flags: int, abi: Abi) -> tuple[str, str]:
    """The xnack and sramecc settings: ``unsupported``, ``any``, ``off`` or ``on``. Raises ``UnknownAbi`` for a flag without a meaning."""
    strange = e_flags & ~abi.flag_mask
    if strange:
        raise UnknownAbi(
            name,
            f"e_flags {e_flags:#x} has unknown bits {strange:#x}",
            cause=f"code object version {abi.code_object_version} gives them no meaning here; generic targets are not supported",
        )
    if abi.code_object_version == 3:
        return ("on" if e_flags & 0x100 else "off"), ("on" if e_flags & 0x200 else "off")
    return SETTINGS[e_flags >> 8 & 3], SETTINGS[e_flags >> 10 & 3]


def load(path: Path) -> Target:
    """The arch that a ``device.toml`` describes. Raises ``DataError`` and its kinds."""
    data = data_file.load(path)
    row = data.get("device")
    arch = path.parent.name
    if (
        data.keys() != {"schema", "arch", "device"}
        or data["schema"] != data_file.SCHEMA
        or data["arch"] != arch
        or not isinstance(row, dict)
    ):
        raise SchemaDrift(f"{path}: not the device data of {arch}", cause="it holds schema, arch and [device]", remedy="correct the file")
    device = data_file.record(Device, row, f"{path}: device")
    if not 0 < device.mach <= MACH_MASK or device.lds_bytes <= 0 or device.fp8 not in FP8_FORMATS:
        raise SchemaDrift(
            f"{path}: impossible device", cause=f"mach is one byte, fp8 one of {', '.join(FP8_FORMATS)}", remedy="correct the file"
        )
    return Target(arch, device.mach, device.lds_bytes, device.fp8)
