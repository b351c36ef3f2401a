"""Real stage-1 requests end to end: plan, tensors in device memory, the extension, the shipped code object, the numbers that come back.

They run on the HIP device of this process or, after ``emulator.activate``, on the emulator; torch takes no part. Few requests with
few keys: they show that an installation works, not that a kernel is right for every problem.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from .. import native
from ..device import HipRuntime, device_info, prepare
from ..dispatch import Refusal, resolve
from ..errors import MlaError
from ..problem import Problem
from .memory import Memory
from .request import Batch, Launch

HEADS: Final = 16
LENGTHS: Final = (150, 3)
"""Keys of the requests of every batch."""
PROBLEMS: Final = (
    ("persistent", "bf16", "bf16", 1),
    ("persistent", "bf16", "fp8", 1),
    ("persistent", "fp8", "fp8", 1),
    ("persistent", "bf16", "bf16", 2),
    ("persistent", "fp8", "fp8", 2),
    ("split", "bf16", "bf16", 1),
    ("split", "fp8", "fp8", 1),
)
"""Mode, types of q and KV, and query tokens of each batch: pages of one token, causal."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One batch. outcome: ``right``, ``wrong``, ``failed`` (text says why) or ``refused``, where this wheel serves no such problem."""

    problem: Problem
    outcome: str
    kernel: str = ""
    sha256: str = ""
    error: float = math.nan
    bound: float = math.nan
    seconds: float = 0.0
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """The row as the command prints it; a number that does not exist is null."""
        facts = {name: getattr(self.problem, name) for name in ("mode", "q_dtype", "kv_dtype", "heads", "q_len", "page_size", "causal")}
        numbers = {name: value if math.isfinite(value) else None for name, value in (("error", self.error), ("bound", self.bound))}
        names = {"kernel": self.kernel, "sha256": self.sha256, "seconds": self.seconds, "text": self.text}
        return facts | {"kv_lens": list(LENGTHS), "outcome": self.outcome} | numbers | names


@dataclass(frozen=True, slots=True)
class SmokeReport:
    """What ran where. tier: ``device`` or ``emulator``."""

    tier: str
    arch: str
    target_id: str
    hip_version: str
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether something ran and everything that ran was right."""
        found = {outcome.outcome for outcome in self.outcomes}
        return "right" in found and found <= {"right", "refused"}

    def to_json(self) -> dict[str, Any]:
        """The report as the command prints it."""
        facts = {"tier": self.tier, "arch": self.arch, "target_id": self.target_id, "hip_version": self.hip_version}
        return {"ok": self.ok} | facts | {"requests": [outcome.to_json() for outcome in self.outcomes]}


def run(runtime: HipRuntime, device: int = 0, explain: Callable[[], str] = str) -> SmokeReport:
    """Runs every batch on a device of ``runtime``.

    explain: what more the run time knows of a launch that failed. Raises the errors of ``prepare``; a failed launch is in the report.
    """
    info = device_info(device)
    prepare(device)
    problems = [Problem(info.arch, mode, q, kv, HEADS, q_len, 1, batch=len(LENGTHS)) for mode, q, kv, q_len in PROBLEMS]
    outcomes = tuple(_outcomes(problems, runtime, device, info.compute_units, explain))
    return SmokeReport("emulator" if runtime.emulated else "device", info.arch, info.target_id, info.hip_version, outcomes)


def _outcomes(problems: list[Problem], runtime: HipRuntime, device: int, workgroups: int, explain: Callable[[], str]) -> Iterator[Outcome]:
    float8 = {row["name"]: f"float8_{row['fp8']}" for row in native.load().table()["archs"]}
    for problem in problems:
        plan = resolve(problem)
        if isinstance(plan, Refusal):
            yield Outcome(problem, "refused", text=plan.text)
            continue
        dtypes = {"bf16": "bfloat16", "fp8": float8[problem.arch]}
        batch = Batch(plan, LENGTHS, dtypes[problem.q_dtype], dtypes[problem.kv_dtype])
        kernel = (plan.kernel.name, plan.kernel.sha256)
        with Memory(runtime, device) as memory:
            launch = Launch(batch, memory, workgroups, seed=len(problem.mode) + problem.q_len)
            started = time.monotonic()
            try:
                launch.run(native.load())
            except MlaError as error:
                yield Outcome(
                    problem, "failed", *kernel, bound=batch.bound, text=" ".join(filter(None, (error.fact, error.cause, explain())))
                )
                continue
            seconds = round(time.monotonic() - started, 4)
            found = launch.error()
        yield Outcome(problem, "right" if found <= batch.bound else "wrong", *kernel, found, batch.bound, seconds)
