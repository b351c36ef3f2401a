"""Runs one case: plans, launches the kernel on the emulator, merges, and compares with the reference."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from aiter_mla_aot.kernarg import pack

from . import bars, inputs, numbers, reference
from .case import QK_DIM, V_DIM, Case, Recipe
from .device import Arena, Emulator, Kernel, Launch
from .errors import PlanImpossible
from .outcome import Outcome
from .planner import Index, Planner, Schedule

_LEAST_BUDGET: Final = 2_000_000
_KEY_BUDGET: Final = 150
"""Wave instructions of one workgroup, whatever it is given and for each key of a query row: a kernel without matrix instructions needs
half of it, published ones a hundredth. One that runs away, as most do that are fed in a wrong way, is stopped soon."""

_OUT_CANARY: Final = 0x7FD5  # a NaN that no kernel makes
_FLOAT_CANARY: Final = 0x7FD5A5A5
_PLANNER_MASKS: Final = {"causal": 0, "request": 1, "none": 2}

Bits = npt.NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """A kernel's bytes."""

    arch: str
    fp8: str
    sha256: str
    image: bytes
    symbol: str
    kernarg_size: int
    workgroup: int = 256
    """Threads of a workgroup."""


@dataclass
class _Buffers:
    out: Bits
    final_lse: Bits
    partial_out: Bits
    partial_lse: Bits


class Bench:
    """Emulator and planner of this process."""

    def __init__(self, emulator: Emulator, planner: Planner, threads: int = 1) -> None:
        self._emulator = emulator
        self._planner = planner
        self._threads = threads

    def run(self, subject: Subject, recipe: Recipe, case: Case) -> Outcome:
        """The outcome of a case. A kernel that is wrong or faults is an outcome; nothing is raised for it."""
        self._emulator.device(subject.arch)
        self._emulator.options(
            timing=case.timing,
            lds_latency=case.lds_latency,
            memory_latency=case.memory_latency,
            seed=case.seed,
            budget=budget_of(recipe, case),
            threads=self._threads,
            poison="finite",
        )
        try:
            with self._emulator.arena() as arena:
                return _Run(self, arena, subject, recipe, case).outcome()
        except PlanImpossible as error:
            return Outcome("impossible", detail=f"{error.fact}: {error.cause}")

    def kernel(self, subject: Subject) -> Kernel:
        """The loaded kernel."""
        return self._emulator.kernel(subject.arch, subject.sha256, subject.image, subject.symbol)

    @property
    def planner(self) -> Planner:
        """The planner."""
        return self._planner


