"""``aiter_mla_aot.emulator``: devices, options and memory from Python, and typed errors."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import numpy as np
import pytest

from aiter_mla_aot import emulator
from aiter_mla_aot.errors import ArgumentInvalid, DeviceUnsupported, HipError, HipNotFound
from tests.emulator.machine.device import assemble
from tests.emulator.machine.hip import Hip


@pytest.fixture
def face(library: Path, hip: Hip) -> emulator.Emulator:
    return emulator.load(library)


def test_devices_and_versions_reach_hip(face: emulator.Emulator, hip: Hip) -> None:
    face.set_devices(["gfx950", "gfx942"], 80)
    face.set_rocm("6.4")
    count, units, version = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    hip.call("hipGetDeviceCount", ctypes.byref(count))
    hip.call("hipDeviceGetAttribute", ctypes.byref(units), 63, 1)
    hip.call("hipRuntimeGetVersion", ctypes.byref(version))
    assert (count.value, units.value, version.value) == (2, 80, 60400000)
    properties = ctypes.create_string_buffer(4096)
    hip.call("hipGetDevicePropertiesR0600", properties, 0)
    assert properties.raw[1160:].split(b"\0")[0] == b"gfx950:sramecc+:xnack-"
    assert properties.raw.startswith(b"EMULATED")
    face.set_rocm("7.0")


def test_memory_is_shared_with_the_process_until_it_is_freed(face: emulator.Emulator, hip: Hip, kernels: Path) -> None:
    image = assemble(
        "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v0, s[4:5]\ns_endpgm",
        "gfx942",
        kernels,
    )
    memory = face.memory(256)
    hip.run_assembly(image, struct.pack("<Q", memory.address))
    assert (np.frombuffer(memory.view(), np.uint32) == np.arange(64)).all()
    assert face.report()["counters"]["global_bytes_written"] == 256
    address = memory.address
    memory.free()
    with pytest.raises(ArgumentInvalid, match="given back"):
        memory.view()
    with pytest.raises(Exception, match="global_out_of_bounds"):
        hip.run_assembly(image, struct.pack("<Q", address))


@pytest.mark.parametrize(
    "options",
    [
        *({"timing": value} for value in ("late", "latency\0junk", "random,seed=7", "\ud800", "")),
        *({"seed": value} for value in (-1, 1 << 64)),
        {"colour": 1},
        {"lds_latency": 1 << 33},
    ],
)
def test_unknown_options_change_nothing(face: emulator.Emulator, options: dict[str, str | int]) -> None:
    with pytest.raises(ArgumentInvalid):
        face.set_options(**options)


def test_impossible_requests_have_typed_errors(face: emulator.Emulator, tmp_path: Path) -> None:
    with pytest.raises(DeviceUnsupported):
        emulator.activate("gfx90a")
    with pytest.raises(HipNotFound):
        emulator.load(tmp_path / "absent.so")
    with pytest.raises(ArgumentInvalid):
        face.set_devices(["gfx942"], 0)
    with pytest.raises(ArgumentInvalid):
        face.set_rocm("seven")
    with pytest.raises(ArgumentInvalid):
        face.register(0, 16)
    with pytest.raises(ArgumentInvalid):
        face.unregister(4096)
    with pytest.raises(HipError):
        face.memory(1 << 60)
