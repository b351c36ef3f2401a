"""What this project's own proof showed for a kernel: its exact bytes, run on the emulator, class of problems by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

NONE: Final = "none"
"""What a plan says of a kernel that has not been run."""

PROVEN: Final = "proven on the emulator"
TIMING_DEPENDENT: Final = f"{PROVEN}, timing-dependent"


@dataclass(frozen=True, slots=True)
class Wrong:
    """Classes that a kernel is not right for, with one measured cause. ``status``: wrong, fault, unwritten, trespass or impossible."""

    status: str
    cause: str
    classes: int
    page_sizes: tuple[int, ...]

    @property
    def text(self) -> str:
        """Status and cause; a cause may begin with the status."""
        return self.cause if self.cause.startswith(self.status) else f"{self.status}: {self.cause}"


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence of one kernel as its claim feeds it.

    semantics: version of emulator, inputs and bars together. classes: those it is right for; members: runs behind them. output_error
    and row_error: the largest relative Frobenius errors of an output and of a row of it; lse_error: of the LSE, absolute. timing:
    ``strict`` if right under every timing model of the emulator, else ``dependent``, with the smallest latencies of memory and of LDS,
    in clocks and of those tried, at which it is not (None: at none tried). nan_safe, large_safe: whether KV rows that no request uses
    may hold NaN, or the largest numbers of their format.
    """

    semantics: int
    classes: int
    members: int
    output_error: float
    row_error: float
    lse_error: float | None
    timing: str
    memory_clocks: int | None
    lds_clocks: int | None
    nan_safe: bool
    large_safe: bool
    wrong: tuple[Wrong, ...]

    @property
    def state(self) -> str:
        """The words for it."""
        return PROVEN if self.timing == "strict" else TIMING_DEPENDENT

    def measured(self, page_size: int) -> str | None:
        """Why the kernel is not right at a page size at which it is right for nothing or not for all; None if that was not seen."""
        causes = dict.fromkeys(row.text for row in self.wrong if page_size in row.page_sizes)
        return "; ".join(causes) or None

    def to_json(self) -> dict[str, Any]:
        """All fields, as commands print them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Proof:
        """The proof that ``to_json`` gave; raises what dict and dataclass raise where a field is wrong."""
        wrong = tuple(Wrong(**{**row, "page_sizes": tuple(row["page_sizes"])}) for row in data["wrong"])
        return cls(**{**data, "wrong": wrong})
