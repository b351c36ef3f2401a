"""``docs/support-matrix.md``: what this version serves, written from the tables and never by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from aiter_mla_aot import table
from aiter_mla_aot.problem import DTYPE_PAIRS, MAX_HEADS, MAX_Q_LEN, MODES, PAGE_SIZES, Problem
from aiter_mla_aot.rules import layout

Cell = tuple[int, tuple[int, ...], tuple[int, ...], str, str]
"""Page size, heads, query lengths, route and kernel."""

_COLUMNS = "| mode | q / KV dtype | page size | heads | q length | mask | route | kernel |\n" + "| --- " * 8 + "|"

_HEAD = """# Support matrix

Written by `python3 -m build_tools coverage` from the dispatch tables; do not edit. Each kernel of catalog `shipped` is proven on the
emulator for all that it serves here ([proving.md](proving.md)); in catalog `full` those that the wheel does not hold have no evidence.
The rows are for uniform query lengths, one KV list for all tokens of a request, no LSE, no context parallelism and up to 4 GiB of KV;
`aiter-mla-aot explain` answers for everything else. A refused problem has no row. The counts are over the whole domain, of which most
is refused for its page size alone: kernels of the wheel are served at page size 1 only.
"""


def text(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The page for the tables of all archs."""
    parts = [_HEAD]
    for arch, data in sorted(tables.items()):
        parsed = table.parse(data)
        for catalog, what in (("shipped", "kernels of the wheel"), ("full", "every published kernel")):
            counts = data["counts"][catalog]
            served = sum(sum(routes.values()) for routes in counts["served"].values())
            parts.append(f"## {arch}, catalog `{catalog}` ({what})\n\n{served:,} of {counts['total']:,} problems are served.\n")
            parts.append(_COLUMNS)
            parts.append("\n".join(_rows(parsed, catalog)) + "\n")
        if parsed.hardware:
            parts.append(f"## {arch}, reported from hardware\n\n" + "\n".join(_hardware(parsed)) + "\n")
    return "\n".join(parts)


def _plain(text: str) -> str:
    """Text of others without what Markdown would make of it."""
    return re.sub(r"[^\w .,:;()+/#=-]", lambda found: f"&#{ord(found[0])};", text)


def _hardware(data: table.Table) -> Iterator[str]:
    names = {kernel.sha256: kernel.name for kernel in data.kernels}
    for rule in data.hardware:
        problem = ", ".join(f"{axis} {str(values[0]).lower()}" for axis, values in rule.when.items())
        effect = "lifted" if rule.effect == "lifts" else "added"
        yield f"- `{names[rule.kernel]}`, {problem}: gate {rule.gate} {effect}, {_plain(rule.text)}"


def _rows(data: table.Table, catalog: str) -> Iterator[str]:
    for mode in MODES:
        for q_dtype, kv_dtype in DTYPE_PAIRS:
            causal, full = (
                [cell for page_size in PAGE_SIZES for cell in _cells(data, catalog, mode, q_dtype, kv_dtype, page_size, mask)]
                for mask in (True, False)
            )
            for cell in dict.fromkeys(causal + full):
                mask = "both" if cell in causal and cell in full else "causal" if cell in causal else "full"
                page_size, heads, q_lens, route, kernel = cell
                values = (mode, f"{q_dtype} / {kv_dtype}", page_size, ranges(heads), ranges(q_lens), mask, route, f"`{kernel}`")
                yield f"| {' | '.join(map(str, values))} |"


def _cells(data: table.Table, catalog: str, mode: str, q_dtype: str, kv_dtype: str, page_size: int, causal: bool) -> list[Cell]:
    """Heads and query lengths that have one route and kernel, as the largest rectangles of equal query lengths."""
    found: dict[tuple[str, str], dict[int, list[int]]] = {}
    for heads in range(1, MAX_HEADS + 1):
        for q_len in range(1, MAX_Q_LEN + 1):
            leaf = data.catalogs[catalog].leaf(Problem(data.arch, mode, q_dtype, kv_dtype, heads, q_len, page_size, causal=causal))
            kernel = data.kernels[data.plans[leaf][0]] if leaf < table.REFUSAL else None
            if kernel is not None and kernel.claim is not None:
                route = layout(kernel.claim, heads, q_len, data.plans[leaf][1]).route
                found.setdefault((route, kernel.name), {}).setdefault(heads, []).append(q_len)
    cells = []
    for (route, name), by_heads in found.items():
        by_q_lens: dict[tuple[int, ...], list[int]] = {}
        for heads, q_lens in by_heads.items():
            by_q_lens.setdefault(tuple(q_lens), []).append(heads)
        cells += [(page_size, tuple(heads_of), q_lens_of, route, name) for q_lens_of, heads_of in by_q_lens.items()]
    return cells


def ranges(values: tuple[int, ...]) -> str:
    """Ascending numbers as text, with runs written as ``a..b``."""
    parts = []
    for _, run in groupby(enumerate(values), key=lambda item: item[1] - item[0]):
        numbers = [number for _, number in run]
        parts.append(str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}..{numbers[-1]}")
    return ", ".join(parts)
