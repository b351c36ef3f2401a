"""Buffers, global, flat and scratch addresses, loads to LDS, and atomics on memory."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.emulator.machine.device import assemble, compile_hip
from tests.emulator.machine.hip import Hip, LaunchError

Words = npt.NDArray[np.uint32]

PROLOGUE = """
s_load_dwordx4 s[4:7], s[0:1], 0
v_lshlrev_b32 v1, 4, v0
v_lshlrev_b32 v2, 2, v0
v_mov_b32 v8, -1
v_mov_b32 v9, -1
v_mov_b32 v10, -1
v_mov_b32 v11, -1
s_waitcnt lgkmcnt(0)
s_mov_b32 s8, s4
s_mov_b32 s9, s5
s_mov_b32 s10, {records}
s_mov_b32 s11, 0x00020000
s_or_b32 s9, s9, {stride} << 16
"""
EPILOGUE = """
s_waitcnt vmcnt(0) lgkmcnt(0)
global_store_dwordx4 v1, v[8:11], s[6:7]
s_endpgm
"""


def run(
    hip: Hip,
    kernels: Path,
    body: str,
    data: npt.NDArray[np.uint32],
    *,
    records: int = 0,
    stride: int = 0,
    arch: str = "gfx942",
    private: int = 0,
) -> tuple[Words, Words]:
    """Result registers v[8:11] and the input buffer afterwards. s[8:11] is a descriptor of the input, s[4:5] its address."""
    hip.devices(arch)
    inputs = hip.upload(data)
    outputs = hip.buffer([64, 4], np.uint32)
    text = PROLOGUE.format(records=records or data.nbytes, stride=stride) + body + EPILOGUE
    hip.run_assembly(assemble(text, arch, kernels, lds=4096, private=private), struct.pack("<QQ", inputs.address, outputs.address))
    return np.array(outputs.array), np.array(inputs.array)


@pytest.fixture
def data() -> Words:
    return np.random.default_rng(5).integers(0, 1 << 32, (64, 4), dtype=np.uint32)


def test_buffer_loads_add_offsets(hip: Hip, kernels: Path, data: Words) -> None:
    body = "s_movk_i32 s12, 32\nbuffer_load_dwordx2 v[8:9], v1, s[8:11], s12 offen offset:4"
    out, _ = run(hip, kernels, body, np.concatenate([data, data]))
    flat = np.concatenate([data, data]).reshape(-1)
    assert (out[:, 0] == flat[9 : 9 + 256 : 4]).all()
    assert (out[:, 1] == flat[10 : 10 + 256 : 4]).all()


def test_dwords_outside_a_raw_buffer_read_as_zero(hip: Hip, kernels: Path, data: Words) -> None:
    out, _ = run(hip, kernels, "buffer_load_dwordx4 v[8:11], v1, s[8:11], 0 offen", data, records=16 * 10 + 8)
    want = data.copy()
    want[10, 2:] = 0
    want[11:] = 0
    assert (out == want).all()


def test_scalar_offset_takes_part_in_the_range_check(hip: Hip, kernels: Path, data: Words) -> None:
    out, _ = run(hip, kernels, "s_movk_i32 s12, 64\nbuffer_load_dword v8, v1, s[8:11], s12 offen", data, records=128)
    assert (out[:4, 0] == data[4:8, 0]).all()
    assert (out[4:, 0] == 0).all()


def test_dwords_outside_a_raw_buffer_are_not_stored(hip: Hip, kernels: Path, data: Words) -> None:
    _, after = run(hip, kernels, "buffer_store_dwordx4 v[8:11], v1, s[8:11], 0 offen", data, records=16 * 3 + 4)
    want = data.copy()
    want[:3] = 0xFFFFFFFF
    want[3, 0] = 0xFFFFFFFF
    assert (after == want).all()


def test_structured_buffers_are_checked_by_index(hip: Hip, kernels: Path, data: Words) -> None:
    body = "buffer_load_dword v8, v0, s[8:11], 0 idxen offset:8"
    out, _ = run(hip, kernels, body, data, records=20, stride=16)
    assert (out[:20, 0] == data[:20, 2]).all()
    assert (out[20:, 0] == 0).all()


def test_buffer_atomic_outside_is_dropped(hip: Hip, kernels: Path, data: Words) -> None:
    out, after = run(hip, kernels, "v_mov_b32 v8, 5\nbuffer_atomic_add v8, v1, s[8:11], 0 offen sc0", data, records=16 * 8)
    want = data.copy()
    want[:8, 0] += 5
    assert (after == want).all()
    assert (out[:8, 0] == data[:8, 0]).all()
    assert (out[8:, 0] == 0).all()


def test_a_buffer_may_not_reach_a_neighbouring_allocation(hip: Hip, kernels: Path) -> None:
    data = np.zeros(256, np.uint32)
    inputs = np.zeros(1024, np.uint32)  # two allocations of the caller, one behind the other
    address = inputs.ctypes.data
    hip.register(address, 1024)
    hip.register(address + 1024, 3072)
    out = hip.upload(data)
    text = PROLOGUE.format(records=4096, stride=0) + "buffer_load_dword v8, v1, s[8:11], 0 offen offset:256" + EPILOGUE
    try:
        with pytest.raises(LaunchError) as error:
            hip.run_assembly(assemble(text, "gfx942", kernels), struct.pack("<QQ", address, out.address))
    finally:
        hip.unregister(address)
        hip.unregister(address + 1024)
    assert error.value.report["fault"]["lane"] == 48


@pytest.mark.parametrize(("arch", "size"), [("gfx942", 4), ("gfx950", 16)])
def test_buffer_loads_to_lds_land_by_lane(hip: Hip, kernels: Path, data: Words, arch: str, size: int) -> None:
    name = {4: "dword", 16: "dwordx4"}[size]
    address = {4: "v2", 16: "v1"}[size]
    body = (
        f"s_movk_i32 m0, 128\nbuffer_load_{name} {address}, s[8:11], 0 offen lds\ns_waitcnt vmcnt(0)\nds_read_b32 v8, {address} offset:128"
    )
    out, _ = run(hip, kernels, body, data, arch=arch)
    assert (out[:, 0] == (data.reshape(-1)[:64] if size == 4 else data[:, 0])).all()


def test_global_loads_to_lds_add_the_offset_on_both_sides(hip: Hip, kernels: Path, data: Words) -> None:
    body = "s_mov_b32 m0, 64\nglobal_load_lds_dword v2, s[4:5] offset:16\ns_waitcnt vmcnt(0)\nds_read_b32 v8, v2 offset:80"
    out, _ = run(hip, kernels, body, data)
    assert (out[:, 0] == data.reshape(-1)[4:68]).all()


def test_global_addresses_with_and_without_scalar_base(hip: Hip, kernels: Path, data: Words) -> None:
    body = (
        "global_load_dword v8, v1, s[4:5] offset:4\nv_mov_b32 v3, s5\nv_add_co_u32 v12, vcc, s4, v1\nv_addc_co_u32 v13, vcc, 0, v3, vcc\n"
    )
    body += "global_load_sbyte v9, v[12:13], off offset:3\nglobal_load_short_d16_hi v10, v[12:13], off\n"
    body += "global_load_ubyte v11, v[12:13], off offset:-0"
    out, _ = run(hip, kernels, body, data)
    assert (out[:, 0] == data[:, 1]).all()
    assert (out[:, 1] == (data[:, 0].view(np.int32) >> 24).view(np.uint32)).all()
    assert (out[:, 2] == (0xFFFF | data[:, 0] << 16)).all()
    assert (out[:, 3] == (data[:, 0] & 0xFF)).all()


def test_scratch_belongs_to_the_lane(hip: Hip, kernels: Path, data: Words) -> None:
    body = "s_mov_b32 s12, 8\nv_add_u32 v3, 7, v0\nscratch_store_dword off, v3, s12 offset:4\nscratch_store_dword off, v0, off\n"
    body += "v_mov_b32 v14, 12\nscratch_load_dword v8, v14, off\nscratch_load_dword v9, off, off"
    out, _ = run(hip, kernels, body, data, private=16)
    assert (out[:, 0] == np.arange(64) + 7).all()
    assert (out[:, 1] == np.arange(64)).all()


def test_flat_addresses_reach_lds_and_scratch_through_their_apertures(hip: Hip, kernels: Path, data: Words) -> None:
    body = "s_mov_b64 s[14:15], src_shared_base\nv_mov_b32 v13, s15\nv_mov_b32 v12, v2\nflat_store_dword v[12:13], v0\n"
    body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
    body += (
        "ds_read_b32 v8, v2\ns_mov_b64 s[14:15], src_private_base\nv_mov_b32 v13, s15\nv_mov_b32 v12, 4\nflat_store_dword v[12:13], v1\n"
    )
    body += "scratch_load_dword v9, off, off offset:4"
    out, _ = run(hip, kernels, body, data, private=16)
    assert (out[:, 0] == np.arange(64)).all()
    assert (out[:, 1] == np.arange(64) * 16).all()


def test_global_atomics_of_all_workgroups_add_up(hip: Hip, kernels: Path) -> None:
    source = """
    extern "C" __global__ void count(u32* total, u64* wide, float* real, u32* highest) {
      __hip_atomic_fetch_add(total, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      __hip_atomic_fetch_add(wide, 1ull << 32, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      __hip_atomic_fetch_add(real, 0.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      __hip_atomic_fetch_max(highest, global_id(), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
    """
    hip.options("threads=4")
    buffer = hip.upload(np.zeros(8, np.uint32))
    module = hip.load(compile_hip(source, "gfx942", kernels))
    at = buffer.address
    hip.launch(hip.function(module, "count"), (100, 1, 1), (256, 1, 1), struct.pack("<QQQQ", at, at + 8, at + 16, at + 20))
    assert buffer.array[0] == 25600
    assert buffer.array[3] == 25600
    assert buffer.array[4:5].view(np.float32)[0] == 12800.0
    assert buffer.array[5] == 25599


def test_spans_beyond_four_gigabytes_cost_nothing(hip: Hip, kernels: Path) -> None:
    source = 'extern "C" __global__ void far(u32* p, u64 stride) { p[lane_of_block() * stride] = lane_of_block() + 1; }'
    size = (9 << 30) + 4
    hip.devices("gfx942")
    buffer = hip.buffer([size // 4], np.uint32)
    module = hip.load(compile_hip(source, "gfx942", kernels))
    hip.launch(hip.function(module, "far"), (1, 1, 1), (10, 1, 1), struct.pack("<QQ", buffer.address, 1 << 28))
    assert [int(buffer.array[lane << 28]) for lane in range(10)] == list(range(1, 11))
    buffer.free()
