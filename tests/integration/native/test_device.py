"""The Python face: the package's own kernels, typed results, agreement with torch, and an extension of another build."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aiter_mla_aot import device, native, native_errors
from aiter_mla_aot.errors import ArgumentInvalid, DeviceUnsupported, MlaError, NativeAbiMismatch, PackageFileMissing
from aiter_mla_aot.native_types import Native
from tests.integration.native.recorder import Recorder

MODULE = "aiter_mla_aot._native"


@pytest.fixture
def package(
    extension: Path, recorder: Recorder, make_native: Callable[[Path], Native], kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Native]:
    """The package with a copy of the extension, the sample kernels and the recorder as HIP."""
    module = make_native(extension)
    module.error_factory = None
    monkeypatch.setitem(sys.modules, MODULE, module)
    monkeypatch.setattr(native, "KERNEL_DIRECTORY", kernels)
    monkeypatch.setattr(device, "KERNEL_DIRECTORY", kernels)
    monkeypatch.setenv("AITER_MLA_AOT_HIP_LIBRARY", str(recorder.path))
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    native.load.cache_clear()
    yield module
    native.load.cache_clear()
    recorder.set_current_device(0)


def fake_torch(*archs: str, current: int = 0, hip: str | None = "7.0", available: bool = True) -> Any:
    cuda = SimpleNamespace(
        is_available=lambda: available,
        device_count=lambda: len(archs),
        current_device=lambda: current,
        get_device_properties=lambda index: SimpleNamespace(gcnArchName=archs[index]),
    )
    return SimpleNamespace(version=SimpleNamespace(hip=hip), cuda=cuda)


def test_hip_is_described(package: Native, recorder: Recorder) -> None:
    assert device.open_hip() == device.HipRuntime(str(recorder.path), "AITER_MLA_AOT_HIP_LIBRARY", 1, True)
    assert device.device_count() == 2


def test_a_device_is_described(package: Native, recorder: Recorder) -> None:
    recorder.set_runtime_version(60_342_134)
    assert device.device_info(1) == device.DeviceInfo(1, "gfx942", "gfx942:sramecc+:xnack-", 304, 64, 65536, "6.3")


@pytest.mark.parametrize(
    ("asked", "index"), [(None, 0), (0, 0), (1, 1), ("cuda:1", 1), ("cuda", 0), (SimpleNamespace(__str__=lambda _: "cuda:1"), None)]
)
def test_prepare_loads_this_packages_kernels(package: Native, asked: Any, index: int | None) -> None:
    if index is None:
        with pytest.raises(ArgumentInvalid, match="device is"):
            device.prepare(asked)
        return
    assert device.prepare(asked).device == index
    assert [device.is_prepared(0), device.is_prepared(1)] == [index == 0, index == 1]


@pytest.mark.parametrize("asked", ["cpu", "cuda:x", "cuda:-1", "hip:0", ""])
def test_names_that_are_no_gpu_are_argument_errors(package: Native, asked: str) -> None:
    if asked == "":
        assert device.prepare(asked).device == 0
        return
    with pytest.raises(ArgumentInvalid, match="device is"):
        device.prepare(asked)


def test_the_default_is_torchs_current_device(package: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch("gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack-", current=1))
    assert device.prepare().device == 1


@pytest.mark.parametrize(
    "torch", [fake_torch("gfx950", hip=None), fake_torch("gfx950", available=False), fake_torch()], ids=["cuda", "cpu", "none"]
)
def test_a_torch_that_does_not_see_the_device_is_not_asked(package: Native, monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert device.prepare(0).arch == "gfx942"


def test_a_torch_that_names_another_arch_is_an_error(package: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", fake_torch("gfx950:sramecc+:xnack-"))
    with pytest.raises(DeviceUnsupported, match="gfx950 for torch and gfx942 for HIP"):
        device.prepare(0)


def test_environment_lists_do_not_steer(package: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ARCHS", "gfx950")
    monkeypatch.setenv("CU_NUM", "1")
    info = device.prepare(0)
    assert (info.arch, info.compute_units) == ("gfx942", 304)


def test_errors_of_the_extension_are_typed_with_cause_and_remedy(package: Native, recorder: Recorder) -> None:
    recorder.set_devices("gfx90a")
    with pytest.raises(DeviceUnsupported) as caught:
        device.prepare(0)
    assert caught.value.fact
    assert "gfx942 or gfx950" in caught.value.cause
    assert caught.value.remedy


def test_an_extension_of_another_build_is_refused(package: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "ABI", native.ABI | {"abi_version": 2})
    with pytest.raises(NativeAbiMismatch):
        device.device_count()


def test_a_package_without_its_extension_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, MODULE, None)
    native.load.cache_clear()
    with pytest.raises(PackageFileMissing, match="extension"):
        device.device_count()


def test_without_a_factory_errors_are_runtime_errors_with_their_code(extension: Path, make_native: Callable[[Path], Native]) -> None:
    plain = make_native(extension)
    plain.error_factory = None
    with pytest.raises(RuntimeError, match="MLA301"):
        plain.hip_open("/nowhere", False)


@pytest.mark.parametrize("code", [101, 102, 201, *range(301, 312)])
def test_every_native_code_makes_the_exception_of_that_code(code: int) -> None:
    error = native_errors.from_native(code, ("one", "two", "three", "four"))
    assert error.code == f"MLA{code}"
    assert error.fact
    assert error.cause
    assert error.remedy


def test_an_unknown_native_code_is_still_an_error() -> None:
    error = native_errors.from_native(999, ("what",))
    assert type(error) is MlaError
    assert "999" in error.fact
