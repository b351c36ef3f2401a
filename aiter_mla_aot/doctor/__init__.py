"""The doctor: everything a support engineer asks of an installation, in one report.

Reads files and what the process has loaded; writes nothing, starts no process, and loads no HIP library unless the environment
names one. A machine without GPU, ROCm or torch is a normal finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import MlaError
from ..integrity import verify_installed
from . import hip, machine, package
from .check import PROBLEM, Check

__all__ = ["Check", "Diagnosis", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks, in the order to read them."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing of the package is broken; the machine may still lack a GPU."""
        return all(check.status != PROBLEM for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as `doctor --json` prints it."""
        return {"ok": self.ok, "checks": [check.to_json() for check in self.checks]}


def diagnose() -> Diagnosis:
    """Look at the package, the interpreter and the machine."""
    report = verify_installed()
    torch = hip.torch()
    try:
        minimum = package.minimum_rocm(report.archs)
    except MlaError:
        # A table that cannot be read is already a finding of the integrity check.
        minimum = None
    return Diagnosis(
        (
            package.package(),
            package.integrity(report),
            package.extension(report),
            package.evidence(),
            machine.python(),
            machine.host(),
            torch,
            hip.library(),
            machine.rocm(minimum, torch_hip=torch.facts["hip"]),
            machine.driver(),
            machine.devices(report.archs),
            machine.environment(),
        )
    )
