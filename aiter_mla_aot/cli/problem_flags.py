"""Flags that describe one problem on the command line."""

from __future__ import annotations

import argparse
import re

from ..problem import DTYPES, MODES, OUT_DTYPES, Problem
from ..table import CATALOGS


def integer(text: str) -> int:
    """A plain decimal integer: neither underscores nor digits of other scripts."""
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise ValueError(text)
    return int(text)


def add(parser: argparse.ArgumentParser) -> None:
    """Add a flag for every field of a problem. A field without default is a required flag, except the mode."""
    parser.add_argument("--arch", required=True, help="gfx942 or gfx950")
    parser.add_argument("--heads", required=True, type=integer, help="query heads of this rank, 1 to 128")
    parser.add_argument("--q-dtype", required=True, choices=DTYPES)
    parser.add_argument("--kv-dtype", required=True, choices=DTYPES)
    parser.add_argument("--q-len", required=True, type=integer, help="largest query length of a request, 1 to 16")
    parser.add_argument("--page-size", required=True, type=integer, help="tokens of a KV page: 1, 2, 4 .. 256")
    parser.add_argument("--mode", default="persistent", choices=MODES)
    parser.add_argument("--causal", default=True, action=argparse.BooleanOptionalAction, help="mask of the decode call")
    parser.add_argument("--lse", action="store_true", help="the log-sum-exp is wanted too")
    parser.add_argument("--ragged", action="store_true", help="query lengths differ between requests")
    parser.add_argument("--sparse", action="store_true", help="every query token has its own top-k KV list")
    parser.add_argument("--cp-world-size", default=1, type=integer, help="ranks of round-robin context parallelism")
    parser.add_argument("--batch-size", default=1, type=integer, help="requests")
    parser.add_argument("--kv-bytes", default=0, type=integer, help="bytes spanned by the KV buffer")
    parser.add_argument("--out-dtype", default="bf16", choices=OUT_DTYPES)
    parser.add_argument("--qk-head-dim", default=576, type=integer)
    parser.add_argument("--v-head-dim", default=512, type=integer)
    parser.add_argument("--logit-cap", default=0.0, type=float)
    add_catalog(parser)


def add_catalog(parser: argparse.ArgumentParser) -> None:
    """Add ``--catalog``."""
    parser.add_argument(
        "--catalog", default="shipped", choices=CATALOGS, help="shipped: this wheel's kernels; full: every catalogued kernel"
    )


def problem(args: argparse.Namespace) -> Problem:
    """The problem that the flags describe; raises ``InvalidProblem``."""
    return Problem(
        arch=args.arch,
        mode=args.mode,
        q_dtype=args.q_dtype,
        kv_dtype=args.kv_dtype,
        heads=args.heads,
        q_len=args.q_len,
        page_size=args.page_size,
        causal=args.causal,
        lse=args.lse,
        cp_world_size=args.cp_world_size,
        batch=args.batch_size,
        ragged=args.ragged,
        sparse=args.sparse,
        kv_bytes=args.kv_bytes,
        out_dtype=args.out_dtype,
        qk_head_dim=args.qk_head_dim,
        v_head_dim=args.v_head_dim,
        logit_cap=args.logit_cap,
    )
