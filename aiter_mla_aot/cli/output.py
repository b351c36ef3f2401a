"""What every command prints: one JSON object with ``--json``, else text for people."""

from __future__ import annotations

import argparse
import errno
import json
import sys
from collections.abc import Mapping
from typing import Any

from ..errors import OutputUnwritable

SCHEMA = 1


class ReaderGone(Exception):
    """The reader of the output went away, as `| head` does; nothing is left to say to it."""


def emit(args: argparse.Namespace, payload: Mapping[str, Any], text: str) -> None:
    """Print ``payload`` under ``schema`` and ``command`` if ``--json`` was given, else ``text``."""
    write(json.dumps({"schema": SCHEMA, "command": args.command} | dict(payload)) if args.json else text)


def write(line: str) -> None:
    """Write a line to standard output. Raises ``OutputUnwritable`` or ``ReaderGone``."""
    _guarded(line + "\n")


def flush() -> None:
    """Hand on what is still buffered. Raises ``OutputUnwritable`` or ``ReaderGone``."""
    _guarded("")


def _guarded(text: str) -> None:
    if sys.stdout is None:
        raise OutputUnwritable(
            "the answer cannot be written", cause="standard output is closed", remedy="give the command a standard output"
        )
    try:
        sys.stdout.write(text) if text else sys.stdout.flush()
    except OSError as error:
        # What is buffered cannot be written either: without this the interpreter would try again when it ends.
        sys.stdout = None
        if error.errno == errno.EPIPE:
            raise ReaderGone from error
        raise OutputUnwritable(
            "the answer cannot be written", cause=error.strerror or str(error), remedy="make room, or write elsewhere"
        ) from error
