"""One answer of the doctor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

OK: Final = "ok"
NOTE: Final = "note"
"""Worth knowing, and normal on some machines: no GPU, no torch."""
WARNING: Final = "warning"
"""Something of the machine keeps kernels from running, or may surprise."""
PROBLEM: Final = "problem"
"""Something of the package is broken."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at (``name``), how it is (``status``), a line for people and the facts for programs."""

    name: str
    status: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The check as an object of ``checks``."""
        return {"name": self.name, "status": self.status, "text": self.text, "facts": dict(self.facts)}
