"""The build graph: steps with their named inputs and outputs, and the file in which ninja reads them.

Paths are relative to the root of the source tree, so the graph is the same wherever the tree lies.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from build_tools.providers.aiter import write

ALWAYS: Final = "always"
"""Name of the ninja target that is never up to date."""


@dataclass(frozen=True, slots=True)
class Step:
    """One pure function from inputs to outputs. ``kind`` names it, ``parameters`` are its arguments besides files.

    always: is never up to date. shared: belongs to the graph of every choice of archs, with the same outputs.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    always: bool = False
    shared: bool = False

    def declaration(self) -> str:
        """Hash of everything but the content of files."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def key(self, root: Path) -> str:
        """Hash of everything that decides the outputs."""
        digest = hashlib.sha256(self.declaration().encode())
        for path in self.inputs:
            digest.update(hashlib.sha256((root / path).read_bytes()).digest())
        return digest.hexdigest()


def save(steps: Sequence[Step], path: Path) -> None:
    """Write the steps as JSON, for ``load`` in the processes that ninja starts."""
    write(path, (json.dumps([asdict(step) for step in steps], indent=1) + "\n").encode())


def load(path: Path) -> dict[str, Step]:
    """The steps of a graph, by name."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["name"]: Step(**row | {"inputs": tuple(row["inputs"]), "outputs": tuple(row["outputs"])}) for row in rows}


def ninja(steps: Sequence[Step], graph: str, python: str) -> str:
    """The text of ``build.ninja``.

    graph: path of the saved graph. The declaration's hash is part of each command, so that a step whose inputs are fewer than
    before runs again. ``restat`` ends the rebuild where the bytes did not change.
    """
    command = f"{shlex.quote(python)} -m build_tools _step {shlex.quote(graph)} $step $declaration".replace("$ ", "$$ ")
    lines = ["ninja_required_version = 1.10", f"builddir = {_escape(str(Path(graph).parent))}", ""]
    lines += ["rule step", f"  command = {command}", "  description = $step", "  restat = 1", "", f"build {ALWAYS}: phony", ""]
    for step in steps:
        inputs = [*step.inputs, *([ALWAYS] if step.always else [])]
        lines.append(f"build {' '.join(map(_escape, step.outputs))}: step {' '.join(map(_escape, inputs))}")
        lines += [f"  step = {step.name}", f"  declaration = {step.declaration()[:16]}", ""]
    return "\n".join(lines)


def _escape(path: str) -> str:
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")
