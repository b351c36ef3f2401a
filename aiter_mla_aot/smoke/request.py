"""One smoke request: random numbers, a hand-made plan, one launch through the extension, and the error of what comes back."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Final

from ..dispatch import Plan
from ..native_types import Native
from .memory import Memory, Tensor
from .numbers import Rounded, bf16_values, rounded

QK: Final = 576
V: Final = 512
Q_SCALE: Final = 0.75
KV_SCALE: Final = 1.25
PIECES: Final = 2
"""KV pieces of every request in split mode. With one alone the kernels differ in where they write it."""
BOUND: Final = {"bfloat16": 1e-2, "float8": 4e-2}
"""Largest relative error by the narrower of the two input formats."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests of a served problem: how many keys each has, and the formats of q and KV."""

    plan: Plan
    lengths: tuple[int, ...]
    q_dtype: str
    kv_dtype: str

    @property
    def bound(self) -> float:
        """Largest relative Frobenius error that is right."""
        return BOUND["bfloat16" if self.q_dtype == self.kv_dtype == "bfloat16" else "float8"]

    @property
    def scales(self) -> tuple[float, float]:
        """What q and KV are multiplied with: other than 1 where the kernel takes scales."""
        return (Q_SCALE if self.q_dtype != "bfloat16" else 1.0, KV_SCALE if self.kv_dtype != "bfloat16" else 1.0)

    def starts(self) -> list[int]:
        """Where the keys of each request begin in the list of pages, and their end."""
        return [sum(self.lengths[:number]) for number in range(len(self.lengths) + 1)]

    def items(self) -> list[list[int]]:
        """Work items: every request whole, in as few pieces of query tokens as the kernel takes."""
        q_len, most = self.plan.problem.q_len, self.plan.fold.tokens_per_item
        starts, rows = self.starts(), []
        for number in range(len(self.lengths)):
            for first in range(0, q_len, most):
                last = min(first + most, q_len)
                # Under the causal mask the last token of a piece sees all keys but those of the tokens after it.
                rows.append(
                    [number, -1, number * q_len + first, number * q_len + last, starts[number], starts[number + 1] - q_len + last, 0, 0]
                )
        return rows


class Launch:
    """The tensors of a batch on a device, with what is right for them."""

    def __init__(self, batch: Batch, memory: Memory, workgroups: int, seed: int) -> None:
        problem = batch.plan.problem
        chance = random.Random(seed)
        self.batch = batch
        self.heads, self.tokens = problem.heads, problem.q_len * len(batch.lengths)
        pages = sum(batch.lengths) + 3
        self.pages = chance.sample(range(1, pages), sum(batch.lengths))
        self.q = rounded((chance.gauss(0, 1) for _ in range(self.tokens * self.heads * QK)), batch.q_dtype)
        self.kv = rounded((chance.gauss(0, 1) for _ in range(pages * QK)), batch.kv_dtype)
        self._memory = memory
        self._q = memory.tensor([self.tokens, self.heads, QK], batch.q_dtype, self.q.content)
        self._kv = memory.tensor([pages, 1, 1, QK], batch.kv_dtype, self.kv.content)
        # NaN where nothing writes.
        self._out = memory.tensor([self.tokens, self.heads, V], "bfloat16", b"\xff" * (self.tokens * self.heads * V * 2))
        self._pieces = 1 if problem.mode == "persistent" else PIECES
        rows = self.tokens * self._pieces * self.heads
        self._partial = memory.tensor([self.tokens, self._pieces, self.heads, V], "float32", b"\xff" * (rows * V * 4))
        self._lse = memory.tensor([self.tokens, self._pieces, self.heads, 1], "float32", b"\xff" * (rows * 4))
        self._index = [
            self._ints(range(0, self.tokens + 1, problem.q_len)),
            self._ints(batch.starts()),
            self._ints(self.pages),
            self._ints([1] * len(batch.lengths)),
        ]
        self._plan = (
            self._work(workgroups)
            if problem.mode == "persistent"
            else [None] * 3 + [self._ints(range(0, PIECES * len(batch.lengths) + 1, PIECES))]
        )
        self._scales = [None if problem.q_dtype == "bf16" == problem.kv_dtype else self._float(value) for value in batch.scales]

    def run(self, native: Native) -> None:
        """Launches, and waits for the end. Raises what ``launch_stage1`` raises."""
        problem = self.batch.plan.problem
        launch: Any = native.launch_stage1
        tensors = [self._q, self._kv, self._out, self._partial, self._lse, *self._index, *self._plan, *self._scales, None, None]
        launch(0, *tensors, len(self.batch.lengths), self.heads, problem.q_len, QK**-0.5, problem.causal, False, False, 1, 0)
        self._memory.wait()

    def error(self) -> float:
        """Relative Frobenius error of the rows that came back; not a number if one of them is none."""
        got = self._merged() if self.batch.plan.problem.mode == "split" else bf16_values(self._out.content())
        expected = [value for row in range(self.tokens * self.heads) for value in self._row(row)]
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(got, expected, strict=True)) / sum(value * value for value in expected))

    def _merged(self) -> list[float]:
        """Rows from their pieces; a piece without keys has no finite LSE, or was left as it was."""
        partial, lse = array("f", self._partial.content()), array("f", self._lse.content())
        found: list[float] = []
        for row in range(self.tokens * self.heads):
            token, head = divmod(row, self.heads)
            places = [(token * PIECES + piece) * self.heads + head for piece in range(PIECES)]
            weights = {place: math.exp(lse[place]) for place in places if math.isfinite(lse[place])}
            total = sum(weights.values()) or math.nan
            pieces = [partial[place * V : (place + 1) * V] for place in weights]
            found += [sum(map(mul, weights.values(), column)) / total for column in zip(*pieces, strict=True)] or [math.nan] * V
        return found

    def _row(self, row: int) -> list[float]:
        token = row // self.heads
        problem, starts = self.batch.plan.problem, self.batch.starts()
        number = token // problem.q_len
        end = starts[number + 1] - (problem.q_len - 1 - token % problem.q_len if problem.causal else 0)
        q_scale, kv_scale = self.batch.scales
        query = self.q.values[row * QK : (row + 1) * QK]
        keys = [_slice(self.kv, page) for page in self.pages[starts[number] : end]]
        scores = [sum(map(mul, query, key)) * q_scale * kv_scale * QK**-0.5 for key in keys]
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        total = sum(weights) / kv_scale
        return [sum(map(mul, weights, column)) / total for column in zip(*(key[:V] for key in keys), strict=True)]

    def _work(self, workgroups: int) -> list[Tensor | None]:
        items = self.batch.items()
        index = self._ints(min(number, len(items)) for number in range(max(workgroups, len(items)) + 1))
        rows = self._memory.tensor([len(items), 8], "int32", array("i", [value for item in items for value in item]).tobytes())
        meta = self._memory.tensor([2], "uint64", array("Q", [index.address, rows.address]).tobytes())
        return [meta, index, rows, None]

    def _ints(self, values: Sequence[int] | Any) -> Tensor:
        numbers = array("i", values)
        return self._memory.tensor([len(numbers)], "int32", numbers.tobytes())

    def _float(self, value: float) -> Tensor:
        return self._memory.tensor([1], "float32", array("f", [value]).tobytes())


def _slice(kv: Rounded, page: int) -> list[float]:
    return kv.values[page * QK : (page + 1) * QK]
