"""What a code object says of itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument; ``name`` is empty where the metadata gives none."""

    offset: int
    size: int
    value_kind: str
    name: str

    @property
    def end(self) -> int:
        """Offset of the first byte after the argument."""
        return self.offset + self.size

    @property
    def hidden(self) -> bool:
        """Whether the HIP run time writes the argument itself, behind those of the caller."""
        return self.value_kind.startswith("hidden_")


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """The 64-byte ``.kd`` that the hardware is programmed from."""

    address: int
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    kernarg_size: int
    entry_offset: int
    compute_pgm_rsrc1: int
    compute_pgm_rsrc2: int
    compute_pgm_rsrc3: int
    kernel_code_properties: int
    kernarg_preload: int

    @property
    def granulated_vgprs(self) -> int:
        """Vector register count as encoded in ``compute_pgm_rsrc1``."""
        return self.compute_pgm_rsrc1 & 0x3F

    @property
    def granulated_sgprs(self) -> int:
        """Scalar register count as encoded in ``compute_pgm_rsrc1``."""
        return self.compute_pgm_rsrc1 >> 6 & 0xF

    @property
    def allocated_vgprs(self) -> int:
        """Vector registers of a wave, accumulation registers included, for the gfx90a family."""
        return (self.granulated_vgprs + 1) * 8

    @property
    def accum_offset(self) -> int:
        """First of ``allocated_vgprs`` that is an accumulation register, for the gfx90a family."""
        return ((self.compute_pgm_rsrc3 & 0x3F) + 1) * 4

    @property
    def wavefront_size(self) -> int:
        """Lanes of a wave."""
        return 32 if self.kernel_code_properties & 0x400 else 64


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """One kernel: its metadata, its descriptor and where its code starts. ``None`` is what the metadata leaves out."""

    name: str
    symbol: str
    args: tuple[Argument, ...]
    kernarg_segment_size: int
    kernarg_segment_align: int | None
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    vgpr_count: int
    agpr_count: int | None
    sgpr_count: int
    vgpr_spill_count: int | None
    sgpr_spill_count: int | None
    max_flat_workgroup_size: int
    reqd_workgroup_size: tuple[int, int, int] | None
    wavefront_size: int
    descriptor: KernelDescriptor
    entry_address: int
    entry_in_section: int

    @property
    def last_arg_end(self) -> int:
        """Bytes of the kernarg segment that the caller must fill."""
        return max((argument.end for argument in self.args if not argument.hidden), default=0)


@dataclass(frozen=True, slots=True)
class CodeObject:
    """One AMDGPU ELF. ``minimum_rocm`` is ``None`` where every ROCm that knows the arch loads its code object version."""

    name: str
    sha256: str
    size: int
    arch: str
    e_flags: int
    xnack: str
    sramecc: str
    elf_abiversion: int
    code_object_version: int
    minimum_rocm: str | None
    metadata_version: tuple[int, int]
    kernels: tuple[KernelInfo, ...]

    @property
    def target_id(self) -> str:
        """Arch and fixed features in LLVM's notation, such as ``gfx942:sramecc+:xnack-``."""
        marks = {"on": "+", "off": "-"}
        features = (("sramecc", self.sramecc), ("xnack", self.xnack))
        return ":".join([self.arch, *(name + marks[setting] for name, setting in features if setting in marks)])

    def to_json(self) -> dict[str, Any]:
        """All fields, and those derived from them that other tools need."""
        plain = asdict(self)
        plain["target_id"] = self.target_id
        for kernel, info in zip(plain["kernels"], self.kernels, strict=True):
            kernel["last_arg_end"] = info.last_arg_end
            kernel["descriptor"] |= {
                key: getattr(info.descriptor, key) for key in ("granulated_vgprs", "granulated_sgprs", "allocated_vgprs", "accum_offset")
            }
        return plain
