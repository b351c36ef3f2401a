"""Strict reading of the TOML files under ``hsa/``: every field known, present and of its type, or an error that names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import tomllib

from build_tools.errors import DataFileUnreadable, SchemaDrift, UnknownField

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")
SCHEMA = 1


def read(path: Path, arch: str, sections: Mapping[str, type]) -> dict[str, list[Any]]:
    """Read one data file of an arch into rows of dataclasses.

    sections: TOML array name to the frozen dataclass of its rows; an array that the file leaves out is empty.
    Raises ``DataFileUnreadable``, ``SchemaDrift`` or ``UnknownField``.
    """
    data = load(path)
    if data.pop("schema", None) != SCHEMA:
        raise SchemaDrift(
            f"{path}: schema is not {SCHEMA}", cause="the file is of another format", remedy=f"write `schema = {SCHEMA}` at its top"
        )
    if data.pop("arch", None) != arch:
        raise SchemaDrift(
            f"{path}: arch is not {arch!r}", cause="the file lies in the folder of another arch", remedy=f'write `arch = "{arch}"`'
        )
    unknown = sorted(data.keys() - sections.keys())
    if unknown:
        raise UnknownField(f"{path}: unknown section {unknown[0]!r}", cause="no such section exists", remedy=f"use {', '.join(sections)}")
    result: dict[str, list[Any]] = {}
    for name, kind in sections.items():
        rows = data.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise SchemaDrift(f"{path}: {name} is not a list of tables", cause="wrong TOML form", remedy=f"write it as [[{name}]]")
        result[name] = [record(kind, row, f"{path}: {name} {number}") for number, row in enumerate(rows, 1)]
    return result


def load(path: Path) -> dict[str, Any]:
    """The decoded TOML file; raises ``DataFileUnreadable``."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataFileUnreadable(f"{path} cannot be read", cause=str(error), remedy="restore the file or correct its TOML") from error


def record(kind: type[Row], row: Mapping[str, Any], where: str) -> Row:
    """A dataclass from a TOML table, with every field checked against its annotation."""
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}
    for name in row:
        if name not in known:
            raise UnknownField(
                f"{where}: unknown field {name!r}", cause=f"{kind.__name__} has no such field", remedy=f"use {', '.join(known)}"
            )
    values = {}
    for name, field in known.items():
        if name in row:
            values[name] = _convert(row[name], hints[name], f"{where}: {name}")
        elif field.default is MISSING:
            raise SchemaDrift(f"{where}: field {name!r} is missing", cause="the field has no default", remedy=f"add {name}")
    return kind(**values)


def _convert(value: Any, hint: Any, where: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _convert(value, next(option for option in arguments if option is not type(None)), where)
    if origin is tuple:
        if isinstance(value, list):
            return tuple(_convert(item, arguments[0], where) for item in value)
    elif hint is Mapping or origin is not None:
        if isinstance(value, dict):
            return value
    elif isinstance(hint, type) and hasattr(hint, "__dataclass_fields__"):
        if isinstance(value, dict):
            return record(hint, value, where)
    elif type(value) is hint:
        return value
    raise SchemaDrift(f"{where} is {value!r:.80}", cause=f"the field is of type {hint}", remedy="correct the value")
