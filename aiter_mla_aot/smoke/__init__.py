"""Real stage-1 requests end to end: plan, tensors in device memory, the extension, the shipped code object, the numbers that come back.

They run on the HIP device of this process or, after ``emulator.activate``, on the emulator; torch takes no part. Few requests with
few keys: they show that an installation works, not that a kernel is right for every problem.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from .. import native
from ..device import HipRuntime, device_info, prepare
from ..dispatch import Plan, Refusal, resolve
from ..errors import HipError, MlaError
from ..problem import Problem
from . import forced, posed
from .memory import Memory
from .posed import LENGTHS, Posed
from .request import Batch, Launch


@dataclass(frozen=True, slots=True)
class Outcome:
    """One batch. outcome: ``right``, ``wrong``, ``failed`` (text says why), ``refused``, where this wheel serves no such problem, or
    ``unfinished`` while it runs. launched: whether the device was given the kernel.
    """

    problem: Problem
    outcome: str
    kernel: str = ""
    sha256: str = ""
    error: float = math.nan
    bound: float = math.nan
    seconds: float = 0.0
    text: str = ""
    lengths: tuple[int, ...] = LENGTHS
    plan: Plan | None = None
    forced: bool = False
    launched: bool = False

    def to_json(self) -> dict[str, Any]:
        """The row as the command prints it; a number that does not exist is null."""
        facts = {name: getattr(self.problem, name) for name in ("mode", "q_dtype", "kv_dtype", "heads", "q_len", "page_size", "causal")}
        numbers = {name: value if math.isfinite(value) else None for name, value in (("error", self.error), ("bound", self.bound))}
        names = {"kernel": self.kernel, "sha256": self.sha256, "seconds": self.seconds, "text": self.text}
        return facts | {"kv_lens": list(self.lengths), "outcome": self.outcome, "forced": self.forced} | numbers | names


@dataclass(frozen=True, slots=True)
class Place:
    """Where requests run. tier: ``device`` or ``emulator``. name: what the run time calls the device."""

    tier: str
    name: str
    arch: str
    target_id: str
    compute_units: int
    hip_version: str


@dataclass(frozen=True, slots=True)
class SmokeReport:
    """What ran where."""

    place: Place
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether something ran and everything that ran was right."""
        found = {outcome.outcome for outcome in self.outcomes}
        return "right" in found and found <= {"right", "refused"}

    def to_json(self) -> dict[str, Any]:
        """The report as the command prints it."""
        facts = {name: getattr(self.place, name) for name in ("tier", "arch", "target_id", "hip_version")}
        return {"ok": self.ok} | facts | {"requests": [outcome.to_json() for outcome in self.outcomes]}


Watch = Callable[[Place, Sequence[Outcome]], None]
"""Is told what is known before anything is launched, before each launch and after it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to run: problems, by default smoke's own; a kernel that runs them although gates forbid it; who watches."""

    problems: Sequence[Posed] = ()
    kernel: str | None = None
    watch: Watch | None = None


def run(runtime: HipRuntime, device: int = 0, explain: Callable[[], str] = str, asked: Asked | None = None) -> SmokeReport:
    """Runs every batch on a device of ``runtime``.

    explain: what more the run time knows of a launch that failed. Raises the errors of ``prepare``, ``NotForcible`` before anything
    runs, and what ``asked.watch`` raises; a failed launch is in the report.
    """
    asked = asked or Asked()
    info = device_info(device)
    prepare(device)
    with Memory(runtime, device) as memory:
        name = memory.name()
    tier = "emulator" if runtime.emulated else "device"
    place = Place(tier, name, info.arch, info.target_id, info.compute_units, info.hip_version)
    todo = list(asked.problems) or posed.own(info.arch)
    plans = [forced.plan(one.problem, asked.kernel) if asked.kernel is not None else resolve(one.problem) for one in todo]
    bench = _Bench(runtime, device, place, explain, asked)
    bench.tell()
    for one, plan in zip(todo, plans, strict=True):
        bench.pose(one, plan)
    return SmokeReport(place, tuple(bench.outcomes))


@dataclass(frozen=True, slots=True)
class _Bench:
    """What the batches of one run share."""

    runtime: HipRuntime
    device: int
    place: Place
    explain: Callable[[], str]
    asked: Asked
    outcomes: list[Outcome] = field(default_factory=list)

    def tell(self, *running: Outcome) -> None:
        if self.asked.watch is not None:
            self.asked.watch(self.place, [*self.outcomes, *running])

    def pose(self, one: Posed, plan: Plan | Refusal) -> None:
        """Runs one batch and keeps what became of it."""
        reason = plan.text if isinstance(plan, Refusal) else _not_posed(plan, self.place)
        if isinstance(plan, Refusal) or reason:
            self.outcomes.append(Outcome(one.problem, "refused", text=reason, lengths=one.lengths))
        else:
            self.outcomes.append(self._run(one, plan))
        self.tell()

    def _run(self, one: Posed, plan: Plan) -> Outcome:
        problem = one.problem
        fp8 = {row["name"]: f"float8_{row['fp8']}" for row in native.load().table()["archs"]}[problem.arch]
        dtypes = {"bf16": "bfloat16", "fp8": fp8}
        batch = Batch(plan, one.lengths, dtypes[problem.q_dtype], dtypes[problem.kv_dtype])
        names = (plan.kernel.name, plan.kernel.sha256)
        running = Outcome(
            problem,
            "unfinished",
            *names,
            bound=batch.bound,
            lengths=one.lengths,
            plan=plan,
            forced=self.asked.kernel is not None,
            launched=True,
        )
        with Memory(self.runtime, self.device) as memory, ExitStack() as stack:
            function = stack.enter_context(forced.loaded(plan, memory)) if self.asked.kernel is not None else None
            launch = Launch(batch, memory, self.place.compute_units, seed=len(problem.mode) + problem.q_len)
            # What can take long is done first: `unfinished` shall mean that the launch was under way.
            expected = launch.expected()
            self.tell(running)
            started = time.monotonic()
            try:
                if function is None:
                    launch.run(native.load())
                else:
                    forced.run(launch, memory, function)
            except KeyboardInterrupt:
                # It is raised when the launch has ended; that somebody stopped the run says nothing of the kernel.
                self.tell()
                raise
            except MlaError as error:
                text = " ".join(filter(None, (error.fact, error.cause, self.explain())))
                # Only HIP fails after it was given the kernel; everything else is found before.
                return replace(running, outcome="failed", text=text, launched=isinstance(error, HipError))
            seconds = round(time.monotonic() - started, 4)
            # The launch has ended: a run that is stopped while its numbers are compared leaves no request as unfinished.
            self.tell()
            found = launch.error(expected)
        return replace(running, outcome="right" if found <= batch.bound else "wrong", error=found, seconds=seconds)


def _not_posed(plan: Plan, place: Place) -> str:
    """Why a served problem is not run here; empty if it is."""
    if plan.problem.arch != place.arch:
        return f"the device is {place.arch}"
    if plan.fold.head_groups > 1 or plan.fold.padded_heads != plan.problem.heads:
        return f"smoke does not pose problems of the route {plan.route}"
    return ""
