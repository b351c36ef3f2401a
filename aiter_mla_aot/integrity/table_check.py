"""A dispatch table from an unknown hand: every field of its type, every reference inside the table, every walk to an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from .. import table
from ..table import Diagram, Table

_FILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.co")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class TableFault(Exception):
    """The table cannot be used; the arguments are (expected, found)."""


def load(data: Mapping[str, Any]) -> Table:
    """The table in a decoded JSON object. Raises ``TableFault``."""
    if data.get("schema") != table.SCHEMA or isinstance(data["schema"], bool):
        raise TableFault(f"a dispatch table of schema {table.SCHEMA}", f"schema {data.get('schema')!r}")
    try:
        parsed = table.parse(data)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise TableFault(f"a dispatch table of schema {table.SCHEMA}", repr(error)) from error
    wrong = _mistyped(parsed, Table, "table")
    if wrong:
        raise TableFault(*wrong)
    if type(parsed.device.get("mach")) is not int:
        raise TableFault("the device's mach as an integer", f"{parsed.device!r:.80}")
    for row in parsed.kernels:
        if not _FILE.fullmatch(row.file) or not _SHA256.fullmatch(row.sha256):
            raise TableFault("a plain file name and a SHA-256 for each kernel", f"{row.file!r} {row.sha256!r}")
        if row.claim is not None and min(row.claim.heads, row.claim.tokens) < 1:
            raise TableFault("heads and tokens of 1 or more in each claim", f"{row.claim.heads} and {row.claim.tokens} of {row.file}")
    for index, _ in parsed.plans:
        if not 0 <= index < len(parsed.kernels) or parsed.kernels[index].claim is None:
            raise TableFault("plans that name kernels with a claim", f"kernel {index} of {len(parsed.kernels)}")
    for name, diagram in parsed.catalogs.items():
        lost = diagram_fault(diagram, len(parsed.plans), len(parsed.refusals))
        if lost:
            raise TableFault(f"{lost[0]} in the diagram of catalog {name}", lost[1])
    return parsed


def diagram_fault(diagram: Diagram, plans: int, refusals: int) -> tuple[str, str] | None:
    """(expected, found) if some walk of the diagram ends outside the table, else None."""
    level = {diagram.root}
    for _, width in table.AXES:
        following: set[int] = set()
        for place in level:
            if not 0 <= place <= len(diagram.nodes) - width:
                return f"a node of {width} entries among {len(diagram.nodes)}", f"offset {place}"
            following.update(diagram.nodes[place : place + width])
        level = following
    for leaf in sorted(level):
        if not (0 <= leaf < plans or table.REFUSAL <= leaf < table.REFUSAL + refusals):
            return f"one of {plans} plans or {refusals} refusals", f"answer {leaf}"
    return None


def _mistyped(value: Any, hint: Any, where: str) -> tuple[str, str] | None:
    """(expected, found) for the first part of a value that is not of its declared type, else None."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return None
    if origin in (Union, UnionType):
        return None if any(_mistyped(value, option, where) is None for option in arguments) else _wrong(value, hint, where)
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, hint):
            return _wrong(value, hint, where)
        hints = get_type_hints(hint)
        parts = [(getattr(value, field.name), hints[field.name], f"{where}.{field.name}") for field in fields(hint)]
    elif origin is tuple:
        if not isinstance(value, tuple):
            return _wrong(value, hint, where)
        kinds = (arguments[0],) * len(value) if arguments[-1] is Ellipsis else arguments
        if len(kinds) != len(value):
            return _wrong(value, hint, where)
        parts = [(item, kind, f"{where}[{number}]") for number, (item, kind) in enumerate(zip(value, kinds, strict=True))]
    elif origin is Mapping or hint is Mapping:
        if not isinstance(value, Mapping):
            return _wrong(value, hint, where)
        parts = [(item, arguments[1], f"{where}[{name}]") for name, item in value.items()]
    else:
        return None if type(value) is (NoneType if hint is None else hint) else _wrong(value, hint, where)
    return next(filter(None, (_mistyped(*part) for part in parts)), None)


def _wrong(value: Any, hint: Any, where: str) -> tuple[str, str]:
    return f"{where} of type {getattr(hint, '__name__', hint)}", f"{value!r:.80}"
