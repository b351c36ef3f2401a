"""A code object against what is expected of it: a hash, an arch, a row of the catalog and the block of arguments that the host writes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, Protocol

from . import targets
from .errors import ArgumentsPastHostBlock, HashMismatch, LdsOverLimit, MetadataMismatch, SymbolAbsent, WrongArch
from .model import CodeObject, KernelInfo
from .targets import Target

HOST_BLOCK: Final = 368
"""Bytes of kernel arguments that the host writes for every decode kernel."""


class KernelRow(Protocol):
    """What a row of ``hsa/<arch>/kernels.toml`` says that an object says too."""

    @property
    def file(self) -> str:
        """File name of the object."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the object: its identity."""

    @property
    def symbol(self) -> str:
        """Name of the kernel, without ``.kd``."""

    @property
    def scope(self) -> str:
        """``decode`` for kernels that the host launches."""

    @property
    def bytes(self) -> int:
        """Size of the object."""

    @property
    def e_flags(self) -> int:
        """``e_flags`` of the ELF header."""

    @property
    def elf_abiversion(self) -> int:
        """``EI_ABIVERSION`` of the ELF header."""

    @property
    def kernarg_segment_size(self) -> int:
        """Metadata ``.kernarg_segment_size``."""

    @property
    def last_arg_end(self) -> int:
        """Where the last argument ends."""

    @property
    def lds_bytes(self) -> int:
        """Metadata ``.group_segment_fixed_size``."""

    @property
    def vgpr(self) -> int:
        """Metadata ``.vgpr_count``."""

    @property
    def agpr(self) -> int | None:
        """Metadata ``.agpr_count``, if it is there."""

    @property
    def sgpr(self) -> int:
        """Metadata ``.sgpr_count``."""

    @property
    def max_workgroup(self) -> int:
        """Metadata ``.max_flat_workgroup_size``."""


def check_hash(data: bytes, expected: str, name: str) -> None:
    """Raise ``HashMismatch`` with both hashes unless the SHA-256 of ``data`` is the expected one."""
    found = hashlib.sha256(data).hexdigest()
    if found != expected.lower():
        raise HashMismatch(name, expected, found)


def check_arch(obj: CodeObject, arch: str) -> None:
    """Raise ``WrongArch`` unless the object is for ``arch``."""
    if obj.arch != arch:
        raise WrongArch(
            obj.name,
            f"the object is for {obj.arch}, not for {arch}",
            cause=f"e_flags is {obj.e_flags:#x}; SHA-256 {obj.sha256}",
            remedy=f"use the object of {arch}",
        )


def find_kernel(obj: CodeObject, name: str) -> KernelInfo:
    """The kernel of a name; raises ``SymbolAbsent`` with the names that there are."""
    for kernel in obj.kernels:
        if kernel.name == name:
            return kernel
    there = ", ".join(ascii(kernel.name) for kernel in obj.kernels[:8])
    raise SymbolAbsent(
        obj.name,
        f"no kernel {name!r}",
        cause=f"the object holds {there}",
        remedy="correct the symbol in the row, or fetch the object that holds it",
    )


def compare(row: KernelRow, obj: CodeObject, host_block: int = HOST_BLOCK, known: Sequence[Target] | None = None) -> None:
    """Check an object against its row; the first difference is raised.

    host_block: bytes of arguments that the host writes, which a kernel of scope ``decode`` may not exceed.
    """
    archs = targets.known() if known is None else known
    check_arch(obj, targets.find(row.file, row.e_flags, archs).arch)
    if obj.sha256 != row.sha256:
        raise HashMismatch(obj.name, row.sha256, obj.sha256)
    kernel = find_kernel(obj, row.symbol)
    _check_lds(kernel, obj, archs)
    if row.scope == "decode" and kernel.last_arg_end > host_block:
        raise ArgumentsPastHostBlock(
            obj.name,
            f"the arguments of {row.symbol} end at byte {kernel.last_arg_end}",
            cause=f"the host writes {host_block} bytes",
            remedy="extend the block of arguments in csrc/dispatch first, or catalogue the kernel without serving it",
        )
    for field, expected, found in (
        ("bytes", row.bytes, obj.size),
        ("e_flags", row.e_flags, obj.e_flags),
        ("elf_abiversion", row.elf_abiversion, obj.elf_abiversion),
        ("kernarg_segment_size", row.kernarg_segment_size, kernel.kernarg_segment_size),
        ("last_arg_end", row.last_arg_end, kernel.last_arg_end),
        ("lds_bytes", row.lds_bytes, kernel.group_segment_fixed_size),
        ("vgpr", row.vgpr, kernel.vgpr_count),
        ("agpr", row.agpr, kernel.agpr_count),
        ("sgpr", row.sgpr, kernel.sgpr_count),
        ("max_workgroup", row.max_workgroup, kernel.max_flat_workgroup_size),
    ):
        if expected != found:
            raise MetadataMismatch(obj.name, field, expected, found, source="its row in kernels.toml")


def _check_lds(kernel: KernelInfo, obj: CodeObject, archs: Sequence[Target]) -> None:
    limit = next(target.lds_bytes for target in archs if target.arch == obj.arch)
    if kernel.group_segment_fixed_size > limit:
        raise LdsOverLimit(
            obj.name,
            f"{kernel.name!a} needs {kernel.group_segment_fixed_size} bytes of LDS",
            cause=f"a workgroup of {obj.arch} has at most {limit}",
            remedy="use the object of an arch with more LDS, or another kernel",
        )
