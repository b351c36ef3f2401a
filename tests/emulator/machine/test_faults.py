"""What a kernel does wrong is an error with a report that names the instruction; the process and the library go on."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.emulator.machine.device import assemble
from tests.emulator.machine.hip import Hip, LaunchError

ARCHS = ("gfx942", "gfx950")
ADDRESS = "s_load_dwordx2 s[4:5], s[0:1], 0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
END = "\ns_endpgm"


def fault(hip: Hip, kernels: Path, body: str, *, size: int = 256, lds: int = 0, grid: int = 1, arch: str = "gfx942") -> dict[str, Any]:
    """The fault report of a kernel whose buffer has ``size`` bytes."""
    hip.devices(arch)
    buffer = hip.buffer([size], np.uint8)
    with pytest.raises(LaunchError) as error:
        hip.run_assembly(assemble(ADDRESS + body + END, arch, kernels, lds=lds), struct.pack("<Q", buffer.address), grid=grid)
    found: dict[str, Any] = error.value.report["fault"]
    found["offset"] = int(found["address"], 16) - buffer.address
    found["error"] = error.value.name
    return found


def clean(hip: Hip, kernels: Path, body: str, *, size: int = 256, lds: int = 0, arch: str = "gfx942") -> dict[str, Any]:
    """The report of a kernel that runs to its end."""
    hip.devices(arch)
    buffer = hip.buffer([size], np.uint8)
    return hip.run_assembly(assemble(ADDRESS + body + END, arch, kernels, lds=lds), struct.pack("<Q", buffer.address))


@pytest.mark.parametrize("arch", ARCHS)
def test_a_read_past_the_end_names_lane_address_and_distance(hip: Hip, kernels: Path, arch: str) -> None:
    found = fault(hip, kernels, "global_load_dword v2, v1, s[4:5] offset:16", grid=3, arch=arch)
    assert found["kind"] == "global_out_of_bounds"
    assert found["error"] == "hipErrorIllegalAddress"
    assert (found["lane"], found["wave"], found["workgroup"], found["offset"]) == (60, 0, [0, 0, 0], 256)
    assert found["at"]["instruction"] == "global_load_dword v2, v1, s[4:5] offset:16"
    assert (found["nearest"]["side"], found["nearest"]["distance"]) == ("after", 4)
    assert found["access"] == "read"


@pytest.mark.parametrize("arch", ARCHS)
def test_a_write_before_the_start_is_seen_to_the_byte(hip: Hip, kernels: Path, arch: str) -> None:
    found = fault(hip, kernels, "v_mov_b32 v3, 0\nglobal_store_byte v3, v0, s[4:5] offset:-1", arch=arch)
    assert (found["access"], found["bytes"], found["offset"], found["nearest"]["side"]) == ("write", 1, -1, "before")


@pytest.mark.parametrize("arch", ARCHS)
def test_scalar_reads_are_checked(hip: Hip, kernels: Path, arch: str) -> None:
    found = fault(hip, kernels, "s_load_dwordx4 s[8:11], s[4:5], 244", arch=arch)
    assert (found["kind"], found["bytes"], found["lane"]) == ("scalar_out_of_bounds", 16, -1)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_descriptor_larger_than_its_buffer_hides_nothing(hip: Hip, kernels: Path, arch: str) -> None:
    descriptor = "s_mov_b32 s6, {}\ns_mov_b32 s7, 0x20000\nbuffer_load_dword v2, v1, s[4:7], 0 offen offset:16"
    found = fault(hip, kernels, descriptor.format(4096), arch=arch)
    assert (found["kind"], found["lane"], found["offset"], found["nearest"]["distance"]) == ("global_out_of_bounds", 60, 256, 4)
    # With its true size the hardware's own range check answers.
    report = clean(hip, kernels, descriptor.format(256), arch=arch)
    assert report["counters"]["global_bytes_read"] == 60 * 4 + 8


@pytest.mark.parametrize("arch", ARCHS)
def test_accesses_up_to_the_last_byte_are_fine(hip: Hip, kernels: Path, arch: str) -> None:
    body = "global_load_dword v2, v1, s[4:5]\ns_load_dwordx4 s[8:11], s[4:5], 240\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
    body += "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\nv_add_u32 v4, v2, v3\n"
    body += "global_store_dword v1, v4, s[4:5]"
    hip.options("uninitialised=1,hazards=1")
    assert clean(hip, kernels, body, arch=arch, lds=256)["findings"] == []


def test_memory_registered_for_reading_is_not_written(hip: Hip, kernels: Path) -> None:
    array = np.zeros(64, np.uint32)
    hip.register(array.ctypes.data, array.nbytes, writable=False)
    image = assemble(
        ADDRESS + "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[4:5]" + END, "gfx942", kernels
    )
    try:
        with pytest.raises(LaunchError) as error:
            hip.run_assembly(image, struct.pack("<Q", array.ctypes.data))
    finally:
        hip.unregister(array.ctypes.data)
    assert error.value.report["fault"]["access"] == "write"
    assert error.value.report["fault"]["nearest"]["distance"] == 0


def test_memory_of_one_launch_is_gone_in_the_next(hip: Hip, kernels: Path) -> None:
    array = np.zeros(64, np.uint32)
    image = assemble(ADDRESS + "global_store_dword v1, v0, s[4:5]" + END, "gfx942", kernels)
    hip.call("emulator_register_for_launch", ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), 1)
    hip.run_assembly(image, struct.pack("<Q", array.ctypes.data))
    assert (array == np.arange(64)).all()
    with pytest.raises(LaunchError):
        hip.run_assembly(image, struct.pack("<Q", array.ctypes.data))


@pytest.mark.parametrize(("arch", "size"), [("gfx942", 65536), ("gfx950", 163840)])
def test_lds_ends_where_the_kernel_says(hip: Hip, kernels: Path, arch: str, size: int) -> None:
    body = f"v_mov_b32 v3, 0x{size - 252:x}\nv_add_u32 v3, v3, v1\nds_write_b32 v3, v0"
    found = fault(hip, kernels, body, lds=size, arch=arch)
    assert (found["kind"], found["lane"], int(found["address"], 16)) == ("lds_out_of_bounds", 63, size)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_loop_without_end_stops_at_the_budget(hip: Hip, kernels: Path, arch: str) -> None:
    hip.options("budget=1000")
    found = fault(hip, kernels, "again: s_branch again", arch=arch)
    assert (found["kind"], found["error"]) == ("instruction_budget", "hipErrorLaunchFailure")


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (".long 0xbf8affff\n.long 0xd4ff0000\n.long 0", "unknown_opcode", "0xd4ff0000"),
        ("buffer_load_format_x v2, off, s[4:7], 0", "unknown_opcode", "buffer_load_format_x"),
        ("s_mov_b64 s[6:7], 0\ns_setpc_b64 s[6:7]", "bad_program_counter", ""),
        ("s_trap 2", "unsupported", "s_trap 2"),
    ],
)
def test_what_cannot_run_is_named(hip: Hip, kernels: Path, body: str, kind: str, text: str) -> None:
    found = fault(hip, kernels, body)
    assert found["kind"] == kind
    assert text in found["at"]["instruction"]


def test_the_lowest_faulting_workgroup_is_reported_whatever_the_threads(hip: Hip, kernels: Path) -> None:
    body = "s_cmp_lt_u32 s2, 37\ns_cbranch_scc1 fine\nglobal_load_dword v2, v1, s[4:5] offset:4000\nfine:"
    for _ in range(5):
        hip.options("threads=8")
        assert fault(hip, kernels, body, grid=200)["workgroup"] == [37, 0, 0]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("body", "number", "name"),
    [
        ("v_add_u32 v5, v0, v77", 77, "v77"),
        ("s_add_u32 s8, s9, 1", 512 + 9, "s9"),
        ("v_accvgpr_read_b32 v5, a3", 256 + 3, "a3"),
        ("v_mov_b32 v3, 0\nglobal_store_dwordx2 v3, v[0:1], s[4:5]\nglobal_store_dwordx2 v3, v[8:9], s[4:5]", 8, "v8"),
        ("v_cndmask_b32 v5, v0, v1, vcc", 512 + 106, "vcc_lo"),
        ("ds_read_addtid_b32 v5", 512 + 124, "m0"),
        ("v_fmac_f32 v5, v0, v0", 5, "v5"),
        ("s_mov_b64 exec, 1\nv_mov_b32 v5, 0\ns_mov_b64 exec, 2\nv_mov_b32 v6, v5", 5, "v5"),
    ],
)
def test_registers_never_written_are_found_on_request(hip: Hip, kernels: Path, arch: str, body: str, number: int, name: str) -> None:
    hip.options("poison=zero")
    clean(hip, kernels, body, arch=arch, lds=256)
    hip.options("uninitialised=1")
    found = fault(hip, kernels, body, arch=arch, lds=256)
    assert (found["kind"], int(found["address"], 16), found["register"]) == ("uninitialised_register", number, name)
    assert found["at"]["instruction"].split()[0].removesuffix("_e32") == body.split("\n")[-1].split()[0]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("body", ["v_mov_b32 v77, 1\nv_add_u32 v5, v0, v77", "s_mov_b64 vcc, 0\nv_cndmask_b32 v5, v0, v1, vcc"])
def test_written_registers_are_no_fault(hip: Hip, kernels: Path, arch: str, body: str) -> None:
    hip.options("uninitialised=1")
    clean(hip, kernels, body, arch=arch)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("use", ["ds_read_b32 v3, v1", "ds_add_u32 v1, v0", "ds_read2_b32 v[4:5], v1 offset1:1"])
def test_lds_never_written_is_found_on_request(hip: Hip, kernels: Path, arch: str, use: str) -> None:
    hip.options("uninitialised=1")
    found = fault(hip, kernels, f"ds_write_b16 v1, v0\nds_read_u16 v3, v1\n{use}", lds=512, arch=arch)
    assert (found["kind"], found["lane"], found["bytes"]) == ("uninitialised_lds", 0, 4)
    assert found["at"]["instruction"] == use
    clean(hip, kernels, f"ds_write_b32 v1, v0\nds_write_b32 v1, v0 offset:4\n{use}", lds=512, arch=arch)


def test_images_that_are_no_code_objects_are_refused(hip: Hip, kernels: Path) -> None:
    image = assemble("s_endpgm", "gfx942", kernels)
    for broken, name in [(b"junk" * 100, "hipErrorInvalidImage"), (b"\0" * 4096, "hipErrorInvalidImage")]:
        with pytest.raises(LaunchError) as error:
            hip.load(broken)
        assert error.value.name == name
    with pytest.raises(LaunchError) as error:
        hip.load(assemble("s_endpgm", "gfx950", kernels))
    assert error.value.name == "hipErrorNoBinaryForGpu"
    with pytest.raises(LaunchError) as error:
        hip.function(hip.load(image), "absent")
    assert error.value.name == "hipErrorNotFound"
    with pytest.raises(LaunchError) as error:
        hip.load(ctypes.c_void_p(4096))
    assert error.value.name == "hipErrorInvalidImage"


def test_launches_that_no_device_takes_are_refused(hip: Hip, kernels: Path) -> None:
    function = hip.function(hip.load(assemble("s_endpgm", "gfx942", kernels, lds=1024)), "test")
    cases: list[tuple[tuple[int, int, int], tuple[int, int, int], int, int, str]] = [
        ((0, 1, 1), (64, 1, 1), 0, 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (32, 33, 1), 0, 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (64, 1, 1), 64513, 0, "hipErrorLaunchOutOfResources"),
        ((1 << 12, 1 << 12, 2), (64, 1, 1), 0, 0, "hipErrorLaunchOutOfResources"),
        ((1, 1, 1), (64, 1, 1), 0, 65, "hipErrorInvalidValue"),
    ]
    for grid, block, lds, size, name in cases:
        with pytest.raises(LaunchError) as error:
            hip.launch(function, grid, block, b"\0" * size, lds=lds)
        assert error.value.name == name
        assert error.value.report == {}
    with pytest.raises(LaunchError) as error:
        hip.launch(ctypes.c_void_p(1234), (1, 1, 1), (64, 1, 1), b"")
    assert error.value.name == "hipErrorInvalidHandle"


def test_damaged_objects_never_crash(hip: Hip, kernels: Path) -> None:
    image = assemble("s_endpgm", "gfx942", kernels)
    rng = np.random.default_rng(11)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(image)
        for _ in range(rng.integers(1, 8)):
            damaged[rng.integers(0, min(len(damaged), 4096))] = rng.integers(0, 256)
        cut = bytes(damaged[: rng.integers(1, len(damaged) + 1)]) if rng.random() < 0.3 else bytes(damaged)
        module = ctypes.c_void_p()
        error = hip.library.emulator_module_load(ctypes.byref(module), cut, ctypes.c_size_t(len(cut)), 0)
        if error != 0:
            refused += 1
            continue
        function = ctypes.c_void_p()
        hip.library.hipModuleGetFunction(ctypes.byref(function), module, b"test")
        hip.call("hipModuleUnload", module)
    hip.library.hipGetLastError()
    assert refused > 100
