"""A bounded, seeded search with libFuzzer. ``EMULATOR_FUZZ_FACTOR`` and ``EMULATOR_FUZZ_SEED`` give it more.

What it finds is kept under ``build/sanitize/found`` with the input that repeats it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.sanitize import seeds
from tests.sanitize.build import Sanitized

ROOT = Path(__file__).resolve().parents[2]
OBJECTS = Path(os.environ.get("AITER_MLA_OBJECTS", ROOT / "build" / "objects"))
FACTOR = int(os.environ.get("EMULATOR_FUZZ_FACTOR", "1"))
SEED = int(os.environ.get("EMULATOR_FUZZ_SEED", "1"))


def fuzz(program: Path, corpus: Path, runs: int, longest: int, *more: str) -> str:
    """Runs a target, starting from the corpus; its output. Fails with the sanitizer's report."""
    found = ROOT / "build" / "sanitize" / "found"
    found.mkdir(parents=True, exist_ok=True)
    limits = [f"-runs={runs}", f"-seed={SEED}", f"-max_len={longest}", "-timeout=60", "-rss_limit_mb=3000", f"-artifact_prefix={found}/"]
    done = subprocess.run([program, corpus, *limits, "-print_final_stats=1", *more], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stderr


def executed(output: str) -> int:
    match = re.search(r"number_of_executed_units: (\d+)", output)
    assert match is not None
    return int(match[1])


@pytest.mark.fuzz
def test_any_bytes_are_an_instruction_or_refused(sanitized: Sanitized, tmp_path: Path) -> None:
    paths = list(OBJECTS.rglob("*.co"))
    assert paths, "run `python3 -m build_tools wheel` first"
    corpus = seeds.write(tmp_path, seeds.code(paths))
    runs = 10_000 * FACTOR
    assert executed(fuzz(sanitized.fuzzers["decoder"], corpus, runs, seeds.SLICE)) >= runs


@pytest.mark.fuzz
def test_any_program_ends_and_touches_nothing_outside(sanitized: Sanitized, tmp_path: Path) -> None:
    corpus = seeds.write(tmp_path, seeds.programs(200, SEED))
    runs = 8_000 * FACTOR
    assert executed(fuzz(sanitized.fuzzers["machine"], corpus, runs, 600)) >= runs


@pytest.mark.fuzz
def test_any_object_is_loaded_and_run_or_refused(sanitized: Sanitized, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = tmp_path_factory.mktemp("objects")
    corpus = seeds.write(tmp_path, [image for arch in ("gfx942", "gfx950") for image in seeds.objects(made, arch)])
    runs = 8_000 * FACTOR
    output = fuzz(sanitized.fuzzers["objects"], corpus, runs, 16384, "-print_coverage=1")
    assert executed(output) >= runs
    # Else the seeds no longer get past the loader.
    for function in ("run_kernel", "write_audit", "place_segments", "read_kernel", "name_of_fault"):
        assert re.search(rf"^COVERED_FUNC: .*\b{function}\(", output, flags=re.MULTILINE), function


@pytest.mark.parametrize(
    ("mistake", "report"),
    [
        (b"o\x01", "heap-buffer-overflow"),
        (b"b\x07", "out of bounds"),
        (b"s\x01", "signed integer overflow"),
        (b"f\x01", "outside the range of representable values"),
        (b"a\x01\x01\x01\x01\x01", "misaligned address"),
    ],
)
def test_mistakes_are_seen(sanitized: Sanitized, tmp_path: Path, mistake: bytes, report: str) -> None:
    path = tmp_path / "mistake"
    path.write_bytes(mistake)
    artifact = f"-artifact_prefix={tmp_path}/"
    done = subprocess.run([sanitized.fuzzers["planted"], path, artifact], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert report in done.stderr
