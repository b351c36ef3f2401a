"""Calls the planner on numpy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tests.planner import structs

ITEM, REQUEST, NONE = 0, 1, 2
BF16, FP16, FP32 = 0, 1, 2
CANARY: Final = -1431655766
GUARD: Final = 16
"""Words after each tensor that nothing may touch."""

Int32 = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]


class PlannerError(Exception):
    """What the planner refused; ``args`` is (code, argument, expected, got, index)."""


@dataclass(frozen=True)
class Batch:
    """Lengths of a batch, in query tokens and keys."""

    q_lens: tuple[int, ...]
    kv_lens: tuple[int, ...]
    page_size: int = 1
    first_page: int = 0

    @property
    def qo_indptr(self) -> Int32:
        return np.concatenate([[0], np.cumsum(self.q_lens)]).astype(np.int32)

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(-(-keys // self.page_size) for keys in self.kv_lens)

    @property
    def kv_indptr(self) -> Int32:
        return (np.concatenate([[0], np.cumsum(self.pages)]) + self.first_page).astype(np.int32)

    @property
    def last_page_lens(self) -> Int32:
        return np.array([(keys - 1) % self.page_size + 1 if keys else 0 for keys in self.kv_lens], np.int32)


@dataclass(frozen=True)
class Settings:
    """A schedule request without its batch."""

    q_len: int
    heads: int = 16
    kernel_heads: int = 16
    kernel_tokens: int = 4
    min_tokens: int = 1
    page_size: int = 1
    kv_granularity: int = 16
    workgroups: int = 80
    max_split_per_batch: int = -1
    top_k: int = -1
    item_cost: int = 0
    causal: bool = True
    mask: int = ITEM
    one_token_items: bool = False
    virtual_batches: bool = False
    kv_in_tokens: bool = False
    partial_always: bool = False
    context_parallel: bool = False

    @property
    def tokens(self) -> int:
        return 1 if self.one_token_items else min(self.q_len, self.kernel_tokens)

    @property
    def groups(self) -> int:
        return -(-self.heads // self.kernel_heads)

    @property
    def pieces_of_q(self) -> int:
        return -(-self.q_len // self.tokens)

    def but(self, **changes: Any) -> Settings:
        return replace(self, **changes)

    def request(self, batch: int) -> structs.ScheduleRequest:
        names = [entry[0] for entry in structs.ScheduleRequest._fields_ if entry[0] not in {"batch", "reserved"}]
        return structs.ScheduleRequest(batch=batch, **{name: int(getattr(self, name)) for name in names})


@dataclass
class Schedule:
    """The six tensors, exactly as long as the bounds say, and what else was reported."""

    work_metadata: npt.NDArray[np.uint64]
    work_indptr: Int32
    work_info: Int32
    reduce_indptr: Int32
    reduce_final_map: Int32
    reduce_partial_map: Int32
    items: int = 0
    parts: int = 0
    blocks: int = 0
    workgroups: int = 0
    partial_rows: int = 0
    guarded: list[Int32] = field(default_factory=list)

    @property
    def rows(self) -> Int32:
        return self.work_info[: self.items]

    def guards_intact(self) -> bool:
        return all(bool((whole[-GUARD:] == CANARY).all()) for whole in self.guarded)


def address(array: npt.NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


class Planner:
    """The library's functions; a refusal raises ``PlannerError``."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: Any) -> None:
        error = structs.Error()
        code = getattr(self.library, name)(*arguments, ctypes.byref(error))
        if code != 0:
            raise PlannerError(code, error.argument.decode(), error.expected.decode(), error.got, error.index)

    def bounds(self, settings: Settings, batch: int) -> structs.Sizes:
        sizes = structs.Sizes()
        self.call("amla_schedule_bounds", ctypes.byref(settings.request(batch)), ctypes.byref(sizes))
        return sizes

    def schedule(
        self, settings: Settings, batch: Batch, index: structs.IndexTensors | None = None, lengths: Mapping[str, int] | None = None
    ) -> Schedule:
        """Makes a schedule in tensors of the bounded sizes, or of the given lengths, with guard words behind each."""
        count = len(batch.q_lens)
        sizes = self.bounds(settings, count)
        wanted = {
            "work_indptr": sizes.work_indptr,
            "work_info": sizes.work_info_rows,
            "reduce_indptr": sizes.reduce_indptr,
            "reduce_final_map": sizes.reduce_final_rows,
            "reduce_partial_map": sizes.reduce_partial_map,
        } | dict(lengths or {})
        width = {"work_info": 8, "reduce_final_map": 2}
        guarded = {name: np.full(size * width.get(name, 1) + GUARD, CANARY, np.int32) for name, size in wanted.items()}
        views: dict[str, Any] = {
            name: whole[:-GUARD].reshape((-1, width[name]) if name in width else -1) for name, whole in guarded.items()
        }
        made = Schedule(np.zeros(2, np.uint64), **views, partial_rows=sizes.partial_rows, guarded=list(guarded.values()))
        keep = (batch.qo_indptr, batch.kv_indptr, batch.last_page_lens)
        index = index or structs.IndexTensors(*map(address, keep))
        tensors = structs.ScheduleTensors(
            address(made.work_metadata),
            *(address(guarded[name]) for name in ("work_indptr", "work_info", "reduce_indptr", "reduce_final_map", "reduce_partial_map")),
            *(wanted[name] for name in ("work_indptr", "work_info", "reduce_indptr", "reduce_final_map", "reduce_partial_map")),
        )
        counts = structs.Counts()
        self.call(
            "amla_schedule_make",
            *map(ctypes.byref, (settings.request(count), index, tensors, counts)),
        )
        made.items, made.parts, made.blocks, made.workgroups = counts.items, counts.parts, counts.blocks, counts.workgroups
        return made

    def reduce(
        self,
        schedule: Schedule,
        partial_out: Float32,
        partial_lse: Float32,
        out: npt.NDArray[Any],
        lse: Float32 | None,
        *,
        groups: int = 1,
        least_parts: int = 2,
        dtype: int = FP32,
        final_map: bool = True,
    ) -> None:
        request = structs.ReduceRequest(
            partial_out=address(partial_out),
            partial_lse=address(partial_lse),
            reduce_indptr=address(schedule.reduce_indptr),
            reduce_final_map=address(schedule.reduce_final_map) if final_map else None,
            reduce_partial_map=address(schedule.reduce_partial_map),
            partial_rows=partial_out.shape[0],
            tiles=len(schedule.reduce_indptr) - 1,
            partial_map_size=len(schedule.reduce_partial_map),
            kernel_heads=partial_out.shape[1],
            head_groups=groups,
            least_parts=least_parts,
            output=merge_output(out, lse, dtype),
        )
        self.call("amla_reduce", ctypes.byref(request))

    def split_merge(
        self,
        batch: Batch,
        partial_out: Float32,
        partial_lse: Float32,
        splits: Int32,
        out: npt.NDArray[Any],
        lse: Float32 | None,
        *,
        least_keys: int = 0,
        dtype: int = FP32,
    ) -> None:
        keep = (batch.qo_indptr, batch.kv_indptr, batch.last_page_lens)
        request = structs.SplitRequest(
            partial_out=address(partial_out),
            partial_lse=address(partial_lse),
            num_kv_splits_indptr=address(splits),
            index=structs.IndexTensors(*map(address, keep)),
            batch=len(batch.q_lens),
            splits=partial_out.shape[1],
            kernel_heads=partial_out.shape[2],
            page_size=batch.page_size,
            least_keys=least_keys,
            output=merge_output(out, lse, dtype),
        )
        self.call("amla_split_merge", ctypes.byref(request))

    def empty_rows(
        self,
        batch: Batch,
        out: npt.NDArray[Any],
        lse: Float32 | None,
        *,
        causal: bool,
        dtype: int = FP32,
        global_kv_indptr: Int32 | None = None,
        world: int = 1,
        rank: int = 0,
    ) -> None:
        keep = (batch.qo_indptr, batch.kv_indptr, batch.last_page_lens)
        request = structs.EmptyRequest(
            index=structs.IndexTensors(*map(address, keep)),
            global_kv_indptr=address(global_kv_indptr),
            batch=len(batch.q_lens),
            page_size=batch.page_size,
            cp_world_size=world,
            cp_rank=rank,
            causal=causal,
            output=merge_output(out, lse, dtype),
        )
        self.call("amla_empty_rows", ctypes.byref(request))

    def split_count(self, **choice: int) -> int:
        splits = ctypes.c_int32(0)
        self.call("amla_split_count", ctypes.byref(structs.SplitChoice(**choice)), ctypes.byref(splits))
        return splits.value

    def split_indptr(self, batch: int, splits: int) -> Int32:
        out = np.full(batch + 1, CANARY, np.int32)
        self.call("amla_split_indptr", batch, splits, ctypes.c_void_p(out.ctypes.data))
        return out


def merge_output(out: npt.NDArray[Any], lse: Float32 | None, dtype: int) -> structs.MergeOutput:
    """``out`` is [tokens, heads, head_dim]."""
    tokens, heads, head_dim = out.shape
    return structs.MergeOutput(address(out), address(lse), tokens, heads, head_dim, dtype)
