"""Types of the dispatch extension ``_native``; its source is ``csrc/dispatch``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Protocol, TypedDict


class AbiInfo(TypedDict):
    """Layout of the C interface in ``csrc/dispatch/abi.h``."""

    abi_version: int
    sizeof_status: int
    sizeof_problem: int
    sizeof_plan: int
    launch_arguments: int


class KernelInfo(TypedDict):
    """One row of the kernel table compiled in."""

    file: str
    symbol: str
    sha256: str
    arch: str
    recipe: int
    kernarg_size: int
    last_arg_end: int
    lds_bytes: int
    workgroup: int
    code_object_version: int
    heads: int
    tokens: int
    sub_q: int
    bytes: int


class PlanInfo(TypedDict):
    """One row of the plan table compiled in; ``kernel`` is an index of the kernel table."""

    kernel: int
    single: int


class ArchInfo(TypedDict):
    """One arch compiled in: name, EF_AMDGPU_MACH, float8 format, place of its diagram's root, SHA-256 of its JSON table."""

    name: str
    mach: int
    fp8: str
    root: int
    table_sha256: str


class TableInfo(TypedDict):
    """The table compiled in."""

    kernels: tuple[KernelInfo, ...]
    plans: tuple[PlanInfo, ...]
    refusals: tuple[str, ...]
    archs: tuple[ArchInfo, ...]
    node_count: int


class HipInfo(TypedDict):
    """The HIP library in use."""

    path: str
    how: str
    copies: int
    takes_host_memory: bool


class DeviceDict(TypedDict):
    """Facts of one device."""

    device: int
    arch: str
    target_id: str
    compute_units: int
    warp_size: int
    lds_bytes: int
    major: int
    minor: int
    runtime_version: int


class Native(Protocol):
    """The module ``_native``. Every error is raised through ``error_factory``."""

    error_factory: Callable[[int, tuple[str, ...]], Exception] | None

    def abi_info(self) -> AbiInfo:
        """Version of the C interface and sizes of its structs."""

    def lookup(
        self,
        arch: str,
        mode: str,
        q_dtype: str,
        kv_dtype: str,
        heads: int,
        q_len: int,
        page_size: int,
        causal: bool,
        lse: bool,
        cp_world_size: int,
        batch: int,
        ragged: bool,
        sparse: bool,
        kv_bytes: int,
        out_dtype: str,
        qk_head_dim: int,
        v_head_dim: int,
        logit_cap: float,
        /,
    ) -> tuple[int, int, int, int, int, int, int] | str:
        """The answer to a problem: a refusal code, or (plan, kernel, padded heads, head groups, tokens per item, items per request,
        rows per item).

        Raises ``InvalidProblem``, and ``ArgumentInvalid`` for a value of another type."""

    def lookup_domain(self, arch: str, /) -> bytes:
        """One little-endian uint16 leaf for every problem of an arch, axes in the order of the diagram, the last fastest."""

    def table(self) -> TableInfo:
        """The table compiled in."""

    def sha256(self, data: bytes, /) -> str:
        """Hexadecimal SHA-256."""

    def hip_open(self, path: str | bytes | PathLike[str] | None, allow_load: bool, /) -> HipInfo:
        """See ``device.open_hip``."""

    def device_count(self) -> int:
        """See ``device.device_count``."""

    def device_info(self, device: int, /) -> DeviceDict:
        """See ``device.device_info``."""

    def set_kernel_directory(self, path: str | bytes | PathLike[str], /) -> None:
        """Folder ``<path>/<arch>/<file>`` that a launch loads from where ``prepare`` was not called."""

    def prepare(self, device: int, arch: str | None, source: str | bytes | PathLike[str] | Mapping[str, bytes], /) -> None:
        """Verifies and loads the kernels of a device from a folder or from a mapping ``<arch>/<file>`` to bytes.

        arch: the arch that the caller expects, or None."""

    def is_prepared(self, device: int, /) -> bool:
        """True once the kernels of the device are loaded."""

    def launch_stage1(
        self,
        stream: int,
        q: Any,
        kv_buffer: Any,
        o: Any,
        split_data: Any,
        split_lse: Any,
        qo_indptr: Any,
        kv_indptr: Any,
        kv_indices: Any,
        kv_last_page_lens: Any,
        work_meta_data: Any | None,
        work_indptr: Any | None,
        work_info_set: Any | None,
        num_kv_splits_indptr: Any | None,
        q_scale: Any | None,
        kv_scale: Any | None,
        lse: Any | None,
        g_kv_indptr: Any | None,
        batch: int,
        heads: int,
        q_len: int,
        sm_scale: float,
        causal: bool,
        ragged: bool,
        sparse: bool,
        cp_world_size: int,
        cp_rank: int,
        /,
    ) -> None:
        """Looks up the problem that the arguments pose, checks them, and launches one stage-1 kernel on the tensors' device.

        stream: hipStream_t as integer, 0 for the default stream. The tensors are already folded for the kernel: ``heads_k`` below is
        the kernel's head count and ``batch`` that of the index tensors. All tensors are contiguous and on one device.

        q ``[total_q, heads_k, 576]`` bf16 or fp8; kv_buffer ``[pages, page_size, 1, 576]`` bf16, fp8 or uint8;
        o ``[total_q, heads_k, 512]`` bf16, written; split_data ``[rows, splits, heads_k, 512]`` and split_lse
        ``[rows, splits, heads_k, 1]`` float32, written, with one split in persistent mode and total_q rows in split mode;
        qo_indptr, kv_indptr ``[batch + 1]``, kv_indices ``[n]``, kv_last_page_lens ``[batch]`` int32.
        Persistent mode: work_meta_data ``[2 or more]`` uint64, work_indptr ``[2 or more]`` and work_info_set ``[rows, 8]`` int32.
        Split mode: num_kv_splits_indptr ``[batch + 1]`` int32 instead. q_scale, kv_scale ``[1]`` float32, needed for fp8.
        lse ``[total_q, heads_k]`` float32, written; g_kv_indptr ``[batch + 1]`` int32, needed where cp_world_size > 1.
        heads, q_len: of the problem, before the fold.

        Nothing is launched on an error: ``Refused``, ``ArgumentInvalid``, ``MixedDevices``, ``ModuleNotPrepared``,
        ``HipError``, ``UsedAfterFork`` and those of ``prepare``. With total_q 0 nothing is launched either."""
