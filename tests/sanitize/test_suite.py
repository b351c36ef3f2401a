"""Tests of the emulator once more, with the sanitized library in place of the shipped one: a choice of them, or with
``EMULATOR_SANITIZE_ALL`` all that do not compile or compare another library of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sanitize.build import Sanitized

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "tests/emulator/machine"
ALL = {
    "executors": ("tests/emulator/alu",),
    "machine": (MACHINE, "-k", "not every_level"),
    "extension": ("tests/emulator/extension",),
}
CHOICE = {
    "executors": ("tests/emulator/alu", "-k", "sparse or encodings or eight_bits"),
    "faults": (f"{MACHINE}/test_faults.py", f"{MACHINE}/test_hostile.py"),
    "checks": (f"{MACHINE}/test_timing.py", "-k", "finding"),
    "published kernels": (f"{MACHINE}/test_published_kernels.py", "-k", "100-gfx or every or threads"),
}
SELECTED = ALL if os.environ.get("EMULATOR_SANITIZE_ALL") else CHOICE


@pytest.mark.parametrize("selected", SELECTED.values(), ids=SELECTED.keys())
def test_the_tests_of_the_emulator_pass_under_sanitizers(sanitized: Sanitized, selected: tuple[str, ...]) -> None:
    environment = os.environ | {
        "AITER_MLA_EMULATOR_TEST_LIBRARY": str(sanitized.library),
        "AITER_MLA_EMULATOR_TEST_EXECUTORS": str(sanitized.executors),
        "LD_PRELOAD": str(sanitized.runtime),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",  # Python itself leaves memory behind
        "HIP_FUZZ_ROUNDS": "4000",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    command = [sys.executable, "-P", "-m", "pytest", "-q", *selected]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-6000:])
    assert " passed" in done.stdout
