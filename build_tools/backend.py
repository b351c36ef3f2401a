"""PEP 517 backend: setuptools' own, with this build's settings, clock and file modes.

``prepare_metadata_for_build_wheel`` is left out on purpose: the metadata names files that only the build graph brings, so
frontends take it from the wheel itself.

setuptools and the build graph are imported inside the hooks: an interpreter older than 3.11 can import this module, and there
hands the build to a newer one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NoReturn

_ROOT: Final = Path(__file__).resolve().parent.parent
_NEWEST: Final = 20


def get_requires_for_build_wheel(config_settings: Mapping[str, object] | None = None) -> list[str]:
    """Nothing besides ``[build-system] requires``."""
    return []


def get_requires_for_build_sdist(config_settings: Mapping[str, object] | None = None) -> list[str]:
    """Nothing besides ``[build-system] requires``."""
    return []


def build_wheel(wheel_directory: str, config_settings: Mapping[str, object] | None = None, metadata_directory: str | None = None) -> str:
    """Build the wheel into a folder and return its file name."""
    _prepare(config_settings)
    if sys.version_info < (3, 11):
        return _delegate(wheel_directory)
    from setuptools import build_meta

    return _run(lambda: build_meta.build_wheel(wheel_directory))


def build_sdist(sdist_directory: str, config_settings: Mapping[str, object] | None = None) -> str:
    """Build the source distribution into a folder and return its file name. Settings of the wheel do not concern it."""
    _prepare(config_settings, sdist=True)
    if sys.version_info < (3, 11):
        _stop("MLA561: a source distribution is made with Python 3.11 or newer", 17)
    from setuptools import build_meta

    return _run(lambda: build_meta.build_sdist(sdist_directory))


def _run(hook: Callable[[], str]) -> str:
    from aiter_mla_aot.errors import MlaError

    try:
        return hook()
    except MlaError as error:
        _stop(str(error), error.exit_code)


def _prepare(config_settings: Mapping[str, object] | None, *, sdist: bool = False) -> None:
    from build_tools import settings
    from build_tools.errors import BuildError

    try:
        chosen = settings.read(_ROOT / "hsa", {} if sdist else os.environ, None if sdist else config_settings)
    except BuildError as error:
        _stop(str(error), error.exit_code)
    os.environ.update(chosen.environment())
    os.umask(0o022)
    os.chdir(_ROOT)


def _delegate(wheel_directory: str) -> str:
    """Build with a newer interpreter and the private environment, which give the same bytes."""
    python = os.environ.get("AITER_MLA_AOT_PYTHON") or next(_newer_interpreters(), None)
    if python is None:
        _stop(
            "MLA561: no Python is new enough to build the wheel\n"
            f"  cause: this is Python {sys.version_info[0]}.{sys.version_info[1]}, and no python3.11 or newer is on PATH\n"
            "  remedy: install one, or name one in AITER_MLA_AOT_PYTHON",
            17,
        )
    command = [python, "-m", "build_tools", "wheel", "--build-only", "--json", "--output", str(Path(wheel_directory).absolute())]
    done = subprocess.run(command, cwd=_ROOT, env=_without_build_environment(), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        _stop(done.stdout, done.returncode)
    return Path(json.loads(done.stdout)["wheel"]).name


def _newer_interpreters() -> Iterator[str]:
    for minor in range(11, _NEWEST):
        path = shutil.which(f"python3.{minor}")
        # A version manager's stand-in may be on PATH for a version that is not active.
        if path and subprocess.run([path, "-c", ""], env=_without_build_environment(), capture_output=True, check=False).returncode == 0:
            yield path


def _without_build_environment() -> dict[str, str]:
    """The environment without the frontend's packages, which are those of this interpreter."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}


def _stop(message: str, exit_code: int) -> NoReturn:
    """End the hook: a frontend shows what it printed."""
    sys.stderr.write(f"{message}\n")
    raise SystemExit(exit_code)
