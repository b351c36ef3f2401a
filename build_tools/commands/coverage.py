"""``build_tools coverage``: count the served problems and keep the counts and the support matrix in the repository."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from build_tools.data import catalog
from build_tools.dispatch_table import coverage, emit_matrix, proofs
from build_tools.dispatch_table.table import replace_text, table


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("coverage", help="count served problems; write hsa/*/coverage.toml and docs/support-matrix.md")
    parser.add_argument("--accept-fewer", action="store_true", help="keep the new counts although fewer problems are served than before")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the kept files and print the counts."""
    hsa = Path("hsa")
    catalogs = {arch: catalog.load(hsa, arch) for arch in catalog.archs(hsa)}
    tables = {arch: table(data, proofs.load(hsa, data)) for arch, data in catalogs.items()}
    for arch, data in tables.items():
        kept, provider = hsa / arch / "coverage.toml", catalogs[arch].provider_sha256
        if kept.exists() and not args.accept_fewer:
            coverage.check_not_shrunk(kept, arch, data["counts"], provider)
        replace_text(kept, coverage.kept_text(arch, data["counts"], provider))
    replace_text(Path("docs") / "support-matrix.md", emit_matrix.text(tables))
    counts = {arch: data["counts"] for arch, data in tables.items()}
    if args.json:
        print(json.dumps({"schema": 1, "command": "coverage", "counts": counts}))
    else:
        for arch, by_catalog in counts.items():
            for name, counted in by_catalog.items():
                for key, count in coverage.served(counted).items():
                    print(f"{arch}  {name:8} {key:22} {count:8,} served")
    return 0
