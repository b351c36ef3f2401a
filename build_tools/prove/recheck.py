"""Recorded evidence, run again: a sample of its classes must give the same bits under the same semantics version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import members
from .battery import digest_of
from .case import Case, Recipe, key
from .classes import ProblemClass
from .errors import EvidenceDiffers
from .evidence import Evidence, class_of
from .execute import Subject
from .session import Session


@dataclass(frozen=True, slots=True)
class Recorded:
    """One class of a finding that was right, and the digest of its runs."""

    file: str
    recipe: Recipe
    member: ProblemClass
    digest: str

    def cases(self) -> list[Case]:
        """The runs behind the digest, in their order."""
        return [*members.boundaries(self.recipe, self.member), *members.drawn(self.recipe, self.member)]


def sample(evidence: Evidence, count: int) -> Iterator[Recorded]:
    """``count`` classes of each finding, or all: which ones depends on the object and on nothing else."""
    for finding in evidence.findings:
        recipe = Recipe.from_json(finding["recipe"])
        rows = sorted(finding["right"], key=lambda row: key(evidence.sha256, row))
        for row in rows[:count] if count else rows:
            yield Recorded(evidence.file, recipe, class_of(row[:-1]), row[-1])


def recheck(session: Session, subject: Subject, recorded: Sequence[Recorded]) -> int:
    """Run the classes again; the number of runs. Raises ``EvidenceDiffers`` for the first that gives other bits."""
    ran = 0
    for row in recorded:
        cases = row.cases()
        outcomes = session.run(subject, row.recipe, cases)
        ran += len(cases)
        found = digest_of([outcome.digest for outcome in outcomes])
        bad = next((outcome for outcome in outcomes if not outcome.right), None)
        if bad is not None or found != row.digest:
            place = ", ".join(f"{name} {value}" for name, value in row.member.to_json().items() if value != "")
            raise EvidenceDiffers(
                f"{subject.arch} {row.file}: a class gives other bits than its evidence says: {place}",
                cause=f"{bad.status}: {bad.detail}" if bad is not None else f"digest {found}, recorded {row.digest}",
                remedy="if the change is meant, raise SEMANTICS_VERSION and run `build_tools prove`; else find what changed results",
            )
    return ran
