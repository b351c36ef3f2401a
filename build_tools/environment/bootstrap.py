"""Makes the private environment ``.env/`` from the hash-locked files under ``requirements/``.

Runs on a bare interpreter: standard library only. The environment is keyed by the content of its lock files, so a second call
does no work. Creation is guarded by a file lock; a marker is written last, so an interrupted creation is seen and redone.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from build_tools.environment import pip_settings
from build_tools.environment.pip_run import report_os_errors, run_pip
from build_tools.errors import VenvModuleMissing

Report = Callable[[str], None]
"""Receives one line of progress."""

DIRECTORY: Final = ".env"
LOCKS: Final = {"build": ("build.txt",), "test": ("test.txt", "torch.txt")}
"""Requirement files of each set; ``test`` is installed on top of ``build``."""

_UNHASHED: Final = frozenset({"torch.txt"})
_RECIPE: Final = 1


def python_of(root: Path) -> Path:
    """The interpreter of the private environment of a source tree."""
    return root / DIRECTORY / "bin" / "python"


def ensure(root: Path, name: str, report: Report) -> Path:
    """Make or repair the set ``name`` (``build`` or ``test``) and return its interpreter.

    Raises ``BootstrapFailed`` and its kinds. Safe against other processes that do the same.
    """
    wanted = ("build", "test") if name == "test" else ("build",)
    keys = {part: key(root, part) for part in wanted}
    env = root / DIRECTORY
    if all(_installed(env, part) == keys[part] for part in wanted):
        return python_of(root)
    with report_os_errors(env):
        env.mkdir(exist_ok=True)
        with _locked(env, report):
            if (env / "installing").exists() or any(_installed(env, part) not in (None, keys[part]) for part in wanted):
                report("removing an outdated or interrupted environment")
                _clear(env)
            for part in wanted:
                if _installed(env, part) != keys[part]:
                    _install(root, env, part, report)
                    _write(env / f"{part}.json", json.dumps({"key": keys[part]}))
    return python_of(root)


def key(root: Path, name: str) -> str:
    """Hash of everything that decides what a set holds: lock files, interpreter, place and the way it is made."""
    digest = hashlib.sha256(f"{_RECIPE}\0{sys.version}\0{platform.machine()}\0{root.resolve() / DIRECTORY}\0".encode())
    for file in LOCKS[name]:
        digest.update((root / "requirements" / file).read_bytes())
    return digest.hexdigest()


def pinned(lock: str, package: str) -> str:
    """The lines of one package of a hash-locked requirements file."""
    lines = lock.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{package}=="))
    end = next((number for number in range(start + 1, len(lines)) if not lines[number].startswith(" ")), len(lines))
    return "\n".join(lines[start:end]) + "\n"


def _install(root: Path, env: Path, part: str, report: Report) -> None:
    python = str(python_of(root))
    _write(env / "installing", part)
    if part == "build":
        _create_venv(env, report)
    environment = pip_settings.environment(python)
    if part == "build":
        # The pip that comes with the interpreter installs the pinned one, and that one everything else.
        lock = (root / "requirements" / "build.txt").read_text(encoding="utf-8")
        with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=env, encoding="utf-8") as only_pip:
            only_pip.write(pinned(lock, "pip"))
            only_pip.flush()
            run_pip(python, ["install", "--require-hashes", "--only-binary=:all:", "-r", only_pip.name], environment, report)
    for file in LOCKS[part]:
        hashed = [] if file in _UNHASHED else ["--require-hashes"]
        report(f"installing requirements/{file}")
        path = str(root / "requirements" / file)
        run_pip(python, ["install", *hashed, "--only-binary=:all:", "-r", path], environment, report)
    (env / "installing").unlink()


def _create_venv(env: Path, report: Report) -> None:
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise _no_venv(f"the interpreter {sys.executable} has no module {module}")
    report(f"creating {env} with Python {platform.python_version()}")
    done = subprocess.run([sys.executable, "-I", "-m", "venv", str(env)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _no_venv(f"venv could not make {env}: {(done.stdout + done.stderr).strip()}")


def _no_venv(cause: str) -> VenvModuleMissing:
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    return VenvModuleMissing(
        "no virtual environment can be made",
        cause=cause,
        remedy=f"Debian and Ubuntu ship it apart: `apt-get install {package}`; or use an interpreter that has venv and ensurepip",
    )


def _installed(env: Path, part: str) -> str | None:
    try:
        data = json.loads((env / f"{part}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(data.get("key")) if isinstance(data, dict) and (env / "bin" / "python").exists() else None


def _clear(env: Path) -> None:
    for path in env.iterdir():
        if path.name == "lock":
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


@contextmanager
def _locked(env: Path, report: Report) -> Iterator[None]:
    with (env / "lock").open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("another process is making the environment: waiting")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