class _Run:
    def __init__(self, bench: Bench, arena: Arena, subject: Subject, recipe: Recipe, case: Case) -> None:
        self.bench, self.arena, self.subject, self.recipe, self.case = bench, arena, subject, recipe, case
        self.groups = -(-case.heads // recipe.heads)
        single = self.groups > 1 or case.top_k >= 0 or (recipe.mask == "none" and case.causal and case.q_len > 1)
        self.tokens = 1 if single else min(case.q_len, recipe.tokens)
        self.single = single

    def outcome(self) -> Outcome:
        case, recipe = self.case, self.recipe
        given = inputs.make(case, recipe, self.subject.fp8, lambda shape, dtype: self.arena.array(shape, dtype, writable=False))
        total = int(given.index.qo_indptr[-1])
        out, lse = np.full((total, case.heads, V_DIM), _OUT_CANARY, np.uint16), np.full((total, case.heads), np.nan, np.float32)
        schedule = None if not recipe.persistent else self._schedule(given.index)
        buffers = self._buffers(total, schedule)
        launch = self._launch(given, schedule, buffers)
        work = int(launch.counters["wave_instructions"])
        if launch.fault is not None:
            return Outcome("fault", detail=describe_fault(launch.fault), wave_instructions=work)
        status, detail = self._damage(given.index, schedule, buffers)
        if status:
            return Outcome(status, detail=detail, wave_instructions=work)
        has_lse = self._merge(given.index, schedule, buffers, out, lse)
        if recipe.out_scale_missing:
            out[...] = numbers.encode(numbers.decode(out, "bf16") * case.kv_scale, "bf16")
        sparse = case.top_k >= 0
        expected, expected_lse = reference.attention(
            given.q_values[:, : case.heads],
            given.keys,
            [(len(rows),) for rows in given.keys] if sparse else [case.seen(request) for request in range(len(case.q_lens))],
            sm_scale=given.sm_scale,
            q_scale=case.q_scale if recipe.q_dtype == "fp8" else 1.0,
            kv_scale=case.kv_scale if recipe.kv_dtype == "fp8" else 1.0,
        )
        unwritten = int((out == _OUT_CANARY).all(axis=-1).sum())
        errors = bars.measure(numbers.decode(out, "bf16"), expected, lse.astype(np.float64) if has_lse else None, expected_lse)
        digest = hashlib.sha256(out.tobytes() + (lse.tobytes() if has_lse else b"")).hexdigest()[:16]
        right = errors.right(bars.bar_of(recipe.q_dtype, recipe.kv_dtype))
        detail = "" if right else (f"{unwritten} rows not written" if unwritten else _worst(out, expected))
        return Outcome("right" if right else "wrong", errors, detail, digest, work)

    def _schedule(self, index: Index) -> Schedule:
        case, recipe = self.case, self.recipe
        settings = {
            "q_len": case.q_len,
            "heads": self.groups * recipe.heads,
            "kernel_heads": recipe.heads,
            "kernel_tokens": recipe.tokens,
            "min_tokens": recipe.min_tokens,
            "page_size": case.page_size,
            "kv_granularity": case.granularity,
            "workgroups": case.workgroups,
            "max_split_per_batch": case.max_split,
            "top_k": case.top_k,
            "item_cost": 0,
            "causal": int(case.causal),
            "mask": _PLANNER_MASKS[recipe.mask],
            "one_token_items": int(self.single),
            "virtual_batches": 0,
            "kv_in_tokens": int(recipe.kv_in_tokens),
            "partial_always": int(case.partial_always),
            "context_parallel": int(recipe.context_parallel and recipe.mask == "request"),
        }
        return self.bench.planner.schedule(settings, index)

    def _buffers(self, total: int, schedule: Schedule | None) -> _Buffers:
        case, heads = self.case, self.recipe.heads
        rows = total * self.groups + case.row_slack
        partial_rows = schedule.partial_rows + case.row_slack if schedule is not None else (total + case.row_slack) * case.splits
        make = self.arena.array
        return _Buffers(
            make((rows, heads, V_DIM), np.uint16, writable=True, fill=_OUT_CANARY),
            make((rows, heads), np.uint32, writable=True, fill=_FLOAT_CANARY),
            make((partial_rows, heads, V_DIM), np.uint32, writable=True, fill=_FLOAT_CANARY),
            make((partial_rows, heads), np.uint32, writable=True, fill=_FLOAT_CANARY),
        )

    def _launch(self, given: inputs.Inputs, schedule: Schedule | None, buffers: _Buffers) -> Launch:
        case, recipe, copy = self.case, self.recipe, self.arena.copy
        q = self.arena.array((given.q.shape[0] + case.row_slack, *given.q.shape[1:]), given.q.dtype, writable=False)
        q[: given.q.shape[0]] = given.q
        item_bytes = given.q.dtype.itemsize
        values: dict[str, int | float] = {
            "q": q.ctypes.data,
            "kv": given.kv.ctypes.data,
            "kv_indptr": copy(given.index.kv_indptr).ctypes.data,
            "kv_indices": copy(given.kv_indices).ctypes.data,
            "last_page_lens": copy(given.index.last_page_lens).ctypes.data,
            "qo_indptr": copy(given.index.qo_indptr).ctypes.data,
            "softmax_scale": given.sm_scale,
            "rows": recipe.heads if recipe.recipe == "persistent_rows" or recipe.heads_as_rows else recipe.heads * self.tokens,
            "q_batch_stride": case.q_len * self.groups * recipe.heads * QK_DIM * item_bytes,
            "page_stride": given.kv[0].nbytes,
            "log2_page": case.page_size.bit_length() - 1,
            "partial_out": buffers.partial_out.ctypes.data,
            "partial_lse": buffers.partial_lse.ctypes.data,
            "out": buffers.out.ctypes.data,
            "cp_world_size": case.cp_world_size,
            "cp_rank": case.cp_rank,
        }
        if recipe.context_parallel:
            values["global_kv_indptr"] = copy(self._global_kv_indptr()).ctypes.data
        if recipe.q_dtype == "fp8" or not case.nulls:
            values["q_scale"] = copy(np.array([case.q_scale], np.float32)).ctypes.data
        if recipe.kv_dtype == "fp8" or not case.nulls:
            values["kv_scale"] = copy(np.array([case.kv_scale], np.float32)).ctypes.data
        if recipe.lse or not case.nulls:
            values["final_lse"] = buffers.final_lse.ctypes.data
        if schedule is not None:
            work_indptr, work_info = copy(schedule.work_indptr), copy(schedule.work_info)
            values["schedule"] = copy(np.array([work_indptr.ctypes.data, work_info.ctypes.data], np.uint64)).ctypes.data
            values |= {"kv_split": 1, "out_16_nosplit": 1}
            grid = (len(schedule.work_indptr) - 1, 1, 1)
        else:
            splits = np.arange(given.index.batch + 1, dtype=np.int32) * case.splits
            values["schedule"] = copy(splits).ctypes.data
            values["kv_split"] = case.splits
            if recipe.recipe == "split_direct":
                values["out_16_nosplit"] = case.splits
            else:
                values["out"] = 0
            rows = case.q_len * recipe.heads
            grid = (-(-rows // recipe.sub_q), given.index.batch, case.splits)
        return self.bench.kernel(self.subject).launch(grid, self.subject.workgroup, pack(self.subject.kernarg_size, values))

    def _damage(self, index: Index, schedule: Schedule | None, buffers: _Buffers) -> tuple[str, str]:
        """Which memory was written that is not the launch's, or not written though a work item owns it; empty if none."""
        total = int(index.qo_indptr[-1]) * self.groups
        if schedule is None:
            partial = np.arange(buffers.partial_out.shape[0]) < total * self.case.splits
            final = np.arange(buffers.out.shape[0]) < total
        else:
            partial, final = _owned(schedule, buffers)
        checks = (
            ("output", buffers.out, final, _OUT_CANARY),
            ("final LSE", buffers.final_lse, final, _FLOAT_CANARY),
            ("partial output", buffers.partial_out, partial, _FLOAT_CANARY),
            ("partial LSE", buffers.partial_lse, partial, _FLOAT_CANARY),
        )
        for name, array, owned, canary in checks:
            touched = (array != canary).any(axis=tuple(range(1, array.ndim))) & ~owned
            if touched.any():
                return "trespass", f"{name}: {touched.sum()} rows written that no work item owns, first row {touched.argmax()}"
        # Which rows of split mode a kernel leaves alone depends on lengths; the merge shows whether they are missed.
        for name, array, owned, canary in checks if schedule is not None else ():
            missed = ((array == canary).any(axis=-1) if array.ndim == 3 else array == canary).any(axis=1) & owned
            if missed.any() and (name != "final LSE" or self.recipe.lse):
                return "unwritten", f"{name}: {missed.sum()} rows not written that work items own, first row {missed.argmax()}"
        return "", ""

    def _merge(self, index: Index, schedule: Schedule | None, buffers: _Buffers, out: Bits, lse: npt.NDArray[np.float32]) -> bool:
        """Final numbers into ``out`` and ``lse``; whether the LSE is known for every row."""
        case, recipe = self.case, self.recipe
        total = int(index.qo_indptr[-1])
        rows, heads = total * self.groups, self.groups * recipe.heads
        full = buffers.out[:rows].reshape(total, heads, V_DIM).copy()
        full_lse = buffers.final_lse[:rows].reshape(total, heads).view(np.float32).copy()
        partial = (buffers.partial_out.view(np.float32), buffers.partial_lse.view(np.float32))
        has_lse = recipe.lse or case.partial_always
        if schedule is not None:
            self.bench.planner.reduce(schedule, partial, full, full_lse, self.groups, 1 if case.partial_always else 2)
        elif case.splits == 1 and recipe.single == "bf16_partial":
            full = buffers.partial_out.reshape(-1).view(np.uint16)[: full.size].reshape(full.shape).copy()
        elif case.splits > 1 or recipe.single == "partial":
            shape = (total, case.splits, recipe.heads)
            cut = total * case.splits
            written = (partial[0][:cut].reshape(*shape, V_DIM), self._unwritten_as_empty(buffers, cut).reshape(shape))
            indptr = np.arange(index.batch + 1, dtype=np.int32) * case.splits
            self.bench.planner.split_merge(index, written, indptr, full, full_lse, case.page_size, 0)
            has_lse = True
        ranks = (self._global_kv_indptr(), case.cp_world_size, case.cp_rank)
        self.bench.planner.empty_rows(index, full, full_lse, ranks, causal=case.causal, page_size=case.page_size)
        out[...] = full[:, : case.heads]
        lse[...] = full_lse[:, : case.heads]
        return has_lse

    def _global_kv_indptr(self) -> npt.NDArray[np.int32]:
        """Where each request's keys begin, counted over all ranks."""
        return np.concatenate([[0], np.cumsum(self.case.global_kv_lens)]).astype(np.int32)

    @staticmethod
    def _unwritten_as_empty(buffers: _Buffers, rows: int) -> npt.NDArray[np.float32]:
        """The partial LSE as it is when the host filled it with -inf before the launch."""
        bits = buffers.partial_lse[:rows]
        return np.where(bits == _FLOAT_CANARY, np.float32(-np.inf), bits.view(np.float32)).astype(np.float32)


def _owned(schedule: Schedule, buffers: _Buffers) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Rows of the partial and of the final buffers that some work item owns."""
    partial, final = np.zeros(buffers.partial_out.shape[0], bool), np.zeros(buffers.out.shape[0], bool)
    for _, location, begin, end, *_ in schedule.work_info[: schedule.items].tolist():
        if location < 0:
            final[begin:end] = True
        else:
            partial[location : location + end - begin] = True
    return partial, final


def budget_of(recipe: Recipe, case: Case) -> int:
    """Wave instructions that one workgroup of a case may take, even if it has all the work."""
    rows = max(1, case.q_len) * -(-case.heads // recipe.heads) * recipe.heads
    return _LEAST_BUDGET + _KEY_BUDGET * rows * sum(case.kv_lens)


def describe_fault(fault: Any) -> str:
    """A fault in one line that does not depend on where memory lies."""
    place = fault["at"]
    text = f"{fault['kind']} at {place['pc']} {place['instruction']}"
    nearest = fault.get("nearest")
    if nearest is not None:
        size = int(nearest["end"], 16) - int(nearest["begin"], 16)
        text += f", {fault['access']} {nearest['distance']} bytes {nearest['side']} a buffer of {size} bytes"
    return text


def _worst(out: Bits, expected: npt.NDArray[np.float64]) -> str:
    """The row farthest off."""
    got = numbers.decode(out, "bf16")
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.linalg.norm(np.nan_to_num(got - expected, nan=1e30), axis=-1)
    token, head = (int(place) for place in np.unravel_index(distance.argmax(), distance.shape))
    return f"worst row: token {token}, head {head}"
