"""What this installation was built from: ``build_info.json``, written by the build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from .errors import PackageFileDamaged, PackageFileMissing

PATH: Final = Path(__file__).parent / "build_info.json"
_REINSTALL: Final = "install the wheel again"


def load(path: Path = PATH) -> dict[str, Any]:
    """Version, archs, source date, provider and lock hash. Raises ``PackageFileMissing`` or ``PackageFileDamaged``."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PackageFileMissing(f"{path} is missing", cause="the package is not complete", remedy=_REINSTALL) from error
    except (OSError, ValueError) as error:
        raise PackageFileDamaged(f"{path} cannot be read", cause=str(error), remedy=_REINSTALL) from error
    if not isinstance(values, dict) or values.get("schema") != 1 or not isinstance(values.get("version"), str):
        raise PackageFileDamaged(f"{path} is not a build record of schema 1", cause="its content is of another form", remedy=_REINSTALL)
    return values
