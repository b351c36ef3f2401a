"""Which source files of this repository a module is made of: the inputs of a step besides its data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_OURS: Final = ("aiter_mla_aot", "build_tools")


def sources(root: Path, module: str) -> tuple[str, ...]:
    """Paths, relative to ``root``, of a module and of everything of ours that it imports, directly or not; sorted."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _path(root, name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting += _imported(name, path)
    return tuple(sorted(path.relative_to(root).as_posix() for path in found.values()))


def _path(root: Path, module: str) -> Path | None:
    if module.partition(".")[0] not in _OURS:
        return None
    path = root.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _imported(module: str, path: Path) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            target = ".".join(part for part in (base, node.module or "") if part)
            yield target
            # `from package import name` may name a module; a name that is none has no file and is left out.
            yield from (f"{target}.{alias.name}" for alias in node.names)
