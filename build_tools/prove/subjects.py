"""The objects to prove, and what the catalog claims of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from build_tools.code_object import KernelInfo, check_arch, read_file
from build_tools.data import catalog
from build_tools.dispatch_table.proofs import recipe_of

from .case import Recipe
from .execute import Subject

_UNTOLD: Final = 1024
_USUAL: Final = 256


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object, its file name, and the recipe that the catalog claims, with a page size it claims; None if it claims none."""

    subject: Subject
    file: str
    claimed: Recipe | None
    page_size: int = 1


def load(path: Path, arch: str, fp8: str) -> list[Subject]:
    """The kernels of an object from anywhere. Raises ``CodeObjectError``."""
    obj = read_file(path)
    check_arch(obj, arch)
    image = path.read_bytes()
    return [Subject(arch, fp8, obj.sha256, image, kernel.name, kernel.kernarg_segment_size, _workgroup(kernel)) for kernel in obj.kernels]


def _workgroup(kernel: KernelInfo) -> int:
    """Threads of a launch: those that the kernel insists on, or its most, which for published ones is what they are launched with.

    A compiler that was told nothing writes 1024; such a kernel gets the 256 that AITER launches.
    """
    if kernel.reqd_workgroup_size is not None:
        return math.prod(kernel.reqd_workgroup_size)
    return kernel.max_flat_workgroup_size if kernel.max_flat_workgroup_size < _UNTOLD else _USUAL


def arch_of(path: Path) -> str:
    """The arch that an object says it is for. Raises ``CodeObjectError``."""
    return read_file(path).arch


def fp8_of(hsa: Path, arch: str) -> str:
    """The float8 format of an arch."""
    return str(catalog.load(hsa, arch).device.fp8)


def catalogued(hsa: Path, objects: Path, archs: Sequence[str], pattern: str) -> list[Wanted]:
    """The locked decode objects whose file name matches, in the catalog's order."""
    found = []
    for arch in archs:
        data = catalog.load(hsa, arch)
        locked = data.shipped()
        for row in data.kernels:
            if row.sha256 in locked and (fnmatchcase(row.file, pattern) or fnmatchcase(Path(row.file).stem, pattern)):
                subject = load(objects / arch / row.file, arch, data.device.fp8)[0]
                found.append(Wanted(subject, row.file, _claimed(row), min(row.claim.page_sizes) if row.claim else 1))
    return found


def _claimed(row: catalog.KernelRow) -> Recipe | None:
    return None if row.claim is None or row.recipe is None else recipe_of(row, row.claim)
