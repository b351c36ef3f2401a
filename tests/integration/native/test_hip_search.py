"""Finding HIP: each step of the search in a process of its own, over libraries named and loaded as ROCm and torch do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.errors import ArgumentInvalid, HipNotFound
from aiter_mla_aot.native_types import Native
from tests.integration.native.native_build import ZIG, link_recorder, run
from tests.integration.native.recorder import Recorder

SCRIPT = """
import ctypes, importlib.util, json, sys
request = json.loads(sys.argv[1])
for path, mode in request["load"]:
    ctypes.CDLL(path, mode=getattr(ctypes, mode))
spec = importlib.util.spec_from_file_location("_native", request["extension"])
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
try:
    print(json.dumps(native.hip_open(request.get("path"), request.get("allow_load", False))))
except RuntimeError as error:
    print(json.dumps({"error": str(error)}))
"""

Search = Callable[..., dict[str, Any]]


@pytest.fixture
def search(extension: Path) -> Search:
    """Runs hip_open in a new process after loading some libraries there."""

    def run_search(*load: tuple[Path, str], environment: dict[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
        request = {"extension": str(extension), "load": [(str(path), mode) for path, mode in load], **arguments}
        clean = {key: value for key, value in os.environ.items() if key not in {"AITER_MLA_AOT_HIP_LIBRARY", "LD_LIBRARY_PATH"}}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps(request)],
            capture_output=True,
            text=True,
            env=clean | (environment or {}),
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run_search


@pytest.fixture
def library(recorder_parts: list[Path], tmp_path: Path) -> Callable[[str, str], Path]:
    return lambda name, soname: link_recorder(recorder_parts, tmp_path / "libraries" / name, soname)


Library = Callable[[str, str], Path]


def test_nothing_is_found_in_a_process_without_hip(search: Search) -> None:
    assert search()["error"].startswith("MLA301")


@pytest.mark.parametrize("soname", ["libamdhip64.so.7", "libamdhip64.so.6"])
def test_a_rocm_library_that_is_loaded_is_found(search: Search, library: Library, soname: str) -> None:
    path = library(soname, soname)
    found = search((path, "RTLD_LOCAL"))
    assert found == {"path": str(path), "how": "library already loaded in this process", "copies": 1, "takes_host_memory": True}


def test_the_copy_in_a_torch_wheel_is_found(search: Search, library: Library) -> None:
    path = library("torch/lib/libamdhip64.so", "libamdhip64.so.6")
    assert search((path, "RTLD_LOCAL"))["path"] == str(path)


def test_a_hashed_file_name_is_found(search: Search, library: Library) -> None:
    path = library("torch.libs/libamdhip64-1a2b3c4d.so.7.0", "libamdhip64-1a2b3c4d.so.7.0")
    assert search((path, "RTLD_LOCAL"))["path"] == str(path)


@pytest.mark.parametrize("soname", ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"])
def test_a_renamed_file_is_found_by_its_soname(search: Search, library: Library, soname: str) -> None:
    found = search((library("renamed.so", soname), "RTLD_LOCAL"))
    assert found["how"] == "soname already loaded in this process"


def test_global_symbols_are_the_last_thing_tried(search: Search, library: Library) -> None:
    path = library("libother.so", "libother.so")
    assert search((path, "RTLD_GLOBAL")) == {
        "path": str(path),
        "how": "global symbols of this process",
        "copies": 1,
        "takes_host_memory": True,
    }
    assert "error" in search((path, "RTLD_LOCAL"))


def test_a_second_loaded_copy_is_counted(search: Search, library: Library) -> None:
    first, second = library("a/libamdhip64.so.7", "libamdhip64.so.7"), library("b/libamdhip64.so", "libamdhip64.so.6")
    found = search((first, "RTLD_LOCAL"), (second, "RTLD_LOCAL"))
    assert (found["path"], found["copies"]) == (str(first), 2)


def test_a_library_is_loaded_only_if_asked_for(search: Search, library: Library) -> None:
    path = library("libamdhip64.so.7", "libamdhip64.so.7")
    there = {"LD_LIBRARY_PATH": str(path.parent)}
    assert search(environment=there)["error"].startswith("MLA301")
    assert search(environment=there, allow_load=True)["how"] == "loaded by soname"
    assert search(allow_load=True)["error"].startswith("MLA301")


def test_the_environment_names_a_library_before_all_others(search: Search, library: Library) -> None:
    named, loaded = library("chosen.so", "libchosen.so"), library("libamdhip64.so.7", "libamdhip64.so.7")
    found = search((loaded, "RTLD_LOCAL"), environment={"AITER_MLA_AOT_HIP_LIBRARY": str(named)})
    assert (found["path"], found["how"], found["copies"]) == (str(named), "AITER_MLA_AOT_HIP_LIBRARY", 2)
    assert search(environment={"AITER_MLA_AOT_HIP_LIBRARY": str(named)})["copies"] == 1
    assert search(path="", environment={"AITER_MLA_AOT_HIP_LIBRARY": str(named)})["path"] == str(named)


def test_a_named_library_that_does_not_load_is_an_error_and_no_other_is_taken(search: Search, library: Library) -> None:
    loaded = library("libamdhip64.so.7", "libamdhip64.so.7")
    assert search((loaded, "RTLD_LOCAL"), environment={"AITER_MLA_AOT_HIP_LIBRARY": "/nowhere/libhip.so"})["error"].startswith("MLA301")


def test_the_path_argument_comes_before_the_environment(search: Search, library: Library) -> None:
    given, named = library("given.so", "libgiven.so"), library("named.so", "libnamed.so")
    found = search(path=str(given), environment={"AITER_MLA_AOT_HIP_LIBRARY": str(named)})
    assert found["path"] == str(given)


def test_a_library_without_hips_symbols_is_an_error_that_names_one(
    extension: Path, make_native: Callable[[Path], Native], tmp_path: Path
) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    run([*ZIG, "cc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "libempty.so")])
    with pytest.raises(HipNotFound, match="hipGetDeviceCount"):
        make_native(extension).hip_open(tmp_path / "libempty.so", False)


def test_the_first_library_stays_and_another_is_refused(native: Native, recorder: Recorder, recorder_library: Path) -> None:
    assert native.hip_open(None, False)["path"] == str(recorder.path)
    assert native.hip_open(recorder.path, False)["path"] == str(recorder.path)
    with pytest.raises(ArgumentInvalid, match="path"):
        native.hip_open(recorder_library, False)
