"""The test kernel, compiled to be fed in one way or another."""

from __future__ import annotations

from pathlib import Path

from build_tools.prove.execute import Subject
from build_tools.prove.subjects import load
from tests.emulator.machine.device import compile_hip
from tests.prove.published import FP8

SOURCE = Path(__file__).with_name("kernels") / "decode.hip"
DEFAULTS: dict[str, int | str] = {
    "NAME": "decode",
    "SLOTS": 23,
    "THREADS": 256,
    "HEADS": 16,
    "MASK": 0,
    "KV": 0,
    "Q_FP8": 0,
    "ROWS_ARE_HEADS": 0,
    "RANKS": 0,
    "SPLIT": 0,
    "SINGLE": 0,
    "SUB_Q": 64,
}


def subjects(folder: Path, arch: str, **macros: int | str) -> list[Subject]:
    """Its kernels: ``decode``, and the one that ``SECOND`` names."""
    defines = "".join(f"#define {name} {value}\n" for name, value in (DEFAULTS | macros).items())
    path = folder / f"{arch}.co"
    path.write_bytes(compile_hip(defines + SOURCE.read_text(encoding="utf-8"), arch, folder))
    return load(path, arch, FP8[arch])
