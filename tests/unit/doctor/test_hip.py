"""The doctor finds HIP libraries without loading one, and torch without importing it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aiter_mla_aot import device
from aiter_mla_aot.device import DeviceInfo, HipRuntime
from aiter_mla_aot.doctor import hip
from aiter_mla_aot.errors import HipNotFound

MAPPED = "7f00-7f01 r-xp 00000000 08:01 42   /opt/venv/lib/torch/lib/libamdhip64.so\n7f02-7f03 rw-p 00000000 00:00 0 \n"


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip, "torch_directory", lambda: None)


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    path = tmp_path / "maps"
    path.write_text(MAPPED)
    return path


def fake_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "torch/lib").mkdir(parents=True)
    (tmp_path / "torch/__init__.py").write_text("raise RuntimeError('the doctor must not import torch')\n")
    (tmp_path / "torch/version.py").write_text(text)
    (tmp_path / "torch/lib/libamdhip64.so").touch()
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_torch_is_read_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_torch(tmp_path, monkeypatch, "__version__ = '2.9.1+rocm7.1'\nhip: str | None = '7.1.25424'\n")
    check = hip.torch()
    assert (check.status, check.facts["version"], check.facts["hip"]) == ("ok", "2.9.1+rocm7.1", "7.1.25424")
    assert "torch" not in sys.modules


@pytest.mark.parametrize("text", ["__version__ = '2.13.0+cpu'\nhip = None\n", "not python(", ""])
def test_a_torch_without_rocm_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    fake_torch(tmp_path, monkeypatch, text)
    assert hip.torch().status == "note"


def test_no_torch_is_a_note(no_torch: None) -> None:
    assert hip.torch().status == "note"


def test_no_library_anywhere_is_a_note(tmp_path: Path, no_torch: None) -> None:
    check = hip.library({}, tmp_path, tmp_path / "none")
    assert (check.status, check.facts["present"]) == ("note", [])


def test_libraries_on_the_machine_are_listed_once_and_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_torch(tmp_path, monkeypatch, "")
    monkeypatch.setattr(device, "open_hip", lambda: pytest.fail("no library may be loaded"))
    lib = tmp_path / "opt/rocm-7.1/lib"
    lib.mkdir(parents=True)
    (lib / "libamdhip64.so.7.1").touch()
    (lib / "libamdhip64.so.7").symlink_to("libamdhip64.so.7.1")
    (tmp_path / "opt/rocm").symlink_to("rocm-7.1")
    check = hip.library({"LD_LIBRARY_PATH": f"{lib}:", "ROCM_PATH": str(tmp_path / "opt/rocm")}, tmp_path, tmp_path / "none")
    assert check.status == "note"
    assert check.facts["present"] == [str(tmp_path / "torch/lib/libamdhip64.so"), str(lib / "libamdhip64.so.7")]


def test_a_loaded_library_is_found(maps: Path) -> None:
    assert hip.loaded(maps) == ["/opt/venv/lib/torch/lib/libamdhip64.so"]


def describe(monkeypatch: pytest.MonkeyPatch, copies: int = 1, emulated: bool = False) -> None:
    info = DeviceInfo(0, "gfx942", "gfx942:sramecc+:xnack-", 304, 64, 65536, "7.1")
    monkeypatch.setattr(device, "open_hip", lambda: HipRuntime("/opt/lib/libamdhip64.so", "loaded", copies, emulated))
    monkeypatch.setattr(device, "device_count", lambda: 1)
    monkeypatch.setattr(device, "device_info", lambda number: info)


def test_devices_of_a_loaded_library_are_described(tmp_path: Path, maps: Path, no_torch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch)
    check = hip.library({}, tmp_path, maps)
    assert check.status == "ok"
    assert "gfx942:sramecc+:xnack- with 304 CUs, HIP 7.1" in check.text
    assert check.facts["devices"][0]["arch"] == "gfx942"


def test_two_libraries_in_one_process_are_a_warning(tmp_path: Path, maps: Path, no_torch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch, copies=2)
    assert hip.library({}, tmp_path, maps).status == "warning"


def test_an_emulator_is_called_so(tmp_path: Path, no_torch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch, emulated=True)
    check = hip.library({hip.VARIABLE: "/x/libaiter_mla_emulator.so"}, tmp_path, tmp_path / "none")
    assert check.status == "note"
    assert check.text.startswith("EMULATED")


def test_an_error_of_the_library_is_a_warning_with_its_text(
    tmp_path: Path, maps: Path, no_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> HipRuntime:
        raise HipNotFound("no HIP library", cause="because")

    monkeypatch.setattr(device, "open_hip", fail)
    check = hip.library({}, tmp_path, maps)
    assert check.status == "warning"
    assert "because" in check.text
