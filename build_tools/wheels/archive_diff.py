"""Says in what two archives differ, member by member."""

from __future__ import annotations

from collections.abc import Iterator

from aiter_mla_aot import integrity
from aiter_mla_aot.integrity import archive
from aiter_mla_aot.integrity.archive import Entry


def differences(old: bytes, new: bytes) -> list[str]:
    """A line for everything that differs between two wheels; empty if their bytes are equal."""
    if old == new:
        return []
    try:
        before, after = archive.entries(old), archive.entries(new)
    except archive.Malformed as error:
        return [f"one of the archives has an unusual form: {error.args[3]}"]
    lines = list(_members(old, before, new, after))
    if not lines:
        first = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        lines.append(f"the same members, packed differently from byte {first}")
    return lines


def _members(old: bytes, before: list[Entry], new: bytes, after: list[Entry]) -> Iterator[str]:
    names, others = {entry.name: entry for entry in before}, {entry.name: entry for entry in after}
    yield from (f"{name}: only in the first" for name in sorted(names.keys() - others.keys()))
    yield from (f"{name}: only in the second" for name in sorted(others.keys() - names.keys()))
    for name in sorted(names.keys() & others.keys()):
        a, b = names[name], others[name]
        one, two = archive.read(old, a), archive.read(new, b)
        if not isinstance(one, bytes) or not isinstance(two, bytes):
            yield f"{name}: damaged"
        elif one != two:
            place = next((place for place, (x, y) in enumerate(zip(one, two, strict=False)) if x != y), min(len(one), len(two)))
            yield f"{name}: {len(one)} and {len(two)} bytes, from byte {place}, SHA-256 {integrity.digest(one)} and {integrity.digest(two)}"
        elif (a.date, a.time) != (b.date, b.time):
            yield f"{name}: another time"
    if [entry.name for entry in before] != [entry.name for entry in after] and names.keys() == others.keys():
        yield "the order of the members"
