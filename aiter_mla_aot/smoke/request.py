"""One smoke request: random numbers, a hand-made plan, one launch through the extension, and the error of what comes back."""

from __future__ import annotations

import math
import random
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any, Final

from ..dispatch import Plan
from ..native_types import Native
from .memory import Memory, Tensor
from .numbers import Rounded, bf16_values, rounded
from .posed import bound_of

QK: Final = 576
V: Final = 512
Q_SCALE: Final = 0.75
KV_SCALE: Final = 1.25
PIECES: Final = 2
"""KV pieces of every request in split mode. With one alone the kernels differ in where they write it."""
DISTINCT: Final = 509
"""Rows of KV that differ, a prime number: longer buffers repeat them, so that they cost little to make and to compute with."""


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
        return bound_of(self.plan.problem)

    @property
    def width(self) -> int:
        """Heads of the kernel."""
        return self.plan.fold.padded_heads // self.plan.fold.head_groups

    @property
    def q_bytes(self) -> int:
        """Bytes of a number of q."""
        return 2 if self.q_dtype == "bfloat16" else 1

    @property
    def kv_bytes(self) -> int:
        """Bytes of a number of KV."""
        return 2 if self.kv_dtype == "bfloat16" else 1

    @property
    def page_size(self) -> int:
        """Keys of a page."""
        return self.plan.problem.page_size

    @property
    def scales(self) -> tuple[float, float]:
        """What q and KV are multiplied with: other than 1 where the kernel takes scales."""
        return (Q_SCALE if self.q_dtype != "bfloat16" else 1.0, KV_SCALE if self.kv_dtype != "bfloat16" else 1.0)

    def starts(self) -> list[int]:
        """Where the pages of each request begin in the list of pages, and their end."""
        return [0, *accumulate(-(-length // self.page_size) for length in self.lengths)]

    def items(self) -> list[list[int]]:
        """Work items: every request whole, in as few pieces of query tokens as the kernel takes."""
        problem, most = self.plan.problem, self.plan.fold.tokens_per_item
        q_len, starts, rows = problem.q_len, self.starts(), []
        for number in range(len(self.lengths)):
            for first in range(0, q_len, most):
                last = min(first + most, q_len)
                # Under the causal mask the last token of a piece sees all keys but those of the tokens after it. Only pages of one
                # token can be cut for that; a larger offset than a piece has tokens masks nothing.
                end, offset = (starts[number + 1] - q_len + last, 0) if problem.causal else (starts[number + 1], q_len - 1)
                rows.append([number, -1, number * q_len + first, number * q_len + last, starts[number], end, offset, 0])
        return rows


class Launch:
    """The tensors of a batch on a device, with what is right for them."""

    def __init__(self, batch: Batch, memory: Memory, workgroups: int, seed: int) -> None:
        problem = batch.plan.problem
        chance = random.Random(seed)
        self.batch = batch
        self.heads, self.tokens = problem.heads, problem.q_len * len(batch.lengths)
        used, size = batch.starts()[-1], batch.page_size
        pages = used + 3
        self.pages = chance.sample(range(1, pages), used)
        self.q = rounded((chance.gauss(0, 1) for _ in range(self.tokens * self.heads * QK)), batch.q_dtype)
        self.distinct = min(pages * size, DISTINCT)
        self.kv = rounded((chance.gauss(0, 1) for _ in range(self.distinct * QK)), batch.kv_dtype)
        rows = self.kv.content * -(-pages * size // self.distinct)
        self._memory = memory
        self._q = memory.tensor([self.tokens, self.heads, QK], batch.q_dtype, self.q.content)
        self._kv = memory.tensor([pages, size, 1, QK], batch.kv_dtype, rows[: pages * size * QK * batch.kv_bytes])
        # NaN where nothing writes.
        self._out = memory.tensor([self.tokens, self.heads, V], "bfloat16", b"\xff" * (self.tokens * self.heads * V * 2))
        self.pieces = 1 if problem.mode == "persistent" else PIECES
        count = self.tokens * self.pieces * self.heads
        self._partial = memory.tensor([self.tokens, self.pieces, self.heads, V], "float32", b"\xff" * (count * V * 4))
        self._lse = memory.tensor([self.tokens, self.pieces, self.heads, 1], "float32", b"\xff" * (count * 4))
        self._index = [
            self._ints(range(0, self.tokens + 1, problem.q_len)),
            self._ints(batch.starts()),
            self._ints(self.pages),
            self._ints([(length - 1) % size + 1 for length in batch.lengths]),
        ]
        self._workgroups = 0
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

    def addresses(self) -> dict[str, int]:
        """Where each tensor lies, by the name of its argument slot; 0 for one that is absent."""
        tensors: dict[str, Tensor | None] = dict(zip(("partial_out", "partial_lse", "q", "kv", "out"), self._main(), strict=True))
        tensors |= dict(zip(("qo_indptr", "kv_indptr", "kv_indices", "last_page_lens"), self._index, strict=True))
        work, splits = self._plan[0], self._plan[3]
        tensors |= {"schedule": splits if work is None else work, "q_scale": self._scales[0], "kv_scale": self._scales[1]}
        return {name: 0 if tensor is None else tensor.address for name, tensor in tensors.items()}

    def grid(self) -> tuple[int, int, int]:
        """Workgroups of the launch along each axis."""
        plan = self.batch.plan
        if plan.problem.mode == "persistent":
            return (self._workgroups, 1, 1)
        return (-(-plan.problem.q_len * self.batch.width // plan.kernel.info["sub_q"]), len(self.batch.lengths), self.pieces)

    def expected(self) -> list[float]:
        """What attention in float64 gives for every row."""
        return [value for row in range(self.tokens * self.heads) for value in self._row(row)]

    def error(self, expected: Sequence[float]) -> float:
        """Relative Frobenius error of the rows that came back; not a number if one of them is none."""
        got = self._merged() if self.batch.plan.problem.mode == "split" else bf16_values(self._out.content())
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
        problem = self.batch.plan.problem
        number = token // problem.q_len
        hidden = problem.q_len - 1 - token % problem.q_len if problem.causal else 0
        q_scale, kv_scale = self.batch.scales
        query = self.q.values[row * QK : (row + 1) * QK]
        # Keys that are equal count as one that is so much heavier.
        counts = Counter(self._rows_of(number, self.batch.lengths[number] - hidden))
        keys = [_slice(self.kv, place) for place in counts]
        scores = [sum(map(mul, query, key)) * q_scale * kv_scale * QK**-0.5 for key in keys]
        top = max(scores)
        weights = [count * math.exp(score - top) for count, score in zip(counts.values(), scores, strict=True)]
        total = sum(weights) / kv_scale
        return [sum(map(mul, weights, column)) / total for column in zip(*(key[:V] for key in keys), strict=True)]

    def _rows_of(self, number: int, keys: int) -> Iterator[int]:
        """Which of the distinct rows the first keys of a request are."""
        start, size = self.batch.starts()[number], self.batch.page_size
        return ((self.pages[start + key // size] * size + key % size) % self.distinct for key in range(keys))

    def _main(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        return (self._partial, self._lse, self._q, self._kv, self._out)

    def _work(self, workgroups: int) -> list[Tensor | None]:
        items = self.batch.items()
        self._workgroups = max(workgroups, len(items))
        index = self._ints(min(number, len(items)) for number in range(self._workgroups + 1))
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
