"""The proof of one kernel under one recipe: classes, crossed free axes, timing and poison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from . import members
from .case import POISONS, TIMINGS, Case, Recipe, key
from .classes import ProblemClass, classes_of
from .diagnosis import Run, diagnose
from .outcome import Outcome

LEVELS: Final = ("quick", "full")
_LATENCIES: Final = (700, 900, 1200, 1800, 2700, 4000, 6000, 9000)
"""Memory latencies tried for a kernel whose result depends on timing; 600 is the model's own."""
_LDS_LATENCIES: Final = (160, 220, 300, 450, 700, 1000)


@dataclass
class ClassResult:
    """What came of one class."""

    member: ProblemClass
    ran: int = 0
    cause: str = ""
    status: str = "right"
    output: float = 0.0
    row: float = 0.0
    lse: float | None = None
    digests: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Counts a member's outcome; the first that is not right decides the class."""
        self.ran += 1
        self.digests.append(outcome.digest)
        if outcome.right and outcome.errors is not None:
            self.output = max(self.output, outcome.errors.output)
            self.row = max(self.row, outcome.errors.worst_row)
            if outcome.errors.lse is not None:
                self.lse = max(self.lse or 0.0, outcome.errors.lse)
        elif self.status == "right":
            self.status, self.cause = outcome.status, outcome.detail


@dataclass(frozen=True, slots=True)
class Timing:
    """``strict``: the same under all models. ``dependent``: not right under ``models``; ``memory`` and ``lds`` are the smallest latencies
    tried, above the model's, at which numbers become wrong (None: at none tried)."""

    kind: str
    models: tuple[str, ...] = ()
    memory: int | None = None
    lds: int | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found about a kernel under a recipe. curve: key count and output error of single requests."""

    recipe: Recipe
    classes: tuple[ClassResult, ...]
    timing: Timing
    poison: dict[str, bool]
    crossed: int
    ran: int
    curve: tuple[tuple[int, float], ...]

    @property
    def right(self) -> tuple[ProblemClass, ...]:
        """The envelope."""
        return tuple(result.member for result in self.classes if result.status == "right")


def prove(recipe: Recipe, run: Run, level: str = "full") -> Proof:
    """Runs everything. ``run`` gives the outcomes of cases in their order."""
    results = {member: ClassResult(member) for member in classes_of(recipe)}
    if level == "quick":
        results = {member: result for member, result in results.items() if _is_representative(recipe, member)}
    plain = [member for member in results if parent(recipe, member) is None]
    _firsts(recipe, run, plain, results)
    others = [member for member in results if member not in set(plain)]
    # What is wrong already without head groups, spans, LSE or lists of a token's own is not run with them.
    for member in others:
        known = results.get(parent(recipe, member) or member)
        if known is not None and known.status != "right":
            results[member].status, results[member].cause = known.status, known.cause
    _firsts(recipe, run, [member for member in others if results[member].status == "right"], results)
    alive = [member for member, result in results.items() if result.status == "right"]
    _classes(recipe, run, level, alive, results)
    alive = [member for member in alive if results[member].status == "right"]
    crossed = 0
    if level == "full" and alive:
        crossed = _crossed(recipe, run, alive, results)
        alive = [member for member in alive if results[member].status == "right"]
    timing, poison = _properties(recipe, run, alive)
    curve = _curve(recipe, run, alive)
    total = sum(result.ran for result in results.values()) + crossed
    return Proof(recipe, tuple(results.values()), timing, poison, crossed, total, curve)


def parent(recipe: Recipe, member: ProblemClass) -> ProblemClass | None:
    """The class with the same page, item, mask and splits and nothing else; None if it is that."""
    plain = replace(member, groups=1, span="small", lse=recipe.lse, sparse=False)
    return None if plain == member else plain


def _firsts(recipe: Recipe, run: Run, wanted: Sequence[ProblemClass], results: dict[ProblemClass, ClassResult]) -> None:
    """Runs the plainest case of each class; one that is not right decides its class."""
    cases = [members.base(recipe, member) for member in wanted]
    for member, case, outcome in zip(wanted, cases, run(cases), strict=True):
        if not outcome.right:
            results[member].add(outcome)
            results[member].cause = diagnose(case, outcome, run)


def _is_representative(recipe: Recipe, member: ProblemClass) -> bool:
    """The few classes of a quick proof: page 1 and one other, the recipe's own items, both masks, one span, two groups."""
    if member.groups > 2 or member.span == "span_2g" or (member.lse and not recipe.lse):
        return False
    if member.page_size != 1:
        return (
            member.page_size == 16 and member.item == str(recipe.tokens) and member.causal and member.span == "small" and member.groups == 1
        )
    return member.item in ("1", str(recipe.tokens), "cut") or member.groups == 2 or member.sparse


