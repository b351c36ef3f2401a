"""Version labels: only the default build has a public version, any other says in its local version what it was made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PUBLIC: Final = re.compile(r"[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?")
_ARCH: Final = re.compile(r"gfx[0-9a-f]{3,5}")
_LOCK: Final = re.compile(r"[0-9a-f]{12}")
DEFAULT_PROVIDER: Final = "amd-aiter"


@dataclass(frozen=True, slots=True)
class Label:
    """A version taken apart. ``arch``: the only arch of the wheel; ``lock``: first 12 hex digits of the lock's SHA-256, for
    code objects of another provider than the default; ``unproven`` and ``dirty``: built with objects without evidence, or from
    a changed source tree."""

    public: str
    arch: str
    lock: str
    unproven: bool
    dirty: bool


def parse(version: str) -> Label | None:
    """The label of a version, or None if it is not one that a build writes."""
    public, plus, local = version.partition("+")
    rest = local.split(".") if plus else []
    arch = rest.pop(0) if rest and _ARCH.fullmatch(rest[0]) else ""
    lock = ""
    if len(rest) > 1 and rest[0] == "aiter" and _LOCK.fullmatch(rest[1]):
        lock = rest[1]
        del rest[:2]
    unproven = rest[:1] == ["unproven"]
    rest = rest[unproven:]
    dirty = rest[:1] == ["dirty"]
    if rest[dirty:] or not _PUBLIC.fullmatch(public):
        return None
    return Label(public, arch, lock, unproven, dirty)


def contradictions(version: str, archs: tuple[str, ...], provider: str, lock_sha256: str) -> list[tuple[str, str]]:
    """(expected, found) for everything that the version does not say, or says wrongly, about what the package holds."""
    label = parse(version)
    if label is None:
        return [("a version such as 0.1.0 or 0.1.0+gfx942.aiter.<12 hex>.unproven.dirty", version)]
    found = []
    arch = archs[0] if len(archs) == 1 else ""
    if label.arch != arch:
        found.append((f"label +{arch}" if arch else "no arch label, for several archs", version))
    if label.lock and label.lock != lock_sha256[:12]:
        found.append((f"label +aiter.{lock_sha256[:12]}", version))
    if not label.lock and provider != DEFAULT_PROVIDER:
        found.append((f"label +aiter.{lock_sha256[:12]}, for objects of {provider or 'an unnamed provider'}", version))
    return found
