"""Checks of a wheel before it is published: everything that ``aiter_mla_aot.integrity`` checks, and the rules of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.integrity import Finding, VerifyReport, verify_wheel
from aiter_mla_aot.integrity.wheel import read_wheel
from build_tools.errors import WheelCheckFailed
from build_tools.wheels import audits, release, wheel_content

SIZE_LIMIT: Final = 3_000_000
TAG: Final = "cp310-abi3-manylinux_2_28_x86_64"


@dataclass(frozen=True, slots=True)
class WheelReport:
    """The result for one wheel. ``integrity`` is what the installed package would say of it; ``audits`` says which outside tools ran."""

    path: Path
    integrity: VerifyReport
    release: tuple[Finding, ...]
    audits: Mapping[str, str]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong."""
        return self.integrity.findings + self.release

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def not_run(self) -> tuple[str, ...]:
        """Outside tools that this environment does not have."""
        return tuple(sorted(name for name, outcome in self.audits.items() if outcome == audits.NOT_RUN))

    def to_json(self) -> dict[str, Any]:
        """The report as ``verify --json`` prints it."""
        values = self.integrity.to_json()
        return values | {"ok": self.ok, "findings": [item.to_json() for item in self.findings], "audits": dict(self.audits)}


def verify(path: Path, root: Path, *, outside_tools: bool = True) -> WheelReport:
    """Check a wheel against the source tree ``root``.

    outside_tools: also run auditwheel and abi3audit where the environment has them. Raises ``DataError`` kinds for a damaged
    ``release.toml`` only; what is wrong with the wheel is in the report.
    """
    report = verify_wheel(path)
    files, broken = read_wheel(path)
    if broken or not files:
        return WheelReport(path, report, (), {})
    found = list(_file(path))
    found += wheel_content.check(path, files, release.read(root), root)
    found += audits.check_libraries(files)
    outcomes: dict[str, str] = {}
    if outside_tools:
        outcomes, wrong = audits.run(path)
        found += wrong
    return WheelReport(path, report, tuple(found), outcomes)


def require(path: Path, root: Path, *, outside_tools: bool = False) -> WheelReport:
    """Check a wheel; raises ``WheelCheckFailed`` with every finding."""
    report = verify(path, root, outside_tools=outside_tools)
    if report.ok:
        return report
    raise failure([report])


def failure(reports: Iterable[WheelReport]) -> WheelCheckFailed:
    """The error for wheels that may not be published."""
    bad = [report for report in reports if not report.ok]
    return WheelCheckFailed(
        f"{', '.join(report.path.name for report in bad)}: not as a published wheel must be",
        cause="\n".join(str(item) for report in bad for item in report.findings),
        remedy="the wheel must not be published; correct what each line names and build again",
    )


def _file(path: Path) -> Iterable[Finding]:
    size = path.stat().st_size
    if size >= SIZE_LIMIT:
        yield wheel_content.finding(path.name, f"less than {SIZE_LIMIT:,} bytes", f"{size:,} bytes", "the wheel is too large")
    tag = path.stem.split("-", 2)[-1]
    if tag != TAG:
        yield wheel_content.finding(path.name, TAG, tag, "the wheel is tagged for other platforms")
