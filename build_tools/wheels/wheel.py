"""Builds the wheel by its PEP 517 backend, in the private environment."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from build_tools.build_graph import pipeline
from build_tools.environment import pip_settings
from build_tools.environment.pip_run import report_os_errors, run_pip
from build_tools.settings import Settings


def build(root: Path, settings: Settings, output: Path, report: Callable[[str], None]) -> Path:
    """Build the wheel into ``output`` and return its path; it appears whole or not at all.

    The graph runs first, for its progress and typed errors; the backend then finds nothing left to do. Needs an interpreter
    with the packages of requirements/build.txt. Raises ``BuildError`` kinds.
    """
    pipeline.build(root, settings, report)
    report("packing the wheel")
    with report_os_errors(output):
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".wheel-", dir=output) as scratch:
            environment = pip_settings.environment(sys.executable) | settings.environment()
            options = ["--no-deps", "--no-build-isolation", "--check-build-dependencies", "--wheel-dir", scratch]
            run_pip(sys.executable, ["wheel", *options, str(root)], environment, report)
            (wheel,) = Path(scratch).glob("*.whl")
            os.replace(wheel, output / wheel.name)
    return output / wheel.name
