"""Calls that no program should make are errors: they end neither the process nor what is right in it."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.machine.device import assemble, compile_hip
from tests.emulator.machine.hip import Hip, LaunchError

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = int(os.environ.get("HIP_FUZZ_ROUNDS", "10000"))
SEED = int(os.environ.get("HIP_FUZZ_SEED", "1"))
STORE = "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v0, s[4:5]\ns_endpgm"
TWO_ARGUMENTS = 'extern "C" __global__ void two(int* out, int n) { out[0] = n; }'
UNMAPPED = 4096


@pytest.mark.fuzz
def test_any_sequence_of_calls_returns_errors(library: Path, kernels: Path, tmp_path: Path) -> None:
    image = tmp_path / "test.co"
    image.write_bytes(assemble(STORE, "gfx942", kernels, lds=256, private=64))
    command = [sys.executable, "-P", "-X", "faulthandler", "-m", "tests.fuzz.fuzz_hip_calls", str(library), str(image)]
    command += ["--rounds", str(ROUNDS), "--seed", str(SEED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    # Fewer would mean that the calls no longer get past the first checks.
    for outcome in (
        "launch     hipSuccess",
        "launch     hipErrorIllegalAddress",
        "launch     hipErrorInvalidHandle",
        "find       hipSuccess",
    ):
        assert outcome in done.stdout
    assert "hipErrorUnknown" not in done.stdout


def refused(hip: Hip, name: str, *arguments: object) -> str:
    with pytest.raises(LaunchError) as error:
        hip.call(name, *arguments)
    return error.value.name


def test_memory_given_back_is_not_copied_to_or_set(hip: Hip) -> None:
    buffer = hip.buffer([64], np.uint32)
    own = ctypes.create_string_buffer(512)
    address = ctypes.c_void_p(buffer.address)
    hip.call("hipMemcpy", address, own, ctypes.c_size_t(256), 1)
    for call in (("hipMemcpy", address, own, ctypes.c_size_t(257), 1), ("hipMemcpy", own, address, ctypes.c_size_t(257), 2)):
        assert refused(hip, *call) == "hipErrorInvalidValue"
    assert refused(hip, "hipMemcpy", address, own, ctypes.c_size_t(1), 5) == "hipErrorInvalidMemcpyDirection"
    buffer.free()
    for size in (1, 256, 1 << 40):
        assert refused(hip, "hipMemcpy", address, own, ctypes.c_size_t(size), 1) == "hipErrorInvalidValue"
        assert refused(hip, "hipMemcpy", own, address, ctypes.c_size_t(size), 2) == "hipErrorInvalidValue"
        assert refused(hip, "hipMemset", address, 0, ctypes.c_size_t(size)) == "hipErrorInvalidValue"
    assert refused(hip, "hipFree", address) == "hipErrorInvalidValue"


def test_arguments_of_a_launch_that_are_not_there_are_errors(hip: Hip, kernels: Path) -> None:
    module = hip.load(compile_hip(TWO_ARGUMENTS, "gfx942", kernels))
    function = hip.function(module, "two")
    own = ctypes.create_string_buffer(16)
    size = ctypes.c_size_t(12)
    here, at = ctypes.addressof(own), ctypes.addressof(size)
    one = (function, 1, 1, 1, 64, 1, 1, 0, None)
    for words in ([1, UNMAPPED, 2, at, 3], [1, None, 2, at, 3], [1, here, 2, UNMAPPED, 3], [1, here, 2, None, 3], [1, here, 4, at, 3]):
        assert refused(hip, "hipModuleLaunchKernel", *one, None, (ctypes.c_void_p * 5)(*words)) == "hipErrorInvalidValue"
    for pointers in ([None, here], [here, None], [here, UNMAPPED]):
        assert refused(hip, "hipModuleLaunchKernel", *one, (ctypes.c_void_p * 2)(*pointers), None) == "hipErrorInvalidValue"
    hip.call("hipModuleUnload", module)


@pytest.mark.parametrize("grid", [(1 << 26, 1, 1), (1, 65537, 1), (1, 1, 65537), (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF)])
def test_grids_beyond_what_a_device_takes_are_refused(hip: Hip, kernels: Path, grid: tuple[int, int, int]) -> None:
    function = hip.function(hip.load(assemble("s_endpgm", "gfx942", kernels)), "test")
    with pytest.raises(LaunchError) as error:
        hip.launch(function, grid, (64, 1, 1), b"")
    assert error.value.name == "hipErrorInvalidValue"


def test_a_file_that_claims_its_bytes_as_code_many_times_is_refused(hip: Hip, kernels: Path) -> None:
    image = bytearray(assemble("s_nop 0\n" * 4096 + "s_endpgm", "gfx942", kernels))
    (start,) = struct.unpack_from("<Q", image, 32)
    (count,) = struct.unpack_from("<H", image, 56)
    headers = [bytes(image[start + 56 * index : start + 56 * index + 56]) for index in range(count)]
    code = next(header for header in headers if struct.unpack_from("<II", header) == (1, 5))
    moved = len(image)
    image += b"".join([*headers, *[code] * 8])
    struct.pack_into("<Q", image, 32, moved)
    struct.pack_into("<H", image, 56, count + 8)
    with pytest.raises(LaunchError) as error:
        hip.call("emulator_module_load", ctypes.byref(ctypes.c_void_p()), bytes(image), ctypes.c_size_t(len(image)), 0)
    assert error.value.name == "hipErrorInvalidKernelFile"
