"""The problem: exactly what the host knows of an MLA decode without asking the device.

Everything else (lengths, page ids, scale values, split positions, CU count) lives in device memory, so an answer for a
problem has to hold for every value of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from .errors import InvalidProblem

MODES: Final = ("persistent", "split")
DTYPES: Final = ("bf16", "fp8", "byte")
OUT_DTYPES: Final = ("bf16", "fp16", "fp32")
DTYPE_PAIRS: Final = (("bf16", "bf16"), ("bf16", "fp8"), ("fp8", "fp8"), ("bf16", "byte"))
PAGE_SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MAX_HEADS: Final = 128
MAX_Q_LEN: Final = 16
KV_SPAN_LIMIT: Final = 1 << 32
"""Bytes of KV buffer up to which a kernel with 32-bit byte offsets can address every page."""

_ARCH: Final = re.compile(r"gfx[0-9a-f]{3,5}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One decode request as dispatch sees it.

    arch: ``gfx942`` or ``gfx950``; another gfx name is refused, not an error.
    mode: ``persistent`` (planned work items) or ``split`` (a fixed number of KV splits).
    q_dtype, kv_dtype: ``bf16``, ``fp8`` (e4m3fnuz on gfx942, e4m3fn on gfx950) or ``byte`` (the three-part byte layout of KV).
    heads: query heads of this rank, 1..128. q_len: largest number of query tokens of one request, 1..16.
    page_size: tokens of a KV page, a power of two from 1 to 256. causal: the mask of the decode call.
    lse: the caller wants the log-sum-exp as well. cp_world_size: ranks of round-robin context parallelism.
    batch: requests. ragged: query lengths differ between requests. sparse: every query token has its own top-k KV list.
    kv_bytes: bytes spanned by the KV buffer (``kv_buffer.numel() * itemsize``), 0 if not known to be large.
    out_dtype, qk_head_dim, v_head_dim, logit_cap: only bf16, 576, 512 and 0.0 are served.

    Raises ``InvalidProblem`` for a value that no decode can have; what merely has no kernel is answered by a refusal.
    """

    arch: str
    mode: str
    q_dtype: str
    kv_dtype: str
    heads: int
    q_len: int
    page_size: int
    causal: bool = True
    lse: bool = False
    cp_world_size: int = 1
    batch: int = 1
    ragged: bool = False
    sparse: bool = False
    kv_bytes: int = 0
    out_dtype: str = "bf16"
    qk_head_dim: int = 576
    v_head_dim: int = 512
    logit_cap: float = 0.0

    def __post_init__(self) -> None:
        if type(self.arch) is not str or not _ARCH.fullmatch(self.arch):
            raise _invalid("arch", self.arch, "a gfx name such as gfx942 or gfx950, without what follows a colon")
        _one_of("mode", self.mode, MODES)
        _one_of("q_dtype", self.q_dtype, DTYPES)
        _one_of("kv_dtype", self.kv_dtype, DTYPES)
        _one_of("out_dtype", self.out_dtype, OUT_DTYPES)
        _integer("heads", self.heads, 1, MAX_HEADS)
        _integer("q_len", self.q_len, 1, MAX_Q_LEN)
        if type(self.page_size) is not int or self.page_size not in PAGE_SIZES:
            raise _invalid("page_size", self.page_size, "a power of two from 1 to 256")
        for name in ("causal", "lse", "ragged", "sparse"):
            if type(getattr(self, name)) is not bool:
                raise _invalid(name, getattr(self, name), "true or false")
        _integer("cp_world_size", self.cp_world_size, 1)
        _integer("batch", self.batch, 1)
        _integer("kv_bytes", self.kv_bytes, 0)
        _integer("qk_head_dim", self.qk_head_dim, 1)
        _integer("v_head_dim", self.v_head_dim, 1)
        if type(self.logit_cap) not in (int, float) or not 0.0 <= self.logit_cap < float("inf"):
            raise _invalid("logit_cap", self.logit_cap, "a finite number, 0 or more")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Problem:
        """Build a problem from field names and values, for instance a decoded JSON object.

        Raises ``InvalidProblem`` for an unknown or missing field and for a value outside its domain.
        """
        unknown = sorted(ascii(name) for name in values.keys() - FIELDS.keys())
        if unknown:
            raise InvalidProblem(
                f"unknown field {', '.join(unknown):.200}",
                cause="a problem has no such field",
                remedy=f"use the fields {', '.join(FIELDS)}",
            )
        missing = [name for name in REQUIRED if name not in values]
        if missing:
            raise InvalidProblem(
                f"missing field {', '.join(missing)}", cause="the field has no default", remedy=f"give {', '.join(REQUIRED)}"
            )
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """All fields, defaults included, in their order of declaration."""
        return {name: getattr(self, name) for name in FIELDS}


FIELDS: Final[dict[str, Any]] = {field.name: field.default for field in fields(Problem)}
REQUIRED: Final = ("arch", "mode", "q_dtype", "kv_dtype", "heads", "q_len", "page_size")


def _invalid(name: str, value: object, expected: str) -> InvalidProblem:
    return InvalidProblem(f"{name} is {value!a:.80}", cause=f"{name} must be {expected}", remedy=f"give {expected} for {name}")


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if type(value) is not str or value not in allowed:
        raise _invalid(name, value, f"one of {', '.join(allowed)}")


def _integer(name: str, value: object, low: int, high: int | None = None) -> None:
    if type(value) is not int or value < low or (high is not None and value > high):
        raise _invalid(name, value, f"an integer from {low} to {high}" if high is not None else f"an integer, {low} or more")
