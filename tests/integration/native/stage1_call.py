"""A stage-1 call whose every tensor has an address of its own, for any kernel shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aiter_mla_aot.native_types import Native
from tests.integration.native.fake_tensor import ROCM, FakeTensor

NAMES: Final = (
    "q",
    "kv_buffer",
    "o",
    "split_data",
    "split_lse",
    "qo_indptr",
    "kv_indptr",
    "kv_indices",
    "kv_last_page_lens",
    "work_meta_data",
    "work_indptr",
    "work_info_set",
    "num_kv_splits_indptr",
    "q_scale",
    "kv_scale",
    "lse",
    "g_kv_indptr",
)
"""The tensors in the order of the call."""

FIRST_ADDRESS: Final = 0x7F00_0000_0000
ADDRESSES: Final = {name: FIRST_ADDRESS + 0x1_0000_0000 * number for number, name in enumerate(NAMES)}
STREAM: Final = 0xABC0


@dataclass(frozen=True)
class Call:
    """Scalars of a call and what its tensors have in common; ``tensors`` replaces single ones."""

    heads: int = 16
    kernel_heads: int = 16
    q_len: int = 1
    batch: int = 3
    total_q: int = 3
    page_size: int = 1
    pages: int = 40
    persistent: bool = True
    splits: int = 1
    workgroups: int = 304
    q_dtype: str = "bfloat16"
    kv_dtype: str = "bfloat16"
    scales: bool = True
    lse: bool = False
    cp_world_size: int = 1
    cp_rank: int = 0
    sm_scale: float = 0.0416
    causal: bool = True
    ragged: bool = False
    sparse: bool = False
    device: tuple[int, int] = (ROCM, 0)
    stream: int = STREAM
    tensors: Mapping[str, Any] = field(default_factory=dict)

    def with_(self, **changes: Any) -> Call:
        return replace(self, **changes)

    def with_tensor(self, name: str, tensor: Any) -> Call:
        return replace(self, tensors={**self.tensors, name: tensor})

    def shapes(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and dtype of every tensor that the call passes."""
        rows = 77 if self.persistent else self.total_q
        found: dict[str, tuple[tuple[int, ...], str]] = {
            "q": ((self.total_q, self.kernel_heads, 576), self.q_dtype),
            "kv_buffer": ((self.pages, self.page_size, 1, 576), self.kv_dtype),
            "o": ((self.total_q, self.kernel_heads, 512), "bfloat16"),
            "split_data": ((rows, self.splits, self.kernel_heads, 512), "float32"),
            "split_lse": ((rows, self.splits, self.kernel_heads, 1), "float32"),
            "qo_indptr": ((self.batch + 1,), "int32"),
            "kv_indptr": ((self.batch + 1,), "int32"),
            "kv_indices": ((30,), "int32"),
            "kv_last_page_lens": ((self.batch,), "int32"),
        }
        if self.persistent:
            found["work_meta_data"] = ((2,), "uint64")
            found["work_indptr"] = ((self.workgroups + 1,), "int32")
            found["work_info_set"] = ((50, 8), "int32")
        else:
            found["num_kv_splits_indptr"] = ((self.batch + 1,), "int32")
        if self.scales:
            found |= {"q_scale": ((1,), "float32"), "kv_scale": ((1,), "float32")}
        if self.lse:
            found["lse"] = ((self.total_q, self.kernel_heads), "float32")
        if self.cp_world_size > 1:
            found["g_kv_indptr"] = ((self.batch + 1,), "int32")
        return found

    def launch(self, native: Native) -> None:
        """Makes the call."""
        shapes = self.shapes()
        tensors: dict[str, Any] = {
            name: FakeTensor(*shapes[name], address=ADDRESSES[name], device=self.device) if name in shapes else None for name in NAMES
        }
        tensors |= self.tensors
        launch: Any = native.launch_stage1
        launch(
            self.stream,
            *tensors.values(),
            self.batch,
            self.heads,
            self.q_len,
            self.sm_scale,
            self.causal,
            self.ragged,
            self.sparse,
            self.cp_world_size,
            self.cp_rank,
        )
