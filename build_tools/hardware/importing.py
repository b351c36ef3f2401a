"""Imports a record: its results become rows of ``hsa/<arch>/hardware.toml``, and the rows say what becomes of gates."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from build_tools.data import catalog, hardware
from build_tools.data.hardware import HardwareResult
from build_tools.dispatch_table import proofs
from build_tools.dispatch_table.hardware import Verdict, key, verdicts
from build_tools.environment.pip_run import report_os_errors
from build_tools.errors import HardwareReportContradicts, HardwareReportUnknownObject
from build_tools.hardware.record import Record, Request
from build_tools.providers.aiter import write


@dataclass(frozen=True, slots=True)
class Imported:
    """One row of the record, whether it was new, and what all results of its kernel and problem come to now."""

    row: HardwareResult
    new: bool
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "request": self.row.request,
            "file": self.row.file,
            "sha256": self.row.sha256,
            "problem": dict(self.row.problem),
            "outcome": self.row.outcome,
            "new": self.new,
            "effect": self.verdict.effect,
            "gates": [rule.gate for rule in self.verdict.rules],
            "why": self.verdict.why,
        }


def import_record(hsa: Path, record: Record) -> tuple[Imported, ...]:
    """Adds the results of a record that are not there yet; the file is written whole or not at all, one import at a time.

    Raises ``HardwareReportError`` kinds, ``DataError`` and ``ProveError`` kinds for what is wrong under ``hsa``, and ``NotWritable``.
    """
    if record.arch not in catalog.archs(hsa):
        raise HardwareReportUnknownObject(
            f"the record is of a device of {record.arch}",
            cause=f"{hsa} has data of {', '.join(catalog.archs(hsa))}",
            remedy="import it where the arch has a folder of data",
        )
    with _alone(hsa / record.arch):
        data = catalog.load(hsa, record.arch)
        rows = [_row(record, request, data) for request in record.requests]
        known = {(row.record, row.request) for row in data.hardware}
        fresh = [row for row in rows if (row.record, row.request) not in known]
        merged = replace(data, hardware=tuple(sorted((*data.hardware, *fresh), key=lambda row: row.place)))
        found = verdicts(merged, proofs.load(hsa, merged))
        if fresh:
            path = hardware.path_of(hsa, record.arch)
            with report_os_errors(path.parent):
                write(path, hardware.text_of(record.arch, merged.hardware).encode())
    return tuple(Imported(row, row in fresh, found[key(row)]) for row in rows)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Waits until no other import works on the folder; the lock is on the folder itself and leaves no file."""
    with report_os_errors(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with report_os_errors(folder):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _row(record: Record, request: Request, data: catalog.ArchCatalog) -> HardwareResult:
    same = [row for row in data.kernels if row.sha256 == request.sha256]
    if not same:
        raise HardwareReportUnknownObject(
            f"request {request.number}: no object {request.sha256} is catalogued",
            cause=f"hsa/{data.arch}/kernels.toml has no row of these bytes, whatever {request.file} is called",
            remedy="add the object's row first, if it is a published one",
        )
    if (same[0].file, same[0].bytes) != (request.file, request.bytes):
        raise HardwareReportContradicts(
            f"request {request.number}: {request.file} of {request.bytes} bytes has the hash {request.sha256}",
            cause=f"the catalog knows these bytes as {same[0].file} of {same[0].bytes} bytes",
            remedy="give a file as `aiter-mla-aot smoke --record` wrote it",
        )
    return HardwareResult(
        sha256=request.sha256,
        file=request.file,
        outcome=request.outcome,
        device=record.device,
        target_id=record.target_id,
        compute_units=record.compute_units,
        rocm=record.rocm,
        package=record.package,
        date=record.date,
        record=record.sha256,
        request=request.number,
        forced=request.forced,
        bound=request.bound,
        kv_lens=request.kv_lens,
        problem=request.problem.to_json(),
        error=request.error,
        text=request.text,
    )
