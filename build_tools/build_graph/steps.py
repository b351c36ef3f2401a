"""What each step of the build graph does; and running one, unless its inputs are those of its last run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from build_tools import code_object
from build_tools.build_graph import emulator_build, extension, parts
from build_tools.build_graph.emulator_build import EmulatorCompileFailed
from build_tools.build_graph.graph import Step
from build_tools.build_graph.layout import SHARED_STAMPS, ZIG_CACHE
from build_tools.data import catalog
from build_tools.dispatch_table import table
from build_tools.errors import BuildError, ExtensionCompileFailed
from build_tools.providers.aiter import fetch, write

Report = Callable[[str], None]

_STEERING: Final = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "CCC_OVERRIDE_OPTIONS", "ZIG_LIB_DIR")
"""Variables by which a user's environment would change what the compiler makes."""


def run(root: Path, step: Step, stamps: Path, report: Report) -> bool:
    """Run a step unless its key and its outputs are as its stamp says; whether it ran."""
    stamp = _stamp_path(root, step, stamps)
    key = step.key(root)
    if not step.always and _is_current(root, stamp, key, step):
        return False
    for output in step.outputs:
        (root / output).parent.mkdir(parents=True, exist_ok=True)
    store = parts.store() if step.shared else None
    if store is None or not parts.restore(store, key, root, step.outputs):
        STEPS[step.kind](root, step, report)
        if store is not None:
            parts.keep(store, key, root, step.outputs)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    hashes = {output: _hash(root / output) for output in step.outputs}
    write(stamp, json.dumps({"key": key, "outputs": hashes}).encode())
    return True


def drop_damaged(root: Path, graph: Sequence[Step], stamps: Path) -> None:
    """Delete every output that is not what its step made: ninja goes by times, and would take it for current."""
    for step in graph:
        made = _stamp(_stamp_path(root, step, stamps)).get("outputs", {})
        for output in step.outputs:
            path = root / output
            if output in made and path.is_file() and _hash(path) != made[output]:
                path.unlink()


def zig_environment(root: Path) -> dict[str, str]:
    """The environment of the compiler: its cache is below ``build/``, and nothing of the user's steers it."""
    cache = str(root / ZIG_CACHE)
    kept = {name: value for name, value in os.environ.items() if name not in _STEERING}
    return kept | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache, "LC_ALL": "C"}


def _fetch(root: Path, step: Step, report: Report) -> None:
    values = step.parameters
    source = Path(values["source"]) if values["source"] else None
    fetch(root / "hsa", values["archs"], source, root / values["cache"], root / values["out"], report)


def _compare(root: Path, step: Step, _: Report) -> None:
    arch = step.parameters["arch"]
    data = catalog.load(root / "hsa", arch)
    seen = {}
    for item in data.lock.objects:
        found = code_object.read_file(root / step.parameters["objects"] / arch / item.file)
        code_object.check_arch(found, arch)
        code_object.compare(data.row(item.sha256), found)
        seen[item.file] = found.sha256
    write(root / step.outputs[0], json.dumps(seen, indent=1, sort_keys=True).encode())


def _table(root: Path, step: Step, _: Report) -> None:
    values = step.parameters
    table.write_outputs(root / "hsa", values["archs"], root / values["out"], allow_unproven=values["allow_unproven"])


def _compile(root: Path, step: Step, _: Report) -> None:
    command = extension.compile_command(
        _zig(), root / step.parameters["source"], root / step.parameters["generated"], root / step.outputs[0]
    )
    _compiler(root, command, ExtensionCompileFailed, "dispatch extension")


def _link(root: Path, step: Step, _: Report) -> None:
    command = extension.link_command(_zig(), [root / path for path in step.parameters["objects"]], root / step.outputs[0])
    _compiler(root, command, ExtensionCompileFailed, "dispatch extension")


def _compile_emulator(root: Path, step: Step, _: Report) -> None:
    folder = root / step.parameters["folder"]
    for unit, output in zip(emulator_build.units_of(root / step.parameters["source"]), step.outputs, strict=True):
        _compiler(root, emulator_build.compile_command(_zig(), unit, root / output, folder), EmulatorCompileFailed, "emulator")


def _link_emulator(root: Path, step: Step, _: Report) -> None:
    objects = [root / path for path in step.parameters["objects"]]
    _compiler(root, emulator_build.link_command(_zig(), objects, root / step.outputs[0]), EmulatorCompileFailed, "emulator")


def _stage(root: Path, step: Step, _: Report) -> None:
    stage = root / step.parameters["stage"]
    files: Mapping[str, str] = step.parameters["files"]
    wanted = {stage / target for target in files.values()} | {stage / "build_info.json"}
    for source, target in files.items():
        (stage / target).parent.mkdir(parents=True, exist_ok=True)
        write(stage / target, (root / source).read_bytes())
    write(stage / "build_info.json", step.parameters["build_info"].encode())
    for path in sorted(stage.rglob("*"), reverse=True):
        if path.is_dir() and path.name == "__pycache__":
            shutil.rmtree(path)
        elif path.is_file() and path not in wanted and "__pycache__" not in path.parts:
            path.unlink()


STEPS: Final[dict[str, Callable[[Path, Step, Report], None]]] = {
    "fetch": _fetch,
    "compare": _compare,
    "table": _table,
    "compile": _compile,
    "link": _link,
    "compile-emulator": _compile_emulator,
    "link-emulator": _link_emulator,
    "stage": _stage,
}


def _zig() -> list[str]:
    return [sys.executable, "-m", "ziglang"]


def _compiler(root: Path, command: list[str], failure: type[BuildError], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=zig_environment(root), cwd=root, check=False)
    if done.returncode != 0:
        raise failure(
            f"the {what} did not compile (exit code {done.returncode})",
            cause=f"{done.stderr.strip()}\ncommand: {' '.join(command)}",
            remedy="read the compiler's message above",
        )


def _stamp_path(root: Path, step: Step, stamps: Path) -> Path:
    return (root / SHARED_STAMPS if step.shared else stamps) / f"{step.name}.json"


def _is_current(root: Path, stamp: Path, key: str, step: Step) -> bool:
    data = _stamp(stamp)
    if data.get("key") != key:
        return False
    return all((root / output).is_file() and _hash(root / output) == data["outputs"].get(output) for output in step.outputs)


def _stamp(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) and isinstance(data.get("outputs"), dict) else {}


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
