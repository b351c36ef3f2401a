"""What is run: a kernel's bytes under one recipe, on one problem with one set of inputs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

RECIPES: Final = ("persistent", "persistent_rows", "split_direct", "split_null")
SINGLES: Final = ("out", "partial", "bf16_partial", "none")
MASKS: Final = ("causal", "request", "none")
VALUES: Final = ("normal", "outlier", "tiny", "huge", "flat")
LAYOUTS: Final = ("shuffled", "packed", "reversed", "repeated", "span_2g", "span_4g")
POISONS: Final = ("finite", "large", "nan")
TIMINGS: Final = ("latency", "instant", "at_wait", "random", "slow_index")
QK_DIM: Final = 576
V_DIM: Final = 512


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a kernel is fed: what dispatch's claim and kernarg recipe state, as far as numbers depend on it.

    heads x tokens: query rows of one work item; min_tokens: fewest tokens of an item. mask: ``causal`` per item, ``request`` by the
    token's place in its request, ``none``. kv_in_tokens: work items count keys, not pages. lse: the kernel writes the final LSE itself.
    sub_q: query rows of a workgroup in split mode. single: where one split's result goes: ``out``, the fp32 ``partial`` buffer,
    ``bf16_partial``: there, but in bf16 and without an LSE, or ``none``: nowhere that is right. out_scale_missing: the kernel leaves
    out kv_scale of the values, and the host multiplies the result by it.
    """

    recipe: str
    q_dtype: str
    kv_dtype: str
    heads: int
    tokens: int
    min_tokens: int = 1
    mask: str = "causal"
    kv_in_tokens: bool = False
    lse: bool = False
    context_parallel: bool = False
    sub_q: int = 0
    single: str = "out"
    out_scale_missing: bool = False
    heads_as_rows: bool = False

    @property
    def persistent(self) -> bool:
        """Whether work items come from a planner."""
        return self.recipe.startswith("persistent")

    def to_json(self) -> dict[str, Any]:
        """All fields; one that few recipes need only where it is set."""
        plain = asdict(self)
        return {name: value for name, value in plain.items() if value or name != "heads_as_rows"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Recipe:
        """The recipe that ``to_json`` gave."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Case:
    """One run. Every field that can change a bit of the result is here; the rest is the kernel's bytes.

    heads: of the problem. splits: of split mode. partial_always: every work item writes partial rows, so that each LSE is seen.
    layout: which page ids the requests have. index_slack: entries behind the last one used of ``kv_indices``; they name no page.
    row_slack: rows behind the last of q and of the output. poison: what KV rows hold that no request uses: ``finite``
    ordinary numbers, ``large`` ones or ``nan``.
    top_k: sparse work, keys of each query token's own list, or -1. nulls: optional pointers that the recipe does not need are null.
    cp_world_size, cp_rank: context parallelism; ``kv_lens`` are then this rank's keys: those at places rank, rank + world size, ...
    """

    heads: int
    q_lens: tuple[int, ...]
    kv_lens: tuple[int, ...]
    page_size: int = 1
    causal: bool = True
    workgroups: int = 8
    granularity: int = 16
    max_split: int = -1
    partial_always: bool = False
    top_k: int = -1
    splits: int = 1
    values: str = "normal"
    q_scale: float = 1.0
    kv_scale: float = 1.0
    sm_scale: float = 0.0
    layout: str = "shuffled"
    index_slack: int = 0
    row_slack: int = 0
    page_slack: int = 2
    poison: str = "finite"
    nulls: bool = False
    timing: str = "latency"
    lds_latency: int = 130
    memory_latency: int = 600
    seed: int = 0
    cp_world_size: int = 1
    cp_rank: int = 0

    @property
    def q_len(self) -> int:
        """Largest number of query tokens of a request."""
        return max(self.q_lens)

    @property
    def global_kv_lens(self) -> tuple[int, ...]:
        """Keys of each request on all ranks: one of the numbers that give this rank its share, which one by the seed."""
        world, rank = self.cp_world_size, self.cp_rank
        shares = enumerate(self.kv_lens, self.seed)
        return tuple((keys - 1) * world + rank + 1 + turn % world if keys else turn % (rank + 1) for turn, keys in shares)

    def seen(self, request: int) -> tuple[int, ...]:
        """How many of a request's keys here each of its query tokens sees."""
        q_len, keys = self.q_lens[request], self.kv_lens[request]
        if not self.causal:
            return (keys,) * q_len
        everywhere = self.global_kv_lens[request]
        visible = (everywhere - (q_len - 1 - place) for place in range(q_len))
        return tuple(max(0, -(-(count - self.cp_rank) // self.cp_world_size)) for count in visible)

    def but(self, **changes: Any) -> Case:
        """A copy with other values."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """The fields that differ from their defaults, and those without one."""
        plain = asdict(self)
        plain["q_lens"], plain["kv_lens"] = list(self.q_lens), list(self.kv_lens)
        return {field.name: plain[field.name] for field in fields(self) if getattr(self, field.name) != field.default}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Case:
        """The case that ``to_json`` gave."""
        lists = {name: tuple(data[name]) for name in ("q_lens", "kv_lens")}
        return cls(**(data | lists))


def key(*parts: Any) -> str:
    """A name for what the parts state, the same everywhere."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
