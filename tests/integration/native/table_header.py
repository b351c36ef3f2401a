"""Writes a ``dispatch_table.hpp`` for tests: any kernels, any plans, and a diagram made from a function of a problem's axes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

AXES: Final = (
    ("mode", 2),
    ("dtypes", 4),
    ("heads", 128),
    ("q_len", 16),
    ("ragged", 2),
    ("page", 9),
    ("causal", 2),
    ("lse", 2),
    ("cp", 2),
    ("sparse", 2),
    ("kv_span", 2),
)
ARCHS: Final = {"gfx942": "0x4c, Fp8::e4m3fnuz", "gfx950": "0x4f, Fp8::e4m3fn"}
REFUSAL: Final = 0x8000
REFUSALS: Final = ("arch_not_in_wheel", "dtypes", "head_dims", "logit_cap", "none_fits", "out_dtype")
NONE_FITS: Final = REFUSAL + REFUSALS.index("none_fits")

LeafOf = Callable[[tuple[int, ...]], int]


@dataclass(frozen=True)
class Kernel:
    """One row of the kernel table, with the bytes of its code object."""

    file: str
    symbol: str
    image: bytes
    arch: str = "gfx942"
    recipe: str = "persistent"
    kernarg_size: int = 288
    heads: int = 16
    tokens: int = 4
    sub_q: int = 128
    code_object_version: int = 5
    sha256: str = ""

    def row(self, arch: int) -> str:
        """The row as C++; ``arch`` is the number of the kernel's arch."""
        digest = bytes.fromhex(self.sha256) if self.sha256 else hashlib.sha256(self.image).digest()
        hashed = ", ".join(f"0x{byte:02x}" for byte in digest)
        return (
            f'{{"{self.file}", "{self.symbol}", {{{hashed}}}, {arch}, Recipe::{self.recipe}, {self.kernarg_size}, '
            f"{self.kernarg_size}, 65536, 256, {self.code_object_version}, {self.heads}, {self.tokens}, {self.sub_q}, {len(self.image)}}}"
        )


@dataclass(frozen=True)
class Plan:
    """One row of the plan table."""

    kernel: int
    single: int = 0


class Diagram:
    """A decision diagram with equal nodes shared."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self._known: dict[tuple[int, ...], int] = {}

    def add(self, leaf_of: LeafOf, depends: frozenset[str]) -> int:
        """Adds the diagram of a leaf function that looks only at the axes in ``depends``; returns its root."""
        return self._node(leaf_of, depends, ())

    def _node(self, leaf_of: LeafOf, depends: frozenset[str], path: tuple[int, ...]) -> int:
        name, width = AXES[len(path)]
        last = len(path) + 1 == len(AXES)
        entries: list[int] = []
        for value in range(width):
            if value and name not in depends:
                entries.append(entries[0])
            elif last:
                entries.append(leaf_of((*path, value)))
            else:
                entries.append(self._node(leaf_of, depends, (*path, value)))
        key = tuple(entries)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.extend(entries)
        return self._known[key]


def header(kernels: Sequence[Kernel], plans: Sequence[Plan], nodes: Sequence[int], roots: Mapping[str, int]) -> str:
    """The text of the header; ``roots`` has the root of every arch of the wheel. Every kernel is of one of these archs."""
    archs = ", ".join(f'{{"{arch}", {ARCHS[arch]}, {root}, {{}}}}' for arch, root in roots.items())
    rows = ",\n".join(kernel.row(list(roots).index(kernel.arch)) for kernel in kernels)
    planned = ", ".join(f"{{{plan.kernel}, {plan.single}}}" for plan in plans)
    refusals = ", ".join(f'"{code}"' for code in REFUSALS)
    return f"""#pragma once
#include "table_types.hpp"
namespace amla::table {{
inline constexpr KernelRow kKernels[] = {{
{rows}
}};
inline constexpr PlanRow kPlans[] = {{{planned}}};
inline constexpr const char* kRefusals[] = {{{refusals}}};
inline constexpr Node kNodes[] = {{{", ".join(map(str, nodes))}}};
inline constexpr ArchRow kArchs[] = {{{archs}}};
}} // namespace amla::table
"""


def expand(nodes: Sequence[int], root: int) -> bytes:
    """All leaves below a root in axis order, as little-endian uint16: the reference for ``_native.lookup_domain``."""
    known: dict[tuple[int, int], bytes] = {}

    def walk(place: int, axis: int) -> bytes:
        if (place, axis) not in known:
            entries = [nodes[place + value] for value in range(AXES[axis][1])]
            last = axis + 1 == len(AXES)
            known[place, axis] = b"".join(entry.to_bytes(2, "little") if last else walk(entry, axis + 1) for entry in entries)
        return known[place, axis]

    return walk(root, 0)
