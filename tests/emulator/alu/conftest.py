"""The harness, compiled once for the machine's own level of x86-64 and once for the baseline, or as a caller compiled it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from build_tools.build_graph.emulator_build import LEVELS, Level
from tests.emulator.alu.machine import Machine, build

PREBUILT = "AITER_MLA_EMULATOR_TEST_EXECUTORS"
NEEDED = {"emulator_v4": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}, "emulator_v3": {"avx2", "fma", "bmi2"}}


def best_level() -> Level:
    """The highest level this machine runs."""
    flags: set[str] = set()
    for line in Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":")[1].split())
            break
    return next(level for level in reversed(LEVELS) if NEEDED.get(level.name, set()) <= flags)


def built(tmp_path_factory: pytest.TempPathFactory, level: Level) -> Machine:
    prebuilt = os.environ.get(PREBUILT)
    return Machine(Path(prebuilt) if prebuilt else build(tmp_path_factory.mktemp(level.name), level))


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return built(tmp_path_factory, best_level())


@pytest.fixture(scope="session")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return built(tmp_path_factory, LEVELS[0])
