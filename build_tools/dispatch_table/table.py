"""The table step: from the data under ``hsa/`` to the files that dispatch reads, one JSON table per arch and one C++ header.

Each arch is closed on its own, so neither the order nor the number of archs changes the bytes of a table.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.rules import Gate
from aiter_mla_aot.table import CATALOGS, INDEX, REFUSAL, SCHEMA
from build_tools.data import catalog
from build_tools.dispatch_table import emit_cpp, hardware, proofs
from build_tools.dispatch_table.closure import Candidate, Closure, Leaf, close
from build_tools.dispatch_table.coverage import check_not_shrunk, counts
from build_tools.errors import ShadowedKey

CODE_OBJECT_VERSION: Final = {1: 3, 2: 4, 3: 5, 4: 6}
"""EI_ABIVERSION of an AMDGPU ELF to the code object version LLVM names it by."""
MINIMUM_ROCM: Final = {6: "6.3"}
"""First ROCm whose loader takes a code object version (ROCR-Runtime#321); older versions load everywhere we support."""


def write_outputs(hsa: Path, archs: Sequence[str], out_dir: Path, *, locks: Path | None = None, allow_unproven: bool = False) -> None:
    """Write ``out_dir/tables/<arch>.json`` for each arch, their index, and ``out_dir/dispatch_table.hpp`` for all.

    locks: a directory of ``<arch>/lock.toml`` other than ``hsa``. allow_unproven: kernels without evidence are served too.
    Raises ``DataError`` and its kinds, and ``ProveError`` kinds for evidence that is damaged or does not cover a claim.
    """
    tables = {}
    for arch in sorted(set(archs)):
        loaded = catalog.load(hsa, arch, locks=locks)
        tables[arch] = table(loaded, proofs.load(hsa, loaded, allow_unproven=allow_unproven))
        check_not_shrunk(hsa / arch / "coverage.toml", arch, tables[arch]["counts"], loaded.provider_sha256)
    texts = {arch: json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n" for arch, data in tables.items()}
    digests = {arch: hashlib.sha256(text.encode()).hexdigest() for arch, text in texts.items()}
    for arch, text in texts.items():
        replace_text(out_dir / "tables" / f"{arch}.json", text)
    replace_text(out_dir / "tables" / INDEX, json.dumps({"schema": SCHEMA, "tables": digests}) + "\n")
    replace_text(out_dir / "dispatch_table.hpp", emit_cpp.header(tables, digests))


def table(data: catalog.ArchCatalog, shown: proofs.Proofs) -> dict[str, Any]:
    """The dispatch table of one arch as JSON values (schema: ``aiter_mla_aot.table``)."""
    shown.check(data)
    shipped, superseded, unproven = data.shipped(), data.superseded(), shown.unproven(data)
    extra = (proofs.gate(data, unproven),) if unproven else ()
    reported = hardware.verdicts(data, shown)
    added, rules = hardware.added_gates(reported), hardware.rules_of(reported)
    gates = {
        row.sha256: (*proofs.gates_of(data, row), *added.get(row.sha256, ()), *(extra if row.sha256 in unproven else ()))
        for row in data.kernels
    }
    lifts = {row.sha256: tuple(rule for rule in rules if rule.kernel == row.sha256 and rule.effect == "lifts") for row in data.kernels}
    folds = {fold.name: fold for fold in data.folds}
    members = {
        "shipped": [row.sha256 in shipped for row in data.kernels],
        "full": [row.sha256 not in superseded for row in data.kernels],
    }
    pairs = frozenset((row.claim.mode, row.claim.q_dtype, row.claim.kv_dtype) for row in data.kernels if row.claim)
    closed: dict[str, Closure] = {}
    for name in CATALOGS:
        candidates = [
            Candidate(index, row.file, row.claim, gates[row.sha256], lifts[row.sha256])
            for index, row in enumerate(data.kernels)
            if row.claim is not None and members[name][index]
        ]
        closed[name] = close(candidates, folds, pairs)
    # A device may take a kernel's last problem away; that is no fault of its claim.
    excused = unproven | added.keys()
    expected = [member and row.sha256 not in excused for row, member in zip(data.kernels, members["full"], strict=True)]
    _refuse_shadowed(data, expected, closed["full"])
    leaves = {entry for result in closed.values() for entry in result.nodes if not isinstance(entry, int)}
    plans = sorted(leaf for leaf in leaves if not isinstance(leaf, str))
    refusals = sorted(leaf for leaf in leaves if isinstance(leaf, str))
    numbers: dict[Leaf, int] = {leaf: number for number, leaf in enumerate(plans)}
    numbers |= {code: REFUSAL + number for number, code in enumerate(refusals)}
    return {
        "schema": SCHEMA,
        "arch": data.arch,
        "device": {"mach": data.device.mach, "lds_bytes": data.device.lds_bytes, "fp8": data.device.fp8},
        "kernels": [_kernel(data, row, shown, gates[row.sha256]) for row in data.kernels],
        "folds": [asdict(fold) for fold in data.folds],
        "gates": [asdict(gate) for gate in (*data.gates, *(gate for one in added.values() for gate in one), *extra)],
        "reports": [_report(report) for report in data.reports],
        "plans": [{"kernel": index, "single": single} for index, single in plans],
        "refusals": refusals,
        "catalogs": {
            name: {"root": result.root, "nodes": [entry if isinstance(entry, int) else numbers[entry] for entry in result.nodes]}
            for name, result in closed.items()
        },
        "counts": {name: counts(result) for name, result in closed.items()},
    } | hardware.to_json(rules)


def _refuse_shadowed(data: catalog.ArchCatalog, member: Sequence[bool], full: Closure) -> None:
    for index, row in enumerate(data.kernels):
        if row.claim is not None and member[index] and index not in full.winners:
            raise ShadowedKey(
                f"hsa/{data.arch}/kernels.toml: {row.file} is never chosen",
                cause="for every problem of its claim it is gated, or another kernel is preferred",
                remedy="remove the claim and say why in `not_served`",
            )


def _kernel(data: catalog.ArchCatalog, row: catalog.KernelRow, shown: proofs.Proofs, gates: Sequence[Gate]) -> dict[str, Any]:
    version = CODE_OBJECT_VERSION.get(row.elf_abiversion)
    proof = shown.of(row)
    values = asdict(row)
    del values["supersedes"]
    return values | {
        "shipped": row.sha256 in data.shipped(),
        "superseded": row.sha256 in data.superseded(),
        "code_object_version": version,
        "minimum_rocm": MINIMUM_ROCM.get(version or 0),
        "gates": [gate.id for gate in gates],
        "preconditions": [item.text for item in data.preconditions if catalog.matches(row.file, item.kernels)]
        + list(shown.preconditions(row)),
        "proof": proof and proof.to_json(),
    }


def _report(report: catalog.Report) -> dict[str, Any]:
    values = asdict(report) | {"seen": report.seen.isoformat()}
    # The sizes decide what lifts a gate, which is done by the time the table is written.
    return {name: value for name, value in values.items() if value is not None and not name.startswith("failed_")}


def replace_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    scratch.write_text(text, encoding="utf-8", newline="\n")
    os.replace(scratch, path)
