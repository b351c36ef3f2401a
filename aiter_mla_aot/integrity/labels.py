"""Version labels: only the default build has a public version, any other says in its local version what it was made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_PUBLIC: Final = re.compile(r"[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?")
_ARCH: Final = re.compile(r"gfx[0-9a-f]{3,5}")
_LOCK: Final = re.compile(r"[0-9a-f]{1,12}")
DEFAULT_PROVIDER: Final = "amd-aiter"


@dataclass(frozen=True, slots=True)
class Label:
    """A version taken apart. ``archs``: the archs of the wheel where some are left out; ``lock``: first 12 hex digits of the lock's
    SHA-256, for code objects of another source or lock than the public one; ``unproven`` and ``dirty``: built with objects
    without evidence, or from a changed source tree."""

    public: str
    lock: str
    archs: tuple[str, ...]
    unproven: bool
    dirty: bool


def parse(version: str) -> Label | None:
    """The label of a version, or None if it is not one that a build writes."""
    public, plus, local = version.partition("+")
    rest = local.split(".") if plus else []
    archs = []
    while rest and _ARCH.fullmatch(rest[0]):
        archs.append(rest.pop(0))
    lock = ""
    if len(rest) > 1 and rest[0] == "aiter" and _LOCK.fullmatch(rest[1]):
        lock = rest[1]
        del rest[:2]
    unproven = rest[:1] == ["unproven"]
    rest = rest[unproven:]
    dirty = rest[:1] == ["dirty"]
    if rest[dirty:] or not _PUBLIC.fullmatch(public):
        return None
    return Label(public, lock, tuple(archs), unproven, dirty)


def contradictions(
    version: str, archs: Sequence[str], known_archs: Sequence[str], provider: str, lock_sha256: str
) -> list[tuple[str, str]]:
    """(expected, found) for everything that the version does not say, or says wrongly, about what the package holds.

    archs: those of the package. known_archs: all that its source tree has data for.
    """
    label = parse(version)
    if label is None:
        return [("a version such as 0.1.0 or 0.1.0+gfx942.aiter.<12 hex>.unproven.dirty", version)]
    found = []
    left_out = tuple(archs) if set(archs) != set(known_archs) else ()
    if label.archs != left_out:
        found.append((f"label +{'.'.join(left_out)}" if left_out else "no arch label, as no arch is left out", version))
    lock = _normal(lock_sha256[:12])
    if label.lock and label.lock != lock:
        found.append((f"label +aiter.{lock}", version))
    if not label.lock and provider != DEFAULT_PROVIDER:
        found.append((f"label +aiter.{lock}, for objects of {provider or 'an unnamed provider'}", version))
    return found


def _normal(part: str) -> str:
    """A part of a local version as packaging tools normalise it: one of digits only is a number and loses its zeros."""
    return str(int(part)) if part.isdecimal() else part