def _classes(recipe: Recipe, run: Run, level: str, alive: list[ProblemClass], results: dict[ProblemClass, ClassResult]) -> None:
    cases = [
        (member, case)
        for member in alive
        for case in [*members.boundaries(recipe, member, quick=level == "quick"), *members.drawn(recipe, member, quick=level == "quick")]
    ]
    outcomes = run([case for _, case in cases])
    for (member, case), outcome in zip(cases, outcomes, strict=True):
        result = results[member]
        before = result.status
        result.add(outcome)
        if before == "right" and not outcome.right:
            result.cause = diagnose(case, outcome, run)


def _crossed(recipe: Recipe, run: Run, alive: list[ProblemClass], results: dict[ProblemClass, ClassResult]) -> int:
    """Runs the cases that cross all axes. What is wrong in one class is tried in all others too, once for each cause."""
    cases = members.crossed(recipe, alive)
    causes: dict[str, Case] = {}
    for case, outcome in zip(cases, run(cases), strict=True):
        if not outcome.right:
            causes.setdefault(diagnose(case, outcome, run), case)
    ran = len(cases)
    for cause, case in causes.items():
        tried = [members.transplanted(recipe, member, case) for member in alive]
        ran += len(tried)
        for member, outcome in zip(alive, run(tried), strict=True):
            if not outcome.right:
                results[member].add(outcome)
                results[member].cause = cause
    return ran


def _properties(recipe: Recipe, run: Run, alive: list[ProblemClass]) -> tuple[Timing, dict[str, bool]]:
    """Timing models and poisons on a batch of edge lengths of up to three classes."""
    chosen = [members.boundaries(recipe, member)[1] for member in _spread(alive)]
    if not chosen:
        return Timing("unknown"), dict.fromkeys(POISONS[1:], False)
    wrong = []
    for model in TIMINGS[1:]:
        # Drawn latencies are drawn from the seed: three draws.
        seeds = (1, 2, 3) if model == "random" else (1,)
        outcomes = run([case.but(timing=model, seed=seed) for case in chosen for seed in seeds])
        if not all(outcome.right for outcome in outcomes):
            wrong.append(model)
    timing = Timing("strict")
    if wrong:
        memory = _smallest(run, chosen, "memory_latency", _LATENCIES)
        timing = Timing("dependent", tuple(wrong), memory, _smallest(run, chosen, "lds_latency", _LDS_LATENCIES))
    poison = {kind: all(outcome.right for outcome in run([case.but(poison=kind) for case in chosen])) for kind in POISONS[1:]}
    return timing, poison


def _smallest(run: Run, cases: Sequence[Case], name: str, latencies: Sequence[int]) -> int | None:
    """The smallest latency of those listed at which some case is not right."""
    outcomes = run([case.but(**{name: latency}) for latency in latencies for case in cases])
    for place, latency in enumerate(latencies):
        if not all(outcome.right for outcome in outcomes[place * len(cases) : (place + 1) * len(cases)]):
            return latency
    return None


def _spread(alive: list[ProblemClass]) -> list[ProblemClass]:
    """The first, the middle and the last class."""
    return list(dict.fromkeys(alive[place] for place in (0, len(alive) // 2, len(alive) - 1))) if alive else []


def _curve(recipe: Recipe, run: Run, alive: list[ProblemClass]) -> tuple[tuple[int, float], ...]:
    """Output error of one request over its number of keys, in the first class."""
    if not alive:
        return ()
    plain = members.base(recipe, alive[0])
    lengths = (1, 8, 16, 17, 32, 64, 128, 200, 512, 1000, 2047, 4096)
    outcomes = run([plain.but(kv_lens=(length,), seed=5) for length in lengths])
    return tuple((length, outcome.errors.output) for length, outcome in zip(lengths, outcomes, strict=True) if outcome.errors is not None)


def digest_of(digests: Sequence[str]) -> str:
    """A name for all bits of a class's runs."""
    return key(list(digests))[:8]
