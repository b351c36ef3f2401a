"""The dispatch tables as a C++ header of constants: the shipped catalog only, for the native extension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiter_mla_aot.dispatch import REFUSAL_TEXT
from aiter_mla_aot.rules import HARDWARE
from aiter_mla_aot.table import AXES, REFUSAL


def header(tables: Mapping[str, Mapping[str, Any]], digests: Mapping[str, str]) -> str:
    """``dispatch_table.hpp`` for the tables of some archs, whose SHA-256 are ``digests``. Types: ``csrc/dispatch/table_types.hpp``."""
    kernels: list[str] = []
    plans: list[str] = []
    # Only a table with results from devices can give their code.
    unused = {HARDWARE} - {code for data in tables.values() for code in data["refusals"]}
    refusals = sorted(REFUSAL_TEXT.keys() - unused)
    nodes: list[int] = []
    archs: list[str] = []
    for arch, data in sorted(tables.items()):
        first_kernel, first_plan, first_node = len(kernels), len(plans), len(nodes)
        numbers: dict[int, int] = {}
        for index, row in enumerate(data["kernels"]):
            if row["shipped"]:
                numbers[index] = first_kernel + len(numbers)
                kernels.append(_kernel_row(len(archs), row))
        plan_numbers: dict[int, int] = {}
        for number, plan in enumerate(data["plans"]):
            if plan["kernel"] in numbers:
                plan_numbers[number] = first_plan + len(plan_numbers)
                plans.append(f"{{{numbers[plan['kernel']]}, {int(plan['single'])}}}")
        diagram = data["catalogs"]["shipped"]
        leaves = leaf_places(diagram["root"], diagram["nodes"])
        for place, entry in enumerate(diagram["nodes"]):
            if place not in leaves:
                nodes.append(entry + first_node)
            elif entry < REFUSAL:
                nodes.append(plan_numbers[entry])
            else:
                nodes.append(REFUSAL + refusals.index(data["refusals"][entry - REFUSAL]))
        device = data["device"]
        archs.append(
            f'{{"{arch}", {device["mach"]:#x}, Fp8::{device["fp8"]}, {diagram["root"] + first_node}, {{{_bytes(digests[arch])}}}}}'
        )
    parts = [
        "// Generated from hsa/ by build_tools; never edited.",
        "#pragma once",
        '#include "table_types.hpp"',
        "namespace amla::table {",
        _array("KernelRow", "kKernels", kernels),
        _array("PlanRow", "kPlans", plans),
        _array("const char*", "kRefusals", [f'"{code}"' for code in refusals]),
        _array("Node", "kNodes", [str(entry) for entry in nodes], 20),
        _array("ArchRow", "kArchs", archs),
        "}  // namespace amla::table",
    ]
    return "\n".join(parts) + "\n"


def leaf_places(root: int, nodes: list[int]) -> set[int]:
    """Places of the entries that are answers, found by walking the diagram level by level."""
    level = {root}
    for _, width in AXES[:-1]:
        level = {nodes[place + value] for place in level for value in range(width)}
    return {place + value for place in level for value in range(AXES[-1][1])}


def _kernel_row(arch: int, row: Mapping[str, Any]) -> str:
    claim = row["claim"] or {"heads": 0, "tokens": 0}
    values = (
        f'"{row["file"]}"',
        f'"{row["symbol"]}"',
        f"{{{_bytes(row['sha256'])}}}",
        arch,
        f"Recipe::{row['recipe']}",
        *(row[name] for name in ("kernarg_segment_size", "last_arg_end", "lds_bytes", "max_workgroup", "code_object_version")),
        claim["heads"],
        claim["tokens"],
        row["sub_q"] or 0,
        row["bytes"],
    )
    return f"{{{', '.join(map(str, values))}}}"


def _bytes(digest: str) -> str:
    return ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(digest))


def _array(kind: str, name: str, items: list[str], per_line: int = 1) -> str:
    lines = [", ".join(items[start : start + per_line]) for start in range(0, len(items), per_line)]
    return f"inline constexpr {kind} {name}[] = {{\n  " + ",\n  ".join(lines) + "\n};"
