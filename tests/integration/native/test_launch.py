"""Launching: kernel arguments byte for byte, grid, device and stream, and everything that stops a launch."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.errors import (
    ArgumentInvalid,
    HipError,
    InvalidProblem,
    MixedDevices,
    MlaError,
    ModuleNotPrepared,
    ObjectHashMismatch,
    Refused,
    UsedAfterFork,
)
from aiter_mla_aot.native_types import Native
from tests.integration.native.fake_tensor import CPU, CUDA, ROCM, FakeTensor, capsule
from tests.integration.native.kernarg_block import expected_block
from tests.integration.native.native_build import link_recorder
from tests.integration.native.recorder import Recorder
from tests.integration.native.sample_table import KERNELS, PERSISTENT, ROWS, SPLIT, SPLIT_NULL, WIDE
from tests.integration.native.stage1_call import NAMES, STREAM, Call


@pytest.fixture
def ready(native: Native, kernels: Path) -> Native:
    """Both devices prepared."""
    for device in range(2):
        native.prepare(device, None, kernels)
    return native


RECIPES = [
    pytest.param(Call(heads=16, q_len=1), PERSISTENT, 16, (304, 1, 1), id="persistent"),
    pytest.param(Call(heads=128, q_len=6, workgroups=80), PERSISTENT, 64, (80, 1, 1), id="persistent, folded"),
    pytest.param(Call(heads=16, q_len=3, page_size=64), PERSISTENT, 48, (304, 1, 1), id="persistent, pages"),
    pytest.param(Call(heads=32, kernel_heads=32, q_len=3), ROWS, 32, (304, 1, 1), id="persistent_rows"),
    pytest.param(Call(heads=16, q_len=3, persistent=False, splits=5), SPLIT, 48, (1, 3, 5), id="split_direct"),
    pytest.param(Call(heads=16, q_len=7, persistent=False, splits=4), SPLIT_NULL, 112, (2, 3, 4), id="split_null"),
    pytest.param(Call(heads=16, lse=True, cp_world_size=8, cp_rank=5), WIDE, 16, (304, 1, 1), id="lse and context parallel"),
    pytest.param(Call(q_dtype="float8_e4m3fnuz", kv_dtype="float8_e4m3fnuz"), PERSISTENT, 16, (304, 1, 1), id="fp8"),
    pytest.param(Call(kv_dtype="float8_e4m3fnuz", q_len=2), PERSISTENT, 32, (304, 1, 1), id="fp8 KV"),
    pytest.param(Call(scales=False), PERSISTENT, 16, (304, 1, 1), id="no scales"),
]


@pytest.mark.parametrize(("call", "kernel", "rows", "grid"), RECIPES)
def test_the_kernel_gets_its_arguments_byte_for_byte(
    ready: Native, recorder: Recorder, call: Call, kernel: int, rows: int, grid: tuple[int, int, int]
) -> None:
    call.launch(ready)
    (launch,) = recorder.report()["launches"]
    row = KERNELS[kernel]
    assert launch["function"] == row.symbol
    assert launch["sha256"] == ready.sha256(row.image)
    assert launch["size"] == row.kernarg_size
    assert launch["kernarg"] == expected_block(call, row.recipe, rows, row.kernarg_size).hex()
    assert (launch["grid"], launch["block"], launch["shared_bytes"]) == (list(grid), [256, 1, 1], 0)


@pytest.mark.parametrize("device_type", [CUDA, ROCM, CPU])
@pytest.mark.parametrize("current", [0, 1])
@pytest.mark.parametrize("device", [0, 1])
def test_the_launch_goes_to_the_tensors_device_and_the_current_one_is_restored(
    ready: Native, recorder: Recorder, current: int, device: int, device_type: int
) -> None:
    recorder.set_current_device(current)
    Call(device=(device_type, device)).launch(ready)
    report = recorder.report()
    assert [launch["device"] for launch in report["launches"]] == [device]
    assert report["current_device"] == current


def test_the_current_device_is_not_set_when_it_is_the_tensors(ready: Native, recorder: Recorder) -> None:
    before = recorder.report()["set_device_calls"]
    Call().launch(ready)
    assert recorder.report()["set_device_calls"] == before


@pytest.mark.parametrize("stream", [0, 1, STREAM, 0xFFFF_FFFF_FFFF_FFFF])
def test_the_launch_goes_to_the_given_stream(ready: Native, recorder: Recorder, stream: int) -> None:
    Call(stream=stream).launch(ready)
    assert [launch["stream"] for launch in recorder.report()["launches"]] == [stream]


@pytest.mark.parametrize("call", ["hipGetDevice", "hipSetDevice", "hipModuleLaunchKernel"])
def test_a_failing_launch_restores_the_device_and_leaves_no_last_error(ready: Native, recorder: Recorder, call: str) -> None:
    recorder.inject(call, 400)
    with pytest.raises(HipError, match=f"{call} failed: hipErrorInvalidHandle"):
        Call(device=(ROCM, 1)).launch(ready)
    assert recorder.report()["current_device"] == 0
    assert recorder.last_error() == 0


def test_a_byte_offset_is_added_to_the_address(ready: Native, recorder: Recorder) -> None:
    Call().with_tensor("q", FakeTensor((3, 16, 576), "bfloat16", address=0x1000, byte_offset=0x240)).launch(ready)
    kernarg = bytes.fromhex(recorder.report()["launches"][0]["kernarg"])
    assert struct.unpack_from("<Q", kernarg, 0x20) == (0x1240,)


def test_no_query_token_means_no_launch(ready: Native, recorder: Recorder) -> None:
    Call(total_q=0).with_tensor("q", FakeTensor((0, 16, 576), "bfloat16", address=0)).launch(ready)
    assert recorder.report()["launches"] == []


def test_threads_launch_on_their_own_devices(ready: Native, recorder: Recorder) -> None:
    failures: list[MlaError] = []

    def work(device: int) -> None:
        recorder.set_current_device(1 - device)
        for _ in range(50):
            try:
                Call(device=(ROCM, device)).launch(ready)
            except MlaError as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(number % 2,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    devices = [launch["device"] for launch in recorder.report()["launches"]]
    assert (devices.count(0), devices.count(1)) == (100, 100)


PERSISTENT_CALL = Call(lse=True, cp_world_size=2)
SPLIT_CALL = Call(persistent=False, splits=2)


@pytest.mark.parametrize(
    ("call", "name"), [(call, name) for call in (PERSISTENT_CALL, SPLIT_CALL) for name in call.shapes() if name != "q"], ids=str
)
def test_a_tensor_on_another_device_is_named(ready: Native, recorder: Recorder, call: Call, name: str) -> None:
    shape, dtype = call.shapes()[name]
    for device in ((ROCM, 1), (CUDA, 0)):
        with pytest.raises(MixedDevices, match=f"{name} is on device"):
            call.with_tensor(name, FakeTensor(shape, dtype, device=device)).launch(ready)
    assert recorder.report()["launches"] == []


@pytest.mark.parametrize("call", [PERSISTENT_CALL, SPLIT_CALL], ids=["persistent", "split"])
def test_every_tensor_must_have_its_dtype_axes_layout_and_memory(ready: Native, recorder: Recorder, call: Call) -> None:
    for name, (shape, dtype) in call.shapes().items():
        swapped = [*shape[:-1], shape[-1] + 1] if shape[-1] != 1 else [*shape[:-1], 2]
        wrong = {
            "dtype": FakeTensor(shape, "float16"),
            "axes": FakeTensor((*shape, 1), dtype),
            "no memory": FakeTensor(shape, dtype, address=0),
            "last axis": FakeTensor(swapped, dtype),
            "not readable": FakeTensor(shape, dtype, unreadable=True),
            "not a tensor": 7,
        }
        if shape[0] > 1:
            wrong["strides"] = FakeTensor(shape, dtype, strides=[2 * step for step in _steps(shape)])
        if name == "kv_indices":
            del wrong["last axis"]
        if name in {"work_meta_data", "work_indptr"}:
            wrong["last axis"] = FakeTensor((1,), dtype)
        for what, tensor in wrong.items():
            with pytest.raises((ArgumentInvalid, Refused), match=rf"{name} is|head_dims") as caught:
                call.with_tensor(name, tensor).launch(ready)
            assert what == "last axis" or isinstance(caught.value, ArgumentInvalid)
    assert recorder.report()["launches"] == []


def _steps(shape: tuple[int, ...]) -> list[int]:
    steps = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * shape[axis + 1]
    return steps


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Call().with_tensor("q", FakeTensor((3, 8, 576), "bfloat16")), r"q is \[3, 8, 576\] bfloat16"),
        (Call().with_tensor("q", FakeTensor((3, 16, 576), "float8_e4m3fn")), "q is float8_e4m3fn"),
        (Call().with_tensor("kv_buffer", FakeTensor((40, 1, 1, 576), "float8_e4m3fn")), "kv_buffer is float8_e4m3fn"),
        (Call().with_tensor("kv_buffer", FakeTensor((40, 1, 2, 576), "bfloat16")), "kv_buffer is"),
        (Call().with_tensor("o", FakeTensor((4, 16, 512), "bfloat16")), r"o is \[4, 16, 512\]"),
        (Call().with_tensor("qo_indptr", FakeTensor((3,), "int32")), "qo_indptr is"),
        (Call().with_tensor("qo_indptr", None), "qo_indptr is None"),
        (Call().with_tensor("kv_last_page_lens", FakeTensor((4,), "int32")), "kv_last_page_lens is"),
        (Call().with_tensor("split_data", FakeTensor((77, 2, 16, 512), "float32")), "split_data is"),
        (Call().with_tensor("split_lse", FakeTensor((76, 1, 16, 1), "float32")), "split_lse is"),
        (SPLIT_CALL.with_tensor("split_lse", FakeTensor((3, 1, 16, 1), "float32")), "split_lse is"),
        (Call().with_tensor("work_info_set", FakeTensor((0, 8), "int32")), "work_info_set is"),
        (Call().with_tensor("work_meta_data", None), "num_kv_splits_indptr is neither"),
        (Call().with_tensor("num_kv_splits_indptr", FakeTensor((4,), "int32")), "num_kv_splits_indptr is both"),
        (SPLIT_CALL.with_tensor("work_indptr", FakeTensor((4,), "int32")), "work_indptr is a tensor"),
        (Call(q_dtype="float8_e4m3fnuz", kv_dtype="float8_e4m3fnuz").with_tensor("q_scale", None), "q_scale is None"),
        (Call(kv_dtype="float8_e4m3fnuz").with_tensor("kv_scale", None), "kv_scale is None"),
        (Call(cp_world_size=4).with_tensor("g_kv_indptr", None), "g_kv_indptr is None"),
        (Call(cp_world_size=4, cp_rank=4), "cp_rank is 4"),
        (Call(cp_rank=-1), "cp_rank is -1"),
        (Call(device=(CPU + 2, 0)), "q is a tensor on another kind of device"),
    ],
)
def test_what_does_not_fit_is_named_with_what_was_expected(ready: Native, recorder: Recorder, call: Call, message: str) -> None:
    with pytest.raises(ArgumentInvalid, match=message):
        call.launch(ready)
    assert recorder.report()["launches"] == []


@pytest.mark.parametrize("changes", [{"heads": 0}, {"heads": 129}, {"q_len": 17}, {"cp_world_size": 0}, {"heads": 1 << 40}], ids=str)
def test_impossible_problems_are_invalid(ready: Native, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblem, match=next(iter(changes))):
        Call(**changes).launch(ready)


@pytest.mark.parametrize("changes", [{"sparse": True}, {"kv_dtype": "uint8"}, {"pages": 1 << 23, "page_size": 1}], ids=str)
def test_refused_problems_are_not_launched(ready: Native, recorder: Recorder, changes: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="none_fits"):
        Call(**changes).launch(ready)
    assert recorder.report()["launches"] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("stream", "0"), ("batch", "3"), ("heads", None), ("q_len", 1.5), ("sm_scale", "1"), ("causal", 1), ("ragged", None), ("cp_rank", ())],
)
def test_scalars_of_another_type_are_named(ready: Native, name: str, value: Any) -> None:
    scalars: dict[str, Any] = {
        "stream": 0,
        "batch": 3,
        "heads": 16,
        "q_len": 1,
        "sm_scale": 1.0,
        "causal": True,
        "ragged": False,
        "sparse": False,
        "cp_world_size": 1,
        "cp_rank": 0,
    }
    stream, *others = (scalars | {name: value}).values()
    launch: Any = ready.launch_stage1
    with pytest.raises(ArgumentInvalid, match=f"{name} is"):
        launch(stream, *[None] * len(NAMES), *others)


def test_cpu_tensors_are_refused_by_a_hip_that_is_no_emulator(
    extension: Path, recorder_parts: list[Path], tmp_path: Path, make_native: Callable[[Path], Native], kernels: Path
) -> None:
    versions = tmp_path / "plain.map"
    versions.write_text("hip_4.2 { global: hipG*; hipS*; hipD*; hipM*; hipR*; local: *; };\n")
    plain = make_native(extension)
    found = plain.hip_open(link_recorder(recorder_parts, tmp_path / "plain.so", "libamdhip64.so.7", versions=versions), False)
    assert found["takes_host_memory"] is False
    plain.prepare(0, None, kernels)
    Call(device=(ROCM, 0)).launch(plain)
    with pytest.raises(ArgumentInvalid, match="q is a tensor on the CPU"):
        Call(device=(CPU, 0)).launch(plain)


def test_the_number_of_arguments_is_checked(ready: Native) -> None:
    launch: Any = ready.launch_stage1
    with pytest.raises(TypeError, match="27"):
        launch(0)


def test_a_table_of_another_major_version_is_not_used(ready: Native) -> None:
    old, old_table = capsule(major=1)
    new, new_table = capsule(major=2)
    chained, chained_table = capsule(major=2, previous=old_table)
    for held, works in ((old, True), (new, False), (chained, True)):
        kind = type("Other", (FakeTensor,), {"__dlpack_c_exchange_api__": held})
        call = Call().with_tensor("q", kind((3, 16, 576), "bfloat16"))
        if works:
            call.launch(ready)
        else:
            with pytest.raises(ArgumentInvalid, match="q is Other"):
                call.launch(ready)
    assert (old_table.major, new_table.major, chained_table.major) == (1, 2, 2)


def test_kernels_are_loaded_on_first_use_from_the_package(native: Native, recorder: Recorder, kernels: Path) -> None:
    native.set_kernel_directory(kernels)
    Call(device=(ROCM, 1)).launch(native)
    assert (native.is_prepared(0), native.is_prepared(1)) == (False, True)
    assert len(recorder.report()["launches"]) == 1


def test_a_damaged_kernel_is_caught_on_first_use(native: Native, recorder: Recorder, kernels: Path) -> None:
    path = kernels / "gfx942" / "ps.co"
    path.write_bytes(path.read_bytes().replace(b"k_ps", b"k_pz"))
    native.set_kernel_directory(kernels)
    with pytest.raises(ObjectHashMismatch):
        Call().launch(native)
    assert recorder.report()["launches"] == []


def test_under_capture_nothing_is_loaded_and_the_error_names_prepare(native: Native, recorder: Recorder, kernels: Path) -> None:
    native.set_kernel_directory(kernels)
    recorder.set_capturing(STREAM)
    with pytest.raises(ModuleNotPrepared) as caught:
        Call(device=(ROCM, 1)).launch(native)
    assert "aiter_mla_aot.prepare(1)" in caught.value.remedy
    assert recorder.report()["loads"] == []
    native.prepare(1, None, kernels)
    Call(device=(ROCM, 1)).launch(native)
    assert len(recorder.report()["launches"]) == 1


def test_without_kernels_to_load_the_error_names_prepare(native: Native) -> None:
    with pytest.raises(ModuleNotPrepared, match="no kernel directory"):
        Call().launch(native)


def test_a_failing_capture_query_is_hips_error(native: Native, recorder: Recorder) -> None:
    recorder.inject("hipStreamIsCapturing", 400)
    with pytest.raises(HipError, match="hipStreamIsCapturing"):
        Call().launch(native)


def in_child(work: Callable[[], None]) -> str:
    """Runs ``work`` in a fork of this process; returns the code of the error it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"no error"
        try:
            work()
        except MlaError as error:
            answer = error.code.encode()
        os.write(writing, answer)
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read().decode()


def test_a_fork_may_not_use_hip(ready: Native, kernels: Path) -> None:
    assert in_child(lambda: Call().launch(ready)) == UsedAfterFork.code
    assert in_child(lambda: ready.prepare(0, None, kernels)) == UsedAfterFork.code
    assert in_child(lambda: (ready.device_count(), None)[1]) == UsedAfterFork.code
    assert in_child(lambda: (ready.hip_open(None, False), None)[1]) == UsedAfterFork.code
    Call().launch(ready)


def test_a_fork_may_open_hip_where_the_parent_did_not(
    extension: Path, recorder: Recorder, make_native: Callable[[Path], Native], kernels: Path
) -> None:
    fresh = make_native(extension)

    def work() -> None:
        fresh.hip_open(recorder.path, False)
        fresh.prepare(0, None, kernels)
        Call().launch(fresh)

    assert in_child(work) == "no error"
