"""``aiter-mla-aot kernels``: every catalogued kernel, in this wheel or not."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from .. import table
from ..errors import InvalidProblem
from . import problem_flags
from .output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser("kernels", help="list the catalogued kernels", allow_abbrev=False)
    parser.add_argument("--arch", help="one arch only")
    problem_flags.add_catalog(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the kernels of the catalog."""
    archs = table.archs()
    if args.arch is not None and args.arch not in archs:
        raise InvalidProblem(f"arch is {args.arch!r}", cause=f"this wheel describes {', '.join(archs)}", remedy="give one of these")
    rows = [
        _row(arch, kernel)
        for arch in archs
        if args.arch in (None, arch)
        for kernel in table.load(arch).kernels
        if kernel.in_catalog(args.catalog)
    ]
    lines = [
        f"{row['arch']}  {row['kernel']:62} {row['status']:13} {row['sha256'][:12]}  {row['use']}; evidence: {row['evidence']}"
        for row in rows
    ]
    emit(args, {"catalog": args.catalog, "kernels": rows}, "\n".join(lines))
    return 0


def _row(arch: str, kernel: table.Kernel) -> dict[str, Any]:
    claim = kernel.claim
    use = kernel.not_served
    if claim is not None:
        use = f"{claim.mode} {claim.q_dtype}/{claim.kv_dtype} {claim.heads} heads x {claim.min_tokens}..{claim.tokens} tokens"
    return {
        "arch": arch,
        "kernel": kernel.name,
        "object": kernel.file,
        "sha256": kernel.sha256,
        "symbol": kernel.symbol,
        "scope": kernel.scope,
        "in_wheel": kernel.shipped,
        "status": "in the wheel" if kernel.shipped else "not in wheel",
        "superseded": kernel.superseded,
        "use": use,
        "claim": asdict(claim) if claim else None,
        "not_served": kernel.not_served,
        "gates": list(kernel.gates),
        "upstream_keys": list(kernel.upstream_keys),
        "sources": list(kernel.sources),
        "evidence": kernel.evidence,
        "proof": kernel.proof and kernel.proof.to_json(),
    } | dict(kernel.info)
