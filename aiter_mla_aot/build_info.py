"""What this installation was built from: ``build_info.json``, written by the build."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from . import files
from .errors import PackageFileDamaged

PATH: Final = Path(__file__).parent / "build_info.json"
SCHEMA: Final = 1
_ARCH: Final = re.compile(r"gfx[0-9a-f]{3,5}")
_TEXTS: Final = {
    "version": re.compile(r"[0-9a-z.+]+"),
    "source_date": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"),
    "lock_sha256": re.compile(r"[0-9a-f]{64}"),
    "provider name": re.compile(r"[A-Za-z0-9._-]+"),
    "provider version": re.compile(r"[A-Za-z0-9.+_-]*"),
    "provider sha256": re.compile(r"([0-9a-f]{64})?"),
}


def load(path: Path = PATH) -> dict[str, Any]:
    """Version, archs, source date, provider and lock hash. Raises ``PackageFileMissing`` or ``PackageFileDamaged``."""
    try:
        values = json.loads(files.read(path))
    except (ValueError, RecursionError) as error:
        raise PackageFileDamaged(f"{path} is not JSON", cause=str(error), remedy=files.REINSTALL) from error
    wrong = fault(values) if isinstance(values, dict) else ("a JSON object", type(values).__name__)
    if wrong or not isinstance(values, dict):
        cause = f"expected {wrong[0]}, found {wrong[1]}" if wrong else ""
        raise PackageFileDamaged(f"{path} is not a build record of schema {SCHEMA}", cause=cause, remedy=files.REINSTALL)
    return values


def fault(info: Mapping[str, Any]) -> tuple[str, str] | None:
    """(expected, found) for the first field of a decoded ``build_info.json`` that this package cannot use."""
    if info.get("schema") != SCHEMA or isinstance(info["schema"], bool):
        return f"schema {SCHEMA}", f"schema {info.get('schema')!r}"
    for name in ("archs", "known_archs"):
        archs = info.get(name)
        if not isinstance(archs, list) or not archs or archs != sorted(set(map(str, archs))) or not all(map(_ARCH.fullmatch, archs)):
            return f"{name}: a sorted list of gfx names", repr(archs)
    if not set(info["archs"]) <= set(info["known_archs"]):
        return "archs among known_archs", repr(info["archs"])
    provider = info.get("provider")
    values = dict(info) | {f"provider {name}": value for name, value in (provider.items() if isinstance(provider, dict) else ())}
    for name, pattern in _TEXTS.items():
        if not isinstance(values.get(name), str) or not pattern.fullmatch(values[name]):
            return f"{name}: a text like {pattern.pattern}", repr(values.get(name))
    return None
