"""Compiled parts that source trees share: a folder that ``AITER_MLA_AOT_PARTS`` names, keyed by all that decides a part's bytes.

Only what does not depend on the choice of archs is kept there, which is what takes minutes. Without the variable every tree compiles.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from build_tools.environment.pip_run import report_os_errors
from build_tools.providers.aiter import write

VARIABLE: Final = "AITER_MLA_AOT_PARTS"


def store() -> Path | None:
    """The folder, if there is one."""
    value = os.environ.get(VARIABLE, "")
    return Path(value) if value else None


def keep(folder: Path, key: str, root: Path, outputs: Sequence[str]) -> None:
    """Store the outputs of a step. The hashes are written last: without them nothing is restored.

    Raises ``NotWritable``.
    """
    place = folder / key
    hashes = []
    with report_os_errors(folder):
        place.mkdir(parents=True, exist_ok=True)
        for number, output in enumerate(outputs):
            data = (root / output).read_bytes()
            write(place / str(number), data)
            hashes.append(hashlib.sha256(data).hexdigest())
        write(place / "hashes.json", json.dumps(hashes).encode())


def restore(folder: Path, key: str, root: Path, outputs: Sequence[str]) -> bool:
    """Bring a step's outputs from the folder; whether it holds them, undamaged."""
    place = folder / key
    try:
        hashes = json.loads((place / "hashes.json").read_bytes())
        found = [(place / str(number)).read_bytes() for number in range(len(outputs))]
    except (OSError, ValueError):
        return False
    if hashes != [hashlib.sha256(data).hexdigest() for data in found]:
        return False
    for output, data in zip(outputs, found, strict=True):
        write(root / output, data)
    return True
