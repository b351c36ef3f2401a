"""One JSON object from a line of text, each of its fields given once."""

from __future__ import annotations

import json
from typing import Any

from .errors import InvalidProblem


def parse(line: str, remedy: str = "write one JSON object a line") -> dict[str, Any]:
    """The object. Raises ``InvalidProblem``."""
    try:
        values = json.loads(line, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InvalidProblem("the line is not JSON", cause=str(error), remedy=remedy) from error
    if not isinstance(values, dict):
        raise InvalidProblem("the line is not a JSON object", cause=f"it is a {type(values).__name__}", remedy=remedy)
    return values


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise InvalidProblem("a field is given twice", cause="which of the two is meant cannot be known", remedy="give each field once")
    return values
