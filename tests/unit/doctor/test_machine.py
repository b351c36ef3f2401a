"""The doctor reads the machine right, and a machine without a GPU is a normal one."""

from __future__ import annotations

import os
import platform
import sysconfig
from pathlib import Path

import pytest

from aiter_mla_aot.doctor import machine

ARCHS = ("gfx942", "gfx950")


def node(root: Path, number: int, target: int, simds: int) -> None:
    directory = root / f"sys/class/kfd/kfd/topology/nodes/{number}"
    directory.mkdir(parents=True)
    (directory / "properties").write_text(f"cpu_cores_count 0\nsimd_count {simds}\nsimd_per_cu 4\ngfx_target_version {target}\n")


def test_no_gpu_is_a_note(tmp_path: Path) -> None:
    assert machine.driver(tmp_path).status == "note"
    assert machine.devices(ARCHS, tmp_path).status == "note"
    assert machine.rocm("6.3", tmp_path).status == "note"


def test_gpus_are_named_by_arch_and_cus_and_cpu_nodes_left_out(tmp_path: Path) -> None:
    node(tmp_path, 0, 0, 0)
    node(tmp_path, 2, 90402, 1216)
    node(tmp_path, 10, 90500, 1024)
    check = machine.devices(ARCHS, tmp_path)
    assert check.status == "ok"
    assert check.facts["devices"] == [
        {"node": "2", "arch": "gfx942", "compute_units": 304},
        {"node": "10", "arch": "gfx950", "compute_units": 256},
    ]


def test_a_node_hidden_from_a_container_is_passed_over(tmp_path: Path) -> None:
    node(tmp_path, 1, 90402, 1216)
    hidden = tmp_path / "sys/class/kfd/kfd/topology/nodes/2"
    hidden.mkdir()
    (hidden / "properties").write_text("")
    assert len(machine.devices(ARCHS, tmp_path).facts["devices"]) == 1


def test_a_gpu_without_kernels_is_a_warning(tmp_path: Path) -> None:
    node(tmp_path, 1, 90010, 416)
    check = machine.devices(("gfx942",), tmp_path)
    assert check.status == "warning"
    assert "gfx90a" in check.text
    assert "gfx942 only" in check.text


def test_the_driver_is_usable_or_the_group_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    (tmp_path / "sys/module/amdgpu").mkdir(parents=True)
    (tmp_path / "sys/module/amdgpu/version").write_text("6.16.6\n")
    check = machine.driver(tmp_path)
    assert (check.status, check.facts["amdgpu"]) == ("ok", "6.16.6")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    check = machine.driver(tmp_path)
    assert check.status == "warning"
    assert "groups" in check.text


@pytest.mark.parametrize(("version", "status"), [("6.2.4", "warning"), ("6.3.0-39", "ok"), ("6.10.1", "ok"), ("7.1.0", "ok")])
def test_rocm_is_compared_with_what_the_objects_need(tmp_path: Path, version: str, status: str) -> None:
    (tmp_path / "opt/rocm-x/.info").mkdir(parents=True)
    (tmp_path / "opt/rocm-x/.info/version").write_text(f"{version}\n")
    check = machine.rocm("6.3", tmp_path)
    assert check.status == status
    assert check.facts["installed"] == {"/opt/rocm-x": version}


def test_the_rocm_that_torch_brings_is_the_one_that_counts(tmp_path: Path) -> None:
    (tmp_path / "opt/rocm/.info").mkdir(parents=True)
    (tmp_path / "opt/rocm/.info/version").write_text("6.0.0\n")
    assert machine.rocm("6.3", tmp_path, torch_hip="7.1.25424").status == "ok"
    assert machine.rocm("6.3", tmp_path, torch_hip="6.2.41133").status == "warning"


def test_variables_are_shown_and_said_to_steer_nothing() -> None:
    found = machine.environment({"GPU_ARCHS": "gfx90a", "CU_NUM": "80", "AITER_LOG": "1", "HOME": "/x"})
    assert found.status == "note"
    assert dict(found.facts) == {"AITER_LOG": "1", "CU_NUM": "80", "GPU_ARCHS": "gfx90a"}
    assert "never from variables" in found.text
    assert machine.environment({}).status == "ok"


def test_an_override_of_the_arch_is_a_warning() -> None:
    assert machine.environment({"HSA_OVERRIDE_GFX_VERSION": "9.4.2"}).status == "warning"


def test_this_interpreter_and_platform_are_fine() -> None:
    assert machine.python().status == "ok"
    assert machine.host().status == "ok"


def test_an_interpreter_that_cannot_load_the_extension_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "python_implementation", lambda: "PyPy")
    assert machine.python().status == "problem"
    monkeypatch.undo()
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 1)
    assert "free-threaded" in machine.python().text
    assert machine.python().status == "problem"


@pytest.mark.parametrize("libc", ["glibc 2.17", ""])
def test_an_old_or_foreign_c_library_is_a_problem(monkeypatch: pytest.MonkeyPatch, libc: str) -> None:
    monkeypatch.setattr(os, "confstr", lambda name: libc)
    assert machine.host().status == "problem"
