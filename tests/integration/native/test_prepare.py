"""Loading kernels: verified bytes, the device and the run time they need, and what stays true when something fails."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.errors import (
    ArgumentInvalid,
    DeviceUnsupported,
    HipError,
    MlaError,
    ObjectForOtherArch,
    ObjectHashMismatch,
    ObjectNeedsNewerRocm,
    PackageFileMissing,
    TargetIdMismatch,
)
from aiter_mla_aot.native_types import Native
from tests.integration.native.fake_objects import fake_object
from tests.integration.native.native_build import build_extension
from tests.integration.native.recorder import Recorder
from tests.integration.native.sample_table import FILES, KERNELS, PERSISTENT, sample_header

GFX942 = [kernel for kernel in KERNELS if kernel.arch == "gfx942"]


def test_every_kernel_of_the_devices_arch_is_loaded_and_no_other(native: Native, recorder: Recorder, kernels: Path) -> None:
    native.prepare(1, None, kernels)
    loads = recorder.report()["loads"]
    assert [(load["device"], load["sha256"], load["size"]) for load in loads] == [
        (1, hashlib.sha256(kernel.image).hexdigest(), len(kernel.image)) for kernel in GFX942
    ]
    assert (native.is_prepared(0), native.is_prepared(1)) == (False, True)


def test_bytes_may_come_from_a_mapping(native: Native, recorder: Recorder) -> None:
    native.prepare(0, "gfx942", FILES)
    assert len(recorder.report()["loads"]) == len(GFX942)


def test_a_mapping_must_hold_bytes(native: Native) -> None:
    files: dict[str, Any] = {**FILES, "gfx942/split.co": "text"}
    with pytest.raises(ArgumentInvalid, match=r"gfx942/split\.co is another type"):
        native.prepare(0, None, files)


def test_a_second_call_loads_nothing_and_reads_nothing(native: Native, recorder: Recorder, kernels: Path) -> None:
    native.prepare(0, None, kernels)
    native.prepare(0, None, {})
    assert len(recorder.report()["loads"]) == len(GFX942)


def test_a_second_device_uses_the_bytes_that_were_verified(native: Native, recorder: Recorder, kernels: Path) -> None:
    native.prepare(0, None, kernels)
    native.prepare(1, None, {})
    assert [load["device"] for load in recorder.report()["loads"]] == [0] * len(GFX942) + [1] * len(GFX942)


def test_threads_that_prepare_at_once_load_each_kernel_once(native: Native, recorder: Recorder, kernels: Path) -> None:
    recorder.set_devices(*["gfx942:sramecc+:xnack-"] * 4)
    start = threading.Barrier(16)
    failures: list[MlaError] = []

    def work(device: int) -> None:
        start.wait()
        try:
            native.prepare(device, None, kernels)
        except MlaError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number % 4,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    devices = [load["device"] for load in recorder.report()["loads"]]
    assert {device: devices.count(device) for device in range(4)} == dict.fromkeys(range(4), len(GFX942))


@pytest.mark.parametrize("current", [0, 1])
def test_the_current_device_stays_current(native: Native, recorder: Recorder, kernels: Path, current: int) -> None:
    recorder.set_current_device(current)
    native.prepare(1, None, kernels)
    assert recorder.report()["current_device"] == current


@pytest.mark.parametrize("position", [0, 40, -1])
def test_a_flipped_bit_is_an_error_that_names_both_hashes(native: Native, recorder: Recorder, kernels: Path, position: int) -> None:
    path = kernels / "gfx942" / KERNELS[PERSISTENT].file
    damaged = bytearray(path.read_bytes())
    damaged[position] ^= 4
    path.write_bytes(damaged)
    with pytest.raises(ObjectHashMismatch) as caught:
        native.prepare(0, None, kernels)
    assert hashlib.sha256(damaged).hexdigest() in caught.value.fact
    assert hashlib.sha256(KERNELS[PERSISTENT].image).hexdigest() in caught.value.cause
    assert recorder.report()["loads"] == []


@pytest.mark.parametrize(
    "change", [lambda image: b"", lambda image: image[:-1], lambda image: image + b"\0"], ids=["empty", "short", "long"]
)
def test_a_file_of_another_size_has_another_hash(native: Native, kernels: Path, change: Callable[[bytes], bytes]) -> None:
    path = kernels / "gfx942" / "ps.co"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ObjectHashMismatch, match=r"ps\.co"):
        native.prepare(0, None, kernels)


def test_a_missing_file_is_named(native: Native, kernels: Path) -> None:
    (kernels / "gfx942" / "split.co").unlink()
    with pytest.raises(PackageFileMissing, match=r"gfx942/split\.co"):
        native.prepare(0, None, kernels)
    with pytest.raises(PackageFileMissing, match=r"gfx942/split\.co"):
        native.prepare(0, None, {name: image for name, image in FILES.items() if "split.co" not in name})


def test_a_directory_in_place_of_a_file_is_named(native: Native, kernels: Path) -> None:
    (kernels / "gfx942" / "split.co").unlink()
    (kernels / "gfx942" / "split.co").mkdir()
    with pytest.raises(PackageFileMissing, match=r"gfx942/split\.co"):
        native.prepare(0, None, kernels)


def test_what_was_loaded_before_a_failure_is_unloaded_and_can_be_loaded_again(native: Native, recorder: Recorder, kernels: Path) -> None:
    recorder.set_current_device(1)
    recorder.inject("hipModuleLoadData", 2, skip=3)
    with pytest.raises(HipError, match="hipErrorOutOfMemory"):
        native.prepare(0, None, kernels)
    report = recorder.report()
    assert [load["unloaded"] for load in report["loads"]] == [True] * 3
    assert report["current_device"] == 1
    assert not native.is_prepared(0)
    native.prepare(0, None, kernels)
    assert [load["unloaded"] for load in recorder.report()["loads"]] == [True] * 3 + [False] * len(GFX942)


@pytest.mark.parametrize(
    "call",
    [
        "hipGetDeviceCount",
        "hipGetDevicePropertiesR0600",
        "hipDeviceGetAttribute",
        "hipRuntimeGetVersion",
        "hipGetDevice",
        "hipSetDevice",
        "hipModuleLoadData",
        "hipModuleGetFunction",
    ],
)
def test_a_failing_hip_call_is_named_with_hips_own_words_and_leaves_no_last_error(
    native: Native, recorder: Recorder, kernels: Path, call: str
) -> None:
    recorder.inject(call, 209)
    with pytest.raises(HipError) as caught:
        native.prepare(1, None, kernels)
    assert caught.value.fact == f"{call} failed: hipErrorNoBinaryForGpu (209)"
    assert caught.value.cause == "no kernel image is available"
    assert recorder.last_error() == 0
    assert recorder.report()["current_device"] == 0


def test_a_failure_to_restore_the_device_is_reported(native: Native, recorder: Recorder, kernels: Path) -> None:
    recorder.inject("hipSetDevice", 101, skip=1)
    with pytest.raises(HipError, match="hipSetDevice"):
        native.prepare(1, None, kernels)


@pytest.mark.parametrize("device", [-1, 2, 64, 1 << 40])
def test_an_index_without_a_device_is_an_argument_error(native: Native, kernels: Path, device: int) -> None:
    with pytest.raises(ArgumentInvalid, match="device"):
        native.prepare(device, None, kernels)


@pytest.mark.parametrize(
    ("target_id", "warp_size"),
    [("gfx90a:sramecc+:xnack-", 64), ("gfx1100", 32), ("gfx942:sramecc+:xnack-", 32), ("", 64), ("AMD Instinct", 64), ("gfx", 64)],
)
def test_devices_that_the_wheel_does_not_serve_are_refused(
    native: Native, recorder: Recorder, kernels: Path, target_id: str, warp_size: int
) -> None:
    recorder.set_devices(target_id, warp_size=warp_size)
    with pytest.raises(DeviceUnsupported):
        native.prepare(0, None, kernels)


def test_the_callers_arch_must_be_the_devices(native: Native, kernels: Path) -> None:
    with pytest.raises(ObjectForOtherArch, match="gfx950"):
        native.prepare(0, "gfx950", kernels)
    native.prepare(0, "gfx942", kernels)
    with pytest.raises(ObjectForOtherArch, match="gfx950"):
        native.prepare(0, "gfx950", kernels)
    with pytest.raises(ArgumentInvalid, match="arch"):
        native.prepare(0, "gfx90a", kernels)


def test_an_object_whose_flags_name_another_arch_is_refused(
    tmp_path: Path, recorder: Recorder, make_native: Callable[[Path], Native]
) -> None:
    foreign = replace(KERNELS[PERSISTENT], image=fake_object("k_ps", "gfx950"))
    native = make_native(build_extension(sample_header((foreign, *KERNELS[1:])), tmp_path / "foreign"))
    native.hip_open(recorder.path, False)
    with pytest.raises(ObjectForOtherArch, match=r"ps\.co"):
        native.prepare(0, None, FILES | {"gfx942/ps.co": foreign.image})
    assert recorder.report()["loads"] == []


@pytest.mark.parametrize(
    ("target_id", "wanted"),
    [
        ("gfx942:sramecc-:xnack-", r"sramecc\+"),  # ps_rows.co is fixed to sramecc+
        ("gfx942:xnack-", r"sramecc\+"),
        ("gfx942", r"sramecc\+"),
        ("gfx942:sramecc+:xnack+", "xnack-"),  # wide.co is fixed to xnack-
        ("gfx942:sramecc+", "xnack-"),
    ],
)
def test_an_object_with_a_fixed_setting_is_refused_on_a_device_with_another(
    native: Native, recorder: Recorder, kernels: Path, target_id: str, wanted: str
) -> None:
    recorder.set_devices(target_id)
    with pytest.raises(TargetIdMismatch, match=wanted) as caught:
        native.prepare(0, None, kernels)
    assert target_id in caught.value.fact
    assert all(load["unloaded"] for load in recorder.report()["loads"])


@pytest.mark.parametrize(("version", "loads"), [(60_241_134, False), (60_342_134, True), (70_051_831, True)])
def test_version_6_objects_need_rocm_6_3(native: Native, recorder: Recorder, kernels: Path, version: int, loads: bool) -> None:
    recorder.set_devices("gfx950:sramecc+:xnack-")
    recorder.set_runtime_version(version)
    if loads:
        native.prepare(0, None, kernels)
    else:
        with pytest.raises(ObjectNeedsNewerRocm, match=r"newer\.co needs ROCm 6\.3, this process runs ROCm 6\.2"):
            native.prepare(0, None, kernels)


def test_device_info_comes_from_the_device(native: Native, recorder: Recorder) -> None:
    recorder.set_devices("gfx942:sramecc+:xnack-", "gfx950:sramecc+:xnack-", compute_units=80)
    recorder.set_runtime_version(60_342_134)
    assert native.device_count() == 2
    assert native.device_info(1) == {
        "device": 1,
        "arch": "gfx950",
        "target_id": "gfx950:sramecc+:xnack-",
        "compute_units": 80,
        "warp_size": 64,
        "lds_bytes": 163840,
        "major": 9,
        "minor": 5,
        "runtime_version": 60_342_134,
    }


def test_no_visible_device_is_hips_error(native: Native, recorder: Recorder) -> None:
    recorder.set_devices()
    with pytest.raises(HipError, match="hipErrorNoDevice"):
        native.device_count()


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000, 100_003])
def test_sha256_is_that_of_the_standard(native: Native, size: int) -> None:
    data = bytes(number * 7 % 251 for number in range(size))
    assert native.sha256(data) == hashlib.sha256(data).hexdigest()


def test_junk_is_rejected_by_the_recorder_as_by_a_loader(recorder: Recorder, tmp_path: Path, make_native: Callable[[Path], Native]) -> None:
    junk = replace(KERNELS[PERSISTENT], image=fake_object("k_ps").replace(b"\x7fELF", b"JUNK"))
    native = make_native(build_extension(sample_header((junk, *KERNELS[1:])), tmp_path / "junk"))
    native.hip_open(recorder.path, False)
    with pytest.raises(HipError, match="hipErrorInvalidImage"):
        native.prepare(0, None, FILES | {"gfx942/ps.co": junk.image})


def test_a_symbol_that_the_object_lacks_is_hips_error(recorder: Recorder, tmp_path: Path, make_native: Callable[[Path], Native]) -> None:
    other = replace(KERNELS[PERSISTENT], symbol="k_other")
    native = make_native(build_extension(sample_header((other, *KERNELS[1:])), tmp_path / "other"))
    native.hip_open(recorder.path, False)
    with pytest.raises(HipError, match=r"hipModuleGetFunction failed: hipErrorNotFound \(500\)"):
        native.prepare(0, None, FILES)
