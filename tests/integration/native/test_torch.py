"""Real torch tensors through the exchange protocol: what is read from them, and what is refused instead of crashing."""

from __future__ import annotations

import gc
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from aiter_mla_aot.errors import ArgumentInvalid
from aiter_mla_aot.native_types import Native
from tests.integration.native.fake_tensor import FakeTensor
from tests.integration.native.kernarg_block import OFFSETS
from tests.integration.native.recorder import Recorder
from tests.integration.native.stage1_call import NAMES, Call

CALL = Call(lse=True, cp_world_size=2, kv_dtype="float8_e4m3fnuz", pages=4)
POINTERS = {
    "split_data": "ptr_R",
    "split_lse": "ptr_LSE",
    "q": "ptr_Q",
    "kv_buffer": "ptr_KV",
    "kv_indptr": "ptr_LTP",
    "kv_indices": "ptr_LTD",
    "kv_last_page_lens": "ptr_LTL",
    "qo_indptr": "ptr_QTP",
    "work_meta_data": "ptr_STP",
    "o": "ptr_RP",
    "q_scale": "ptr_QSCALE",
    "kv_scale": "ptr_KVSCALE",
    "lse": "final_lse",
    "g_kv_indptr": "global_kv_indptr",
}


@pytest.fixture
def ready(native: Native, kernels: Path) -> Native:
    native.prepare(0, None, kernels)
    return native


def tensors(call: Call = CALL) -> dict[str, Any]:
    return {name: torch.zeros(shape, dtype=getattr(torch, dtype)) for name, (shape, dtype) in call.shapes().items()}


def test_every_pointer_is_the_tensors_own(ready: Native, recorder: Recorder) -> None:
    made = tensors()
    CALL.with_(tensors=made).launch(ready)
    kernarg = bytes.fromhex(recorder.report()["launches"][0]["kernarg"])
    found = {name: struct.unpack_from("<Q", kernarg, OFFSETS[argument])[0] for name, argument in POINTERS.items()}
    assert found == {name: made[name].data_ptr() for name in POINTERS}
    assert set(NAMES) - POINTERS.keys() == {"work_indptr", "work_info_set", "num_kv_splits_indptr"}


def test_a_view_starts_where_the_view_does(ready: Native, recorder: Recorder) -> None:
    whole = torch.zeros((8, 16, 576), dtype=torch.bfloat16)
    CALL.with_(tensors=tensors() | {"q": whole[2:5]}).launch(ready)
    kernarg = bytes.fromhex(recorder.report()["launches"][0]["kernarg"])
    assert struct.unpack_from("<Q", kernarg, OFFSETS["ptr_Q"])[0] == whole.data_ptr() + 2 * 16 * 576 * 2


def test_parameters_and_subclasses_are_tensors(ready: Native, recorder: Recorder) -> None:
    class Marked(torch.Tensor):
        pass

    made = tensors()
    made["q"] = torch.nn.Parameter(made["q"], requires_grad=False)
    made["o"] = made["o"].as_subclass(Marked)
    CALL.with_(tensors=made).launch(ready)
    assert len(recorder.report()["launches"]) == 1


def q_like(kind: str) -> Any:
    shape = (3, 16, 576)
    match kind:
        case "meta":
            return torch.zeros(shape, dtype=torch.bfloat16, device="meta")
        case "fake":
            with FakeTensorMode():
                return torch.zeros(shape, dtype=torch.bfloat16)
        case "sparse":
            return torch.zeros(shape, dtype=torch.bfloat16).to_sparse()
        case "transposed":
            return torch.zeros((16, 3, 576), dtype=torch.bfloat16).transpose(0, 1)
        case "released":
            tensor = torch.zeros(shape, dtype=torch.bfloat16)
            tensor.untyped_storage().resize_(0)
            return tensor
        case "list":
            return [1, 2, 3]
        case _:
            return torch.zeros(shape, dtype=torch.float16)


@pytest.mark.parametrize("kind", ["meta", "fake", "sparse", "transposed", "released", "list", "float16"])
def test_tensors_that_have_no_dense_memory_of_the_right_kind_are_refused(ready: Native, recorder: Recorder, kind: str) -> None:
    with pytest.raises(ArgumentInvalid, match="q is"):
        CALL.with_(tensors=tensors() | {"q": q_like(kind)}).launch(ready)
    assert recorder.report()["launches"] == []


def test_torch_and_other_tensors_may_alternate(ready: Native, recorder: Recorder) -> None:
    made = tensors()
    for name in ("q", "o", "kv_indptr"):
        shape, dtype = CALL.shapes()[name]
        made[name] = FakeTensor(shape, dtype, device=(1, 0))
    for _ in range(3):
        CALL.with_(tensors=made).launch(ready)
    assert len(recorder.report()["launches"]) == 3


def test_references_are_given_back(ready: Native) -> None:
    made = tensors()
    broken = {name: tensor.to(torch.float16) if name == "q" else tensor for name, tensor in made.items()}
    good, bad = CALL.with_(tensors=made), CALL.with_(tensors=broken)
    counted = [*made.values(), broken["q"], torch.Tensor, None, True, False]

    def round_of(calls: int) -> list[int]:
        for _ in range(calls):
            good.launch(ready)
            with pytest.raises(ArgumentInvalid):
                bad.launch(ready)
        gc.collect()
        return [sys.getrefcount(each) for each in counted]

    round_of(10)
    before, after = round_of(10), round_of(2000)
    assert max(abs(late - early) for early, late in zip(before, after, strict=True)) < 100
