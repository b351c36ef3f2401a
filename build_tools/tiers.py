"""The tiers of ``build_tools test``: a table of what is run, and what each needs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from build_tools.build_graph.layout import ZIG_CACHE
from build_tools.environment.system_tools import CLANG, LLVM, STRACE, SystemTool, ensure

CXX_FOLDERS: Final = ("csrc", "tests", "benchmarks")
_CXX_SUFFIXES: Final = (".cpp", ".hpp", ".h", ".hip")


@dataclass(frozen=True, slots=True)
class Tier:
    """One command. ``{bin}``, ``{wheel}`` and ``{cxx}`` (all C++ files) are filled in.

    prints: what its output must be, exactly. tool: a system tool without which it cannot run.
    """

    name: str
    command: tuple[str, ...]
    prints: str | None = None
    tool: SystemTool | None = None


class Outcome(Enum):
    """How a tier ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Ended:
    """A tier that ended. ``why`` says why it failed or did not run."""

    name: str
    outcome: Outcome
    seconds: float = 0.0
    why: str = ""


_PYTEST: Final = ("{bin}/python", "-P", "-m", "pytest", "-q")

TIERS: Final = (
    Tier("ruff check", ("{bin}/ruff", "check", ".")),
    Tier("ruff format", ("{bin}/ruff", "format", "--check", ".")),
    Tier("mypy", ("{bin}/python", "-m", "mypy")),
    Tier("mypy, Python 3.10", ("{bin}/python", "-m", "mypy", "--python-version", "3.10", "aiter_mla_aot")),
    Tier("import rules", ("{bin}/lint-imports", "--cache-dir", "build/import-linter")),
    Tier("clang-format", ("{bin}/clang-format", "--dry-run", "--Werror", "{cxx}")),
    Tier("zizmor", ("{bin}/zizmor", "--offline", "--no-progress", "--strict-collection", "--pedantic", ".github")),
    Tier(
        "cibuildwheel identifiers",
        ("{bin}/python", "-m", "cibuildwheel", "--platform", "linux", "--print-build-identifiers"),
        prints="cp310-manylinux_x86_64\n",
    ),
    Tier("auditwheel", ("{bin}/python", "-m", "auditwheel", "show", "{wheel}")),
    Tier("abi3audit", ("{bin}/abi3audit", "--strict", "--report", "{wheel}")),
    Tier("unit tests", (*_PYTEST, "tests/unit")),
    Tier("integration tests", (*_PYTEST, "-m", "not strace", "tests/integration")),
    Tier("planner tests", (*_PYTEST, "tests/planner")),
    Tier("emulator tests", (*_PYTEST, "-m", "not llvm", "tests/emulator")),
    Tier("prove tests", (*_PYTEST, "tests/prove")),
    Tier("evidence, a sample", ("{bin}/python", "-m", "build_tools", "prove", "--check", "--sample", "3")),
    Tier("decoder against LLVM", (*_PYTEST, "-m", "llvm", "tests/emulator"), tool=LLVM),
    Tier("emulator under sanitizers", (*_PYTEST, "tests/sanitize"), tool=CLANG),
    Tier("system calls", (*_PYTEST, "-m", "strace", "tests/integration"), tool=STRACE),
)


def run(root: Path, tier: Tier, wheel: Path, stage: Path, report: Callable[[str], None]) -> Ended:
    """Run one tier; its output goes where that of this process goes."""
    missing = ensure(tier.tool, report) if tier.tool else None
    if missing:
        return Ended(tier.name, Outcome.NOT_RUN, why=missing)
    report(f"tier: {tier.name}")
    started = time.monotonic()
    output = subprocess.PIPE if tier.prints is not None else None
    command = _fill(root, tier, wheel)
    sys.stdout.flush()
    done = subprocess.run(command, cwd=root, env=_environment(root, wheel, stage), stdout=output, text=True, check=False)
    seconds = time.monotonic() - started
    if done.returncode != 0:
        return Ended(tier.name, Outcome.FAILED, seconds, f"exit code {done.returncode}")
    if tier.prints is not None and done.stdout != tier.prints:
        return Ended(tier.name, Outcome.FAILED, seconds, f"printed {done.stdout!r}, not {tier.prints!r}")
    return Ended(tier.name, Outcome.PASSED, seconds)


def exit_code(ended: list[Ended], ci: bool) -> int:
    """1 if a tier failed, or, on a continuous integration service, did not run."""
    bad = {Outcome.FAILED, Outcome.NOT_RUN} if ci else {Outcome.FAILED}
    return int(any(tier.outcome in bad for tier in ended))


def _fill(root: Path, tier: Tier, wheel: Path) -> list[str]:
    files = [str(path.relative_to(root)) for folder in CXX_FOLDERS for path in (root / folder).rglob("*") if path.suffix in _CXX_SUFFIXES]
    command: list[str] = []
    for part in tier.command:
        command += sorted(files) if part == "{cxx}" else [part.format(bin=Path(sys.executable).parent, wheel=wheel)]
    return command


def _environment(root: Path, wheel: Path, stage: Path) -> dict[str, str]:
    """Tests import the package as it was built, and the build from the source tree; what tools keep goes below ``build/``."""
    zig = str(root / ZIG_CACHE)
    return os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": zig,
        "ZIG_LOCAL_CACHE_DIR": zig,
        "AITER_MLA_AOT_WHEEL": str(wheel),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(root / "build" / "hypothesis"),
        "PYTHONPATH": os.pathsep.join([str(stage), str(root)]),
        "PYTHONPYCACHEPREFIX": str(root / "build" / "pycache"),
    }
