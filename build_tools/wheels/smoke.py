"""Tries a wheel where it has nothing to lean on: a new environment, read-only, no compiler on PATH, no HOME."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from build_tools.environment import pip_settings
from build_tools.environment.pip_run import run_pip
from build_tools.errors import SmokeFailed

REQUEST: Final = ("--heads", "16", "--q-dtype", "bf16", "--kv-dtype", "bf16", "--q-len", "1", "--page-size", "1")
"""Served on every arch by every wheel."""


class Installation:
    """A new virtual environment that holds the wheel and nothing else, not even pip."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.command = folder / "bin" / "aiter-mla-aot"

    def environment(self) -> dict[str, str]:
        """What a command sees: its own ``bin`` on PATH, nothing of the user's."""
        return {"PATH": str(self.folder / "bin"), "LC_ALL": "C.UTF-8"}

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the installed command."""
        # Through the interpreter: the script's first line cannot name an interpreter whose path has a space.
        command = [str(self.python), "-I", "-B", "-m", "aiter_mla_aot", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, env=self.environment(), cwd="/", check=False)


def install(wheel: Path, folder: Path, report: Callable[[str], None]) -> Installation:
    """Make the environment, install the wheel without an index, and take every write permission away from the package."""
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-I", "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True)
    result = Installation(folder)
    # Said before the command, --python makes this pip work for the other environment.
    arguments = ["install", "--no-index", "--no-deps", "--quiet", str(wheel)]
    environment = pip_settings.environment(sys.executable) | {"PIP_PYTHON": str(result.python)}
    run_pip(sys.executable, arguments, environment, report)
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    return result


def smoke(wheel: Path, archs: Sequence[str], scratch: Path, report: Callable[[str], None]) -> dict[str, Any]:
    """Install the wheel, ask it everything that needs no GPU, and run requests on the emulator of each arch.

    Returns the answers by command; raises ``SmokeFailed``.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="smoke-", dir=scratch) as folder:
        installed = install(wheel, Path(folder, "env"), report)
        answers = {}
        problem = {"mode": "persistent", "q_dtype": "bf16", "kv_dtype": "bf16", "heads": 16, "q_len": 1, "page_size": 1}
        lines = "".join(json.dumps({"arch": arch} | problem) + "\n" for arch in archs)
        Path(folder, "problems.jsonl").write_text(lines, encoding="utf-8")
        requests = [["explain", "--arch", arch, *REQUEST] for arch in archs]
        requests += [["resolve", "--batch", str(Path(folder, "problems.jsonl"))], ["coverage"], ["kernels"], ["verify"], ["doctor"]]
        requests += [["smoke", "--emulate", arch] for arch in archs]
        for request in requests:
            report(f"aiter-mla-aot {' '.join(request[:3])}")
            answers[" ".join(request[:3])] = _answer(installed, [*request, "--json"])
        for arch in archs:
            answer = answers[f"explain --arch {arch}"][-1]
            if answer.get("outcome") != "served":
                raise _failed(["explain", "--arch", arch], json.dumps(answer)[:500])
            ran = answers[f"smoke --emulate {arch}"][-1]
            if (ran.get("tier"), ran.get("arch"), ran.get("ok")) != ("emulator", arch, True):
                raise _failed(["smoke", "--emulate", arch], json.dumps(ran)[:500])
        _restore(Path(folder))
    return answers


def _answer(installed: Installation, arguments: list[str]) -> list[Any]:
    done = installed.run(*arguments)
    if done.returncode != 0:
        raise _failed(arguments, f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-1000:]}")
    try:
        return [json.loads(done.stdout)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError as error:
        raise _failed(arguments, f"the answer is not JSON: {error}") from error


def _failed(arguments: Sequence[str], cause: str) -> SmokeFailed:
    return SmokeFailed(
        f"the installed wheel does not answer `aiter-mla-aot {' '.join(arguments)}`",
        cause=cause,
        remedy="the wheel must not be published; correct what the message names",
    )


def _restore(folder: Path) -> None:
    for path, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o755, follow_symlinks=True)
