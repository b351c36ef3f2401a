"""One request in torch CPU tensors, planned by hand as one work item, and what attention in float64 gives for it."""

from __future__ import annotations

from typing import Any, Final

import torch

from aiter_mla_aot.native_types import Native

QK: Final = 576
V: Final = 512
Q_SCALE: Final = 0.7
KV_SCALE: Final = 1.3
FLOAT8: Final = {"gfx942": torch.float8_e4m3fnuz, "gfx950": torch.float8_e4m3fn}


class Decode:
    """Tensors of a call of ``launch_stage1`` in persistent mode, page size 1, causal. They may be replaced before ``launch``."""

    def __init__(self, arch: str, q_dtype: str, kv_dtype: str, heads: int, q_len: int, length: int, units: int) -> None:
        dtypes = {"bf16": torch.bfloat16, "fp8": FLOAT8[arch]}
        chance = torch.Generator().manual_seed(length * 128 + heads)
        pages = length + 5

        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=chance)

        self.heads, self.q_len, self.length = heads, q_len, length
        self.q = normal(q_len, heads, QK).to(dtypes[q_dtype])
        self.kv = normal(pages, 1, 1, QK).to(dtypes[kv_dtype])
        self.out = torch.full((q_len, heads, V), torch.nan, dtype=torch.bfloat16)
        self.partial = torch.full((q_len, 1, heads, V), torch.nan)
        self.lse = torch.full((q_len, 1, heads, 1), torch.nan)
        self.qo_indptr, self.kv_indptr, self.last = self.ints(0, q_len), self.ints(0, length), self.ints(1)
        self.order = torch.randperm(pages, generator=chance)[:length].int()
        self.q_scale = torch.tensor([Q_SCALE]) if q_dtype == "fp8" else None
        self.kv_scale = torch.tensor([KV_SCALE]) if kv_dtype == "fp8" else None
        self.units = units
        self.plan([[0, -1, 0, q_len, 0, length, 0, 0]])

    @staticmethod
    def ints(*values: int) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int32)

    def plan(self, items: list[list[int]]) -> None:
        """Gives all items to the first workgroup."""
        self.work = torch.tensor(items, dtype=torch.int32)
        self.work_indptr = self.ints(0, *[len(items)] * self.units)
        self.meta = torch.tensor([self.work_indptr.data_ptr(), self.work.data_ptr()], dtype=torch.uint64)

    def launch(self, native: Native) -> None:
        tensors: list[Any] = [self.q, self.kv, self.out, self.partial, self.lse, self.qo_indptr, self.kv_indptr, self.order, self.last]
        tensors += [self.meta, self.work_indptr, self.work, None, self.q_scale, self.kv_scale, None, None]
        call: Any = native.launch_stage1
        call(0, *tensors, 1, self.heads, self.q_len, QK**-0.5, True, False, False, 1, 0)

    def expected(self) -> torch.Tensor:
        q = self.q.double() * (Q_SCALE if self.q_scale is not None else 1.0)
        keys = self.kv.double()[self.order.long(), 0, 0] * (KV_SCALE if self.kv_scale is not None else 1.0)
        scores = q @ keys.T * QK**-0.5
        seen = torch.arange(self.length) <= torch.arange(self.q_len)[:, None] + self.length - self.q_len
        return torch.softmax(scores.masked_fill(~seen[:, None], -torch.inf), -1) @ keys[:, :V]

    def error(self) -> float:
        """Relative Frobenius error of the output; NaN where a row was not written."""
        expected = self.expected()
        return float((self.out.double() - expected).norm() / expected.norm())
