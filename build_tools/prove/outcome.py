"""What came of a run."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

from .bars import Errors

STATUSES: Final = ("right", "wrong", "fault", "trespass", "unwritten", "impossible")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave.

    status: ``right``; ``wrong`` numbers; a ``fault`` that stopped the launch; ``trespass``: memory was written that the launch does not
    own; ``unwritten``: rows were not written that a work item owns; ``impossible``: the case cannot be planned. detail: what, in
    words. digest: of the final bits. wave_instructions: work done.
    """

    status: str
    errors: Errors | None = None
    detail: str = ""
    digest: str = ""
    wave_instructions: int = 0

    @property
    def right(self) -> bool:
        """Whether the numbers are right and nothing else was touched."""
        return self.status == "right"

    def to_json(self) -> dict[str, Any]:
        """All fields; errors in three digits, infinity as a word."""
        plain = asdict(self)
        if self.errors is not None:
            plain["errors"] = {name: _rounded(value) for name, value in asdict(self.errors).items()}
        return plain

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        """The outcome that ``to_json`` gave."""
        errors = data["errors"]
        numbers: dict[str, Any] = {} if errors is None else {name: math.inf if value == "inf" else value for name, value in errors.items()}
        read = Errors(**numbers) if numbers else None
        return cls(**(data | {"errors": read}))


def _rounded(value: float | bool | None) -> float | bool | str | None:
    if value is None or isinstance(value, bool):
        return value
    return float(f"{value:.3g}") if math.isfinite(value) else "inf"
