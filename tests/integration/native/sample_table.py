"""A small dispatch table for tests in which every recipe, fold and code object version occurs."""

from __future__ import annotations

from functools import cache
from typing import Final

from tests.integration.native.fake_objects import fake_object
from tests.integration.native.table_header import NONE_FITS, Diagram, Kernel, Plan, header

PERSISTENT, ROWS, SPLIT, SPLIT_NULL, WIDE, NEWER = range(6)

KERNELS: Final = (
    Kernel("ps.co", "k_ps", fake_object("k_ps")),
    Kernel("ps_rows.co", "k_rows", fake_object("k_rows", features=0xD00), recipe="persistent_rows", heads=32),
    Kernel("split.co", "k_split", fake_object("k_split"), recipe="split_direct", kernarg_size=240, tokens=8),
    Kernel("split_null.co", "k_null", fake_object("k_null"), recipe="split_null", kernarg_size=320, tokens=8, sub_q=64),
    Kernel("wide.co", "k_wide", fake_object("k_wide", features=0x600), kernarg_size=368, tokens=1),
    Kernel("newer.co", "k_newer", fake_object("k_newer", "gfx950", version=6), arch="gfx950", code_object_version=6),
)
PLANS: Final = (Plan(PERSISTENT), Plan(ROWS), Plan(SPLIT), Plan(SPLIT_NULL), Plan(WIDE, 1), Plan(NEWER))
FILES: Final = {f"{kernel.arch}/{kernel.file}": kernel.image for kernel in KERNELS}


def gfx942_leaf(axes: tuple[int, ...]) -> int:
    """The answers of the sample table on gfx942; the order of ``axes`` is that of ``table_header.AXES``."""
    mode, dtypes, heads, q_len, _, _, _, lse, cp, sparse, kv_span = axes
    if dtypes == 3 or sparse or kv_span:
        return NONE_FITS
    if mode == 0:
        return WIDE if lse or cp else (ROWS if 16 <= heads < 32 else PERSISTENT)
    if lse or cp or heads != 15 or q_len >= 8:
        return NONE_FITS
    return SPLIT if q_len < 4 else SPLIT_NULL


def gfx950_leaf(axes: tuple[int, ...]) -> int:
    """The answers on gfx950, which depend on the axes that gfx942's do not look at."""
    _, _, _, _, ragged, page, causal, _, _, _, _ = axes
    return NEWER if causal and not ragged and page != 3 else NONE_FITS


@cache
def diagram() -> tuple[tuple[int, ...], tuple[int, int]]:
    """Nodes and roots of the sample table."""
    made = Diagram()
    first = made.add(gfx942_leaf, frozenset({"mode", "dtypes", "heads", "q_len", "lse", "cp", "sparse", "kv_span"}))
    second = made.add(gfx950_leaf, frozenset({"ragged", "page", "causal"}))
    return tuple(made.nodes), (first, second)


def sample_header(kernels: tuple[Kernel, ...] = KERNELS, archs: tuple[str, ...] = ("gfx942", "gfx950")) -> str:
    """The header of the sample table, or of one with other kernels or fewer archs; plans of an arch left out name kernel 0."""
    nodes, roots = diagram()
    kept = [kernel for kernel in kernels if kernel.arch in archs]
    plans = [Plan(kept.index(kernels[plan.kernel]) if kernels[plan.kernel] in kept else 0, plan.single) for plan in PLANS]
    return header(kept, plans, nodes, {arch: root for arch, root in zip(("gfx942", "gfx950"), roots, strict=True) if arch in archs})
