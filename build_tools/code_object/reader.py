"""From bytes to ``CodeObject``. Hostile bytes cost bounded time and memory and end in a ``CodeObjectError``."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from . import descriptor, layout, limits, metadata, notes, symbols, targets
from .errors import LimitExceeded, MetadataMismatch, ObjectUnreadable, SymbolAbsent, UnknownAbi
from .metadata import KernelMetadata
from .model import CodeObject, KernelDescriptor, KernelInfo
from .symbols import Symbol
from .targets import ABIS, Target


def read(data: bytes, name: str, known: Sequence[Target] | None = None) -> CodeObject:
    """Read a code object.

    name: what messages call it. known: the archs it may be for, by default those under ``hsa/``.
    Raises ``CodeObjectError`` and its kinds, and nothing else for any bytes.
    """
    elf = layout.parse(data, name)
    abi = ABIS.get(elf.abiversion)
    if abi is None:
        versions = ", ".join(f"{number} (v{item.code_object_version})" for number, item in ABIS.items())
        raise UnknownAbi(name, f"ABI version {elf.abiversion} is not known", cause=f"known are {versions}")
    target = targets.find(name, elf.e_flags, targets.known() if known is None else known)
    xnack, sramecc = targets.features(name, elf.e_flags, abi)
    note = metadata.read(notes.metadata(elf), name)
    _check_target(note.target, target.arch, name)
    defined = symbols.read(elf)
    return CodeObject(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        arch=target.arch,
        e_flags=elf.e_flags,
        xnack=xnack,
        sramecc=sramecc,
        elf_abiversion=elf.abiversion,
        code_object_version=abi.code_object_version,
        minimum_rocm=abi.minimum_rocm,
        metadata_version=note.version,
        kernels=tuple(_kernel(elf, defined, kernel) for kernel in note.kernels),
    )


def read_file(path: Path, known: Sequence[Target] | None = None) -> CodeObject:
    """Read the code object in a file, of which no more than the limit is taken into memory."""
    try:
        # Without O_NONBLOCK a FIFO would block for ever.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ObjectUnreadable(
                    str(path), "the path is no regular file", cause="a code object is a file", remedy="give the path of a file"
                )
            data = stream.read(limits.FILE_BYTES + 1)
    except OSError as error:
        raise ObjectUnreadable(str(path), "the file cannot be read", cause=str(error), remedy="give the path of a readable file") from error
    if len(data) > limits.FILE_BYTES:
        raise LimitExceeded(str(path), "the file is too large", cause=f"code objects are below {limits.FILE_BYTES} bytes")
    return read(data, path.name, known)


def _check_target(target: str | None, arch: str, name: str) -> None:
    # Written like amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-; most objects leave it out.
    if target is not None and target.partition(":")[0].rpartition("-")[2] != arch:
        raise MetadataMismatch(name, "the arch in e_flags", target, arch, source="amdhsa.target in the metadata")


def _kernel(elf: layout.Layout, defined: dict[bytes, Symbol], note: KernelMetadata) -> KernelInfo:
    symbol = defined.get(note.symbol.encode())
    if symbol is None:
        raise SymbolAbsent(elf.name, f"no dynamic symbol {note.symbol!a}", cause="the metadata names it as the descriptor of a kernel")
    code = descriptor.read(elf, symbol, ascii(note.symbol))
    _check_agreement(elf.name, note, code)
    address, in_section = descriptor.entry(elf, code, ascii(note.name))
    return KernelInfo(
        name=note.name,
        symbol=note.symbol,
        args=note.args,
        kernarg_segment_size=note.kernarg_segment_size,
        kernarg_segment_align=note.kernarg_segment_align,
        group_segment_fixed_size=note.group_segment_fixed_size,
        private_segment_fixed_size=code.private_segment_fixed_size,
        vgpr_count=note.vgpr_count,
        agpr_count=note.agpr_count,
        sgpr_count=note.sgpr_count,
        vgpr_spill_count=note.vgpr_spill_count,
        sgpr_spill_count=note.sgpr_spill_count,
        max_flat_workgroup_size=note.max_flat_workgroup_size,
        reqd_workgroup_size=note.reqd_workgroup_size,
        wavefront_size=code.wavefront_size,
        descriptor=code,
        entry_address=address,
        entry_in_section=in_section,
    )


def _check_agreement(name: str, note: KernelMetadata, code: KernelDescriptor) -> None:
    """Where metadata and descriptor both speak, they must say the same. Hand-written kernels leave the kernarg size of the descriptor 0."""
    for field, expected, found in (
        (".group_segment_fixed_size", note.group_segment_fixed_size, code.group_segment_fixed_size),
        (".private_segment_fixed_size", note.private_segment_fixed_size, code.private_segment_fixed_size),
        (".kernarg_segment_size", note.kernarg_segment_size, code.kernarg_size or None),
        (".wavefront_size", note.wavefront_size, code.wavefront_size),
    ):
        if expected is not None and found is not None and expected != found:
            raise MetadataMismatch(name, f"{field} of the kernel descriptor of {note.name!a}", expected, found, source="the metadata")
