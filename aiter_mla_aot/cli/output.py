"""What every command prints: one JSON object with ``--json``, else text for people."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

SCHEMA = 1


def emit(args: argparse.Namespace, payload: Mapping[str, Any], text: str) -> None:
    """Print ``payload`` under ``schema`` and ``command`` if ``--json`` was given, else ``text``."""
    if args.json:
        print(json.dumps({"schema": SCHEMA, "command": args.command} | dict(payload)))
    else:
        print(text)
