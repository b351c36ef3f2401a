"""Which HIP library serves, or would serve, this process. Never loads one beside another."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from .. import device
from ..errors import MlaError
from .check import NOTE, OK, WARNING, Check
from .machine import ROOT

VARIABLE: Final = "AITER_MLA_AOT_HIP_LIBRARY"
PATTERN: Final = "libamdhip64*.so*"
SYSTEM: Final = ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/local/lib", "usr/lib")


def torch() -> Check:
    """The torch that an import would find, read from its files: importing it takes seconds."""
    directory = torch_directory()
    if directory is None:
        return Check("torch", NOTE, "not installed; only launching needs it", {"version": None, "hip": None})
    values = _assignments(directory / "version.py")
    version, hip = values.get("__version__"), values.get("hip")
    facts = {"version": version, "hip": hip, "path": str(directory)}
    if not hip:
        return Check("torch", NOTE, f"{version or 'of unknown version'} at {directory}: built without ROCm", facts)
    return Check("torch", OK, f"{version} with HIP {hip} at {directory}", facts)


def torch_directory() -> Path | None:
    """The directory of the torch that an import would find."""
    try:
        spec = importlib.util.find_spec("torch")
    except ValueError:
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _assignments(path: Path) -> dict[str, str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found = {}
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
        value = node.value if isinstance(node, (ast.AnnAssign, ast.Assign)) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            found[target.id] = value.value
    return found


def library(variables: Mapping[str, str] | None = None, root: Path = ROOT, maps: Path = Path("/proc/self/maps")) -> Check:
    """The HIP library in use, or the ones that lie on this machine."""
    values = os.environ if variables is None else variables
    present = [str(path) for path in candidates(values, root)]
    facts: dict[str, Any] = {"loaded": loaded(maps), "present": present, "named": values.get(VARIABLE)}
    if not facts["loaded"] and not facts["named"]:
        if not present:
            return Check("hip", NOTE, "no HIP library in this process or on this machine; resolve, explain and verify need none", facts)
        return Check("hip", NOTE, f"none in this process; a program that imports torch uses torch's own; found {', '.join(present)}", facts)
    try:
        runtime = device.open_hip()
        facts |= {"path": runtime.path, "how": runtime.how, "copies": runtime.copies, "emulated": runtime.emulated}
        infos = [device.device_info(number) for number in range(device.device_count())]
    except MlaError as error:
        return Check("hip", WARNING, f"{error.code}: {error.fact} ({error.cause})", facts | {"error": error.to_json()})
    facts["devices"] = [{name: getattr(info, name) for name in info.__slots__} for info in infos]
    shown = ", ".join(f"{info.target_id} with {info.compute_units} CUs, HIP {info.hip_version}" for info in infos) or "no device"
    text = f"{'EMULATED, ' if runtime.emulated else ''}{runtime.path} ({runtime.how}): {shown}"
    if runtime.copies > 1:
        return Check("hip", WARNING, f"{text}; {runtime.copies} HIP libraries are loaded, which share neither streams nor memory", facts)
    return Check("hip", NOTE if runtime.emulated or not infos else OK, text, facts)


def loaded(maps: Path = Path("/proc/self/maps")) -> list[str]:
    """Files named like HIP that this process has mapped."""
    try:
        lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    return sorted(path for path in paths if Path(path).name.startswith("libamdhip64"))


def candidates(variables: Mapping[str, str], root: Path = ROOT) -> Iterator[Path]:
    """HIP libraries in the usual places, each file once."""
    seen = set()
    for directory in _directories(variables, root):
        for path in sorted(directory.glob(PATTERN)):
            real = path.resolve()
            if real not in seen:
                seen.add(real)
                yield path


def _directories(variables: Mapping[str, str], root: Path) -> Iterator[Path]:
    own = torch_directory()
    if own is not None:
        yield own / "lib"
    for entry in sys.path:
        yield from sorted(Path(entry or ".").glob("_rocm_sdk*/lib"))
    for part in variables.get("LD_LIBRARY_PATH", "").split(":"):
        if part:
            yield Path(part)
    for name in ("ROCM_PATH", "HIP_PATH"):
        if variables.get(name):
            yield Path(variables[name]) / "lib"
    yield from sorted((root / "opt").glob("rocm*/lib"))
    for place in SYSTEM:
        yield root / place
