"""The host planner and reduce, called through their C interface."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import planner_structs as structs
from .errors import LibraryUnusable, PlanImpossible

Int32 = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]
BF16 = 0


def _address(array: npt.NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


@dataclass(frozen=True)
class Index:
    """The index tensors of a batch."""

    qo_indptr: Int32
    kv_indptr: Int32
    last_page_lens: Int32

    def struct(self) -> structs.IndexTensors:
        """As the planner takes them; valid as long as this object."""
        return structs.IndexTensors(_address(self.qo_indptr), _address(self.kv_indptr), _address(self.last_page_lens))

    @property
    def batch(self) -> int:
        """Requests."""
        return len(self.qo_indptr) - 1


@dataclass(frozen=True)
class Schedule:
    """What the planner made."""

    work_indptr: Int32
    work_info: Int32
    reduce_indptr: Int32
    reduce_final_map: Int32
    reduce_partial_map: Int32
    items: int
    parts: int
    partial_rows: int


class Planner:
    """The library's functions; what it refuses is ``PlanImpossible``."""

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise LibraryUnusable(f"{path}: {error}", cause="the planner's library cannot be loaded", remedy="build it again") from error
        for number, kind in enumerate(structs.BY_NUMBER):
            if self._library.amla_planner_struct_size(number) != ctypes.sizeof(kind):
                raise LibraryUnusable(f"{path}: {kind.__name__} has another size", cause="another version", remedy="build it again")

    def _call(self, name: str, *arguments: Any) -> None:
        error = structs.Error()
        if getattr(self._library, name)(*arguments, ctypes.byref(error)) != 0:
            fact = f"{name}: {error.argument.decode()} is {error.got} (index {error.index})"
            raise PlanImpossible(fact, cause=f"expected {error.expected.decode()}", remedy="choose a case that can be planned")

    def schedule(self, settings: dict[str, int], index: Index) -> Schedule:
        """The six tensors of a persistent launch, each as long as the bounds say."""
        request = structs.ScheduleRequest(batch=index.batch, **settings)
        sizes = structs.Sizes()
        self._call("amla_schedule_bounds", ctypes.byref(request), ctypes.byref(sizes))
        work_metadata = np.zeros(2, np.uint64)
        shapes: dict[str, tuple[int, ...]] = {
            "work_indptr": (sizes.work_indptr,),
            "work_info": (sizes.work_info_rows, 8),
            "reduce_indptr": (sizes.reduce_indptr,),
            "reduce_final_map": (sizes.reduce_final_rows, 2),
            "reduce_partial_map": (sizes.reduce_partial_map,),
        }
        made = {name: np.zeros(shape, np.int32) for name, shape in shapes.items()}
        tensors = structs.ScheduleTensors(
            _address(work_metadata), *(_address(array) for array in made.values()), *(shape[0] for shape in shapes.values())
        )
        counts, given = structs.Counts(), index.struct()
        self._call("amla_schedule_make", *map(ctypes.byref, (request, given, tensors, counts)))
        return Schedule(**made, items=counts.items, parts=counts.parts, partial_rows=sizes.partial_rows)

    def reduce(
        self,
        schedule: Schedule,
        partial: tuple[Float32, Float32],
        out: npt.NDArray[np.uint16],
        lse: Float32 | None,
        groups: int,
        least_parts: int,
    ) -> None:
        """Merges the parts of a schedule into ``out`` [tokens, heads, dim]."""
        partial_out, partial_lse = partial
        request = structs.ReduceRequest(
            partial_out=_address(partial_out),
            partial_lse=_address(partial_lse),
            reduce_indptr=_address(schedule.reduce_indptr),
            reduce_final_map=_address(schedule.reduce_final_map),
            reduce_partial_map=_address(schedule.reduce_partial_map),
            partial_rows=partial_out.shape[0],
            tiles=len(schedule.reduce_indptr) - 1,
            partial_map_size=len(schedule.reduce_partial_map),
            kernel_heads=partial_out.shape[1],
            head_groups=groups,
            least_parts=least_parts,
            output=_output(out, lse),
        )
        self._call("amla_reduce", ctypes.byref(request))

    def split_merge(
        self,
        index: Index,
        partial: tuple[Float32, Float32],
        splits_indptr: Int32,
        out: npt.NDArray[np.uint16],
        lse: Float32 | None,
        page_size: int,
        least_keys: int,
    ) -> None:
        """Merges the splits of every query token; ``partial`` is [tokens, splits, heads, dim] and its LSE."""
        partial_out, partial_lse = partial
        request = structs.SplitRequest(
            partial_out=_address(partial_out),
            partial_lse=_address(partial_lse),
            num_kv_splits_indptr=_address(splits_indptr),
            index=index.struct(),
            batch=index.batch,
            splits=partial_out.shape[1],
            kernel_heads=partial_out.shape[2],
            page_size=page_size,
            least_keys=least_keys,
            output=_output(out, lse),
        )
        self._call("amla_split_merge", ctypes.byref(request))

    def empty_rows(
        self, index: Index, out: npt.NDArray[np.uint16], lse: Float32 | None, ranks: tuple[Int32, int, int], *, causal: bool, page_size: int
    ) -> None:
        """Writes the query tokens that see no key: 0, and LSE -inf. ``ranks``: where requests begin on all ranks, how many, which."""
        global_kv_indptr, world_size, rank = ranks
        request = structs.EmptyRequest(
            index=index.struct(),
            global_kv_indptr=_address(global_kv_indptr),
            batch=index.batch,
            page_size=page_size,
            cp_world_size=world_size,
            cp_rank=rank,
            causal=causal,
            output=_output(out, lse),
        )
        self._call("amla_empty_rows", ctypes.byref(request))


def _output(out: npt.NDArray[np.uint16], lse: Float32 | None) -> structs.MergeOutput:
    tokens, heads, head_dim = out.shape
    return structs.MergeOutput(_address(out), _address(lse), tokens, heads, head_dim, BF16)
