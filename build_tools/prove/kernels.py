"""The proof of whole objects: recipes found or claimed, each proven, as evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from .battery import Proof, prove
from .case import Case, Recipe
from .diagnosis import Run
from .evidence import Evidence
from .execute import Subject
from .findings import finding_of
from .outcome import Outcome
from .search import refine, search
from .session import Session
from .subjects import Wanted

OBJECTS_AT_A_TIME: Final = 4


@dataclass(frozen=True, slots=True)
class ObjectProof:
    """What was found about an object."""

    wanted: Wanted
    proofs: tuple[Proof, ...]

    def evidence(self, level: str) -> Evidence:
        """As it is written."""
        subject = self.wanted.subject
        return Evidence(subject.arch, subject.sha256, self.wanted.file, level, tuple(map(finding_of, self.proofs)))


def prove_object(session: Session, wanted: Wanted, level: str) -> ObjectProof:
    """Proves the claimed recipe with what has to be measured; where there is no claim, every recipe that is right for something."""
    subject = wanted.subject
    recipes = recipes_of(session, wanted)
    proofs = (prove(recipe, _runner(session, subject, recipe), level) for recipe in recipes)
    return ObjectProof(wanted, right_ones(list(proofs)) if wanted.claimed is None else tuple(proofs))


def right_ones(proofs: list[Proof]) -> tuple[Proof, ...]:
    """Leaves out a recipe that is right for nothing, or for no class that another one of the same rows is not right for.

    Where none is right for anything, the first stays: its causes are what was measured.
    """

    def covers(other: Proof, proof: Proof, earlier: bool) -> bool:
        names = ("persistent", "q_dtype", "kv_dtype", "heads", "context_parallel")
        same = all(getattr(other.recipe, name) == getattr(proof.recipe, name) for name in names)
        more = set(other.right) > set(proof.right)
        return same and (more or (earlier and set(other.right) == set(proof.right)))

    kept = tuple(
        proof
        for place, proof in enumerate(proofs)
        if proof.right and not any(covers(other, proof, index < place) for index, other in enumerate(proofs) if index != place)
    )
    return kept or tuple(proofs[:1])


def recipes_of(session: Session, wanted: Wanted) -> list[Recipe]:
    """The claimed recipe, refined, or all that a search finds."""
    subject, claimed = wanted.subject, wanted.claimed

    def run(recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
        return session.run(subject, recipe, cases)

    if claimed is not None:
        return [refine(claimed, subject.kernarg_size, run, wanted.page_size)]
    return search(subject.kernarg_size, run)


def prove_objects(session: Session, wanted: Sequence[Wanted], level: str, done: Callable[[ObjectProof], None]) -> list[ObjectProof]:
    """Proves several objects side by side, in their order. ``done`` hears of each as it is proven, so that an interrupted run keeps it."""

    def one(subject: Wanted) -> ObjectProof:
        proof = prove_object(session, subject, level)
        done(proof)
        return proof

    with ThreadPoolExecutor(OBJECTS_AT_A_TIME) as pool:
        return list(pool.map(one, wanted))


def _runner(session: Session, subject: Subject, recipe: Recipe) -> Run:
    return lambda cases: session.run(subject, recipe, cases)
