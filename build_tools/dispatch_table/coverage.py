"""Counts of served problems: printed, kept under ``hsa/<arch>/coverage.toml``, and never allowed to shrink unnoticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from build_tools.data import data_file
from build_tools.dispatch_table.closure import Closure
from build_tools.errors import CoverageShrank, SchemaDrift


def counts(closure: Closure) -> dict[str, Any]:
    """``served``: mode, dtypes and route to number of problems; ``refused``: mode, dtypes and code; ``total``."""
    served: dict[str, dict[str, int]] = defaultdict(dict)
    refused: dict[str, dict[str, int]] = defaultdict(dict)
    for (mode, dtypes, outcome), count in sorted(closure.counts.items()):
        kind, _, code = outcome.partition("refused: ")
        (refused if code else served)[f"{mode} {dtypes}"][code or kind] = count
    return {"served": dict(served), "refused": dict(refused), "total": sum(closure.counts.values())}


def served(counted: Mapping[str, Any]) -> dict[str, int]:
    """Problems served by mode and dtypes."""
    return {key: sum(routes.values()) for key, routes in sorted(counted["served"].items())}


def kept_text(arch: str, counted: Mapping[str, Any], provider: str) -> str:
    """The content of ``coverage.toml`` for these counts. provider: SHA-256 of the wheel whose objects are shipped."""
    lines = [
        "# Served problems of the closed domain by catalog, mode and dtypes; written by `build_tools coverage`. A count may only grow.",
        f"schema = {data_file.SCHEMA}",
        f'arch = "{arch}"',
        f'provider = "{provider}"',
    ]
    for name in sorted(counted):
        lines += ["", f"[{name}]"] + [f'"{key}" = {count}' for key, count in served(counted[name]).items()]
    return "\n".join(lines) + "\n"


def check_not_shrunk(path: Path, arch: str, counted: Mapping[str, Any], provider: str) -> None:
    """Raise ``CoverageShrank`` where fewer problems are served than the file keeps, ``SchemaDrift`` if it is not such a file.

    The shipped catalog is compared only if its objects come from the provider that the file was written for.
    """
    kept = data_file.load(path)
    kept_provider = kept.pop("provider", None)
    if kept.pop("schema", None) != data_file.SCHEMA or kept.pop("arch", None) != arch or kept.keys() != counted.keys():
        raise SchemaDrift(
            f"{path} does not keep the counts of {arch}", cause="schema, arch or catalogs differ", remedy="run `build_tools coverage`"
        )
    if provider != kept_provider:
        del kept["shipped"]
    for name, rows in kept.items():
        now = served(counted[name])
        for key, count in rows.items():
            if type(count) is not int or now.get(key, 0) < count:
                raise CoverageShrank(
                    f"{arch}, catalog {name}, {key}: {now.get(key, 0)} problems served, {count} before",
                    cause="a claim, fold or gate was narrowed",
                    remedy="if the narrowing is right, give its cause in the data and run `build_tools coverage --accept-fewer`",
                )
