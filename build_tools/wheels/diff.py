"""What differs between two wheels: answers to problems, code objects, claims and gates, and other files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot import integrity, table
from aiter_mla_aot.integrity import table_check
from aiter_mla_aot.integrity.wheel import read_wheel
from aiter_mla_aot.table import Kernel, Table
from build_tools.errors import WheelNotComparable
from build_tools.wheels.diagram_diff import Box, Change, changes

PACKAGE: Final = "aiter_mla_aot"
_PARTS: Final = (f"{PACKAGE}/kernels/", f"{PACKAGE}/tables/")


@dataclass(frozen=True, slots=True)
class Differences:
    """Everything that differs between an old and a new wheel.

    archs: ``added`` and ``removed``. answers: per arch of both wheels, each change of kernel, route or refusal with its problems.
    objects: code objects ``changed``, ``added`` and ``removed``. rules: per arch, what changed in claims, gates and folds.
    files: other files ``changed``, ``added`` and ``removed``; the version is taken out of their paths.
    """

    versions: tuple[str, str]
    archs: Mapping[str, list[str]]
    answers: Mapping[str, Mapping[Change, list[Box]]]
    objects: Mapping[str, list[str]]
    rules: Mapping[str, list[str]]
    files: Mapping[str, list[str]]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        rows = (*self.archs.values(), *self.objects.values(), *self.files.values(), *self.rules.values(), *self.answers.values())
        return self.versions[0] == self.versions[1] and not any(rows)

    def to_json(self) -> dict[str, Any]:
        """The differences as ``diff --json`` prints them."""
        answers = {
            arch: [
                {
                    "from": _outcome(change[0]),
                    "to": _outcome(change[1]),
                    "problems": sum(box.problems for box in boxes),
                    "where": [box.to_json() for box in boxes],
                }
                for change, boxes in found.items()
            ]
            for arch, found in self.answers.items()
        }
        return {
            "same": self.same,
            "versions": {"old": self.versions[0], "new": self.versions[1]},
            "archs": dict(self.archs),
            "answers": answers,
            "objects": dict(self.objects),
            "rules": dict(self.rules),
            "files": dict(self.files),
        }


@dataclass(frozen=True, slots=True)
class Contents:
    """A wheel as the comparison needs it."""

    version: str
    tables: Mapping[str, Table]
    objects: Mapping[str, str]
    files: Mapping[str, str]


def diff(old: Path, new: Path) -> Differences:
    """Compare two wheels. Raises ``WheelNotComparable`` for a file that is no wheel of this package or has another table schema."""
    before, after = read(old), read(new)
    both = sorted(before.tables.keys() & after.tables.keys())
    archs = {
        "added": sorted(after.tables.keys() - before.tables.keys()),
        "removed": sorted(before.tables.keys() - after.tables.keys()),
    }
    return Differences(
        (before.version, after.version),
        archs,
        {arch: changes(before.tables[arch], after.tables[arch]) for arch in both},
        _compare(before.objects, after.objects),
        {arch: _rules(before.tables[arch], after.tables[arch]) for arch in both},
        _compare(before.files, after.files),
    )


def read(path: Path) -> Contents:
    """Read a wheel's tables and the hashes of its files."""
    files, broken = read_wheel(path)
    if broken or not files:
        raise _not_comparable(path, "; ".join(map(str, broken)) or "it is empty")
    info = _json(path, files, f"{PACKAGE}/build_info.json")
    archs = info.get("archs")
    if not isinstance(archs, list):
        raise _not_comparable(path, "its build_info.json names no archs")
    tables = {str(arch): _table(path, files, str(arch)) for arch in archs}
    hashes = {_plain(name): integrity.digest(data) for name, data in files.items()}
    objects = {name.removeprefix(_PARTS[0]): value for name, value in hashes.items() if name.startswith(_PARTS[0])}
    others = {name: value for name, value in hashes.items() if not name.startswith(_PARTS) and not name.endswith("/RECORD")}
    return Contents(str(info.get("version")), tables, objects, others)


def _plain(name: str) -> str:
    first, slash, rest = name.partition("/")
    return f"dist-info{slash}{rest}" if first.endswith(".dist-info") else name


def _table(path: Path, files: Mapping[str, bytes], arch: str) -> Table:
    name = f"{PACKAGE}/tables/{arch}.json"
    data = _json(path, files, name)
    if data.get("schema") != table.SCHEMA:
        cause = f"its {name} has schema {data.get('schema')!r}, this build_tools reads schema {table.SCHEMA}"
        raise _not_comparable(
            path, cause, "compare with the build_tools of the newer of the two wheels, or build the older one again with it"
        )
    try:
        return table_check.load(data)
    except table_check.TableFault as fault:
        raise _not_comparable(path, f"its {name} cannot be read: expected {fault.args[0]}, found {fault.args[1]}") from fault


def _json(path: Path, files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        data = json.loads(files[name])
    except KeyError as error:
        raise _not_comparable(path, f"it has no {name}") from error
    except (ValueError, RecursionError) as error:
        raise _not_comparable(path, f"its {name} cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise _not_comparable(path, f"its {name} is no JSON object")
    return data


def _not_comparable(path: Path, cause: str, remedy: str = "give two wheels that `build_tools verify` accepts") -> WheelNotComparable:
    return WheelNotComparable(f"{path.name} cannot be compared", cause=cause, remedy=remedy)


def _compare(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    return {
        "changed": sorted(name for name in old.keys() & new.keys() if old[name] != new[name]),
        "added": sorted(new.keys() - old.keys()),
        "removed": sorted(old.keys() - new.keys()),
    }


def _rules(old: Table, new: Table) -> list[str]:
    before, after = _statements(old), _statements(new)
    lines = [f"{name} added" for name in sorted(after.keys() - before.keys())]
    lines += [f"{name} removed" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        lines += [f"{name}: {field}" for field in _fields(before[name], after[name])]
    return lines


def _statements(side: Table) -> dict[str, dict[str, Any]]:
    """Everything the table states as rules, by what states it."""
    found = {f"kernel {_identity(row)}": _claims(row) for row in side.kernels}
    found |= {f"gate {name}": asdict(gate) for name, gate in side.gates.items()}
    return found | {f"fold {name}": asdict(fold) for name, fold in side.folds.items()}


def _identity(row: Kernel) -> str:
    # The file name alone is not enough: two published objects may share it.
    return f"{row.file} ({row.sha256[:12]})"


def _claims(row: Kernel) -> dict[str, Any]:
    values: dict[str, Any] = {"in wheel": row.shipped, "recipe": row.recipe, "not served": row.not_served, "gates": row.gates}
    claim = {f"claim {name}": value for name, value in asdict(row.claim).items()} if row.claim else {}
    return values | {"preconditions": row.preconditions} | claim


def _fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    names = [*old, *(name for name in new if name not in old)]
    return [f"{name} {_spell(old.get(name))} -> {_spell(new.get(name))}" for name in names if old.get(name) != new.get(name)]


def _spell(value: Any) -> str:
    return json.dumps(value)


def _outcome(outcome: tuple[str, str]) -> dict[str, str]:
    kind, detail = outcome
    return {"outcome": "refused", "refusal": detail} if kind == "refused" else {"outcome": "served", "object": kind, "route": detail}
