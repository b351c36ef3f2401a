"""The record of a smoke run: one JSON file, written whole each time and again before and after each launch.

A GPU memory fault ends the process, so a request is in the file as ``unfinished`` before it is launched: whatever happens then, the
file says which request it was. Written to a new file only; one that exists is never replaced.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from .. import build_info, table
from ..errors import RecordUnwritable
from . import Outcome, Place

SCHEMA: Final = 1
KIND: Final = "aiter-mla-aot smoke record"
LARGEST_TEXT: Final = 1000
_REMEDY: Final = "name a new file in a folder that can be written to"


class Recorder:
    """Writes the record of a run to a new file. Raises ``RecordUnwritable`` before anything ran if it could not be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begun = False
        try:
            path.lstat()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unwritable(path, error) from error
        else:
            raise RecordUnwritable(f"{path} exists", cause="a record is a fact that is not written over", remedy=_REMEDY)
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
            raise RecordUnwritable(f"{path} cannot be written", cause=f"{path.parent} is no folder that can be written to", remedy=_REMEDY)

    def write(self, place: Place, outcomes: Sequence[Outcome]) -> None:
        """Writes what is known up to now. Raises ``RecordUnwritable``."""
        content = (json.dumps(to_json(place, outcomes), indent=1) + "\n").encode()
        # A name of its own length: the record's may be as long as a name can be.
        scratch = self._path.with_name(f".smoke-record.{os.getpid()}.tmp")
        begins = not self._begun
        try:
            if begins:
                # Takes the name, so that of two runs at once the second one stops here.
                self._path.open("xb").close()
                self._begun = True
            with scratch.open("wb") as file:
                file.write(content)
                file.flush()
                # The machine may go down with the launch that follows.
                os.fsync(file.fileno())
            os.replace(scratch, self._path)
        except OSError as error:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)
                if begins and self._begun:
                    self._path.unlink()
            raise _unwritable(self._path, error) from error


def _unwritable(path: Path, error: OSError) -> RecordUnwritable:
    return RecordUnwritable(f"{path} cannot be written", cause=error.strerror or str(error), remedy=_REMEDY)


def to_json(place: Place, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The record as JSON values. Raises what reading ``build_info.json`` and the tables raises."""
    info = build_info.load()
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "tier": place.tier,
        "device": {"name": place.name, "arch": place.arch, "target_id": place.target_id, "compute_units": place.compute_units},
        "rocm": place.hip_version,
        "package": {"version": info["version"], "table_sha256": table.index()[place.arch], "lock_sha256": info["lock_sha256"]},
        "requests": [_request(outcome) for outcome in outcomes],
    }


def _request(outcome: Outcome) -> dict[str, Any]:
    plan = outcome.plan
    facts = outcome.to_json()
    return {
        "problem": outcome.problem.to_json(),
        "kv_lens": list(outcome.lengths),
        "forced": outcome.forced,
        "kernel": plan and {"file": plan.kernel.file, "sha256": plan.kernel.sha256, "bytes": plan.kernel.info["bytes"]},
        "fold": plan and plan.to_json()["fold"],
        "outcome": outcome.outcome,
        "launched": outcome.launched,
        "error": facts["error"],
        "bound": facts["bound"],
        "text": _printable(outcome.text),
    }


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)[:LARGEST_TEXT]
