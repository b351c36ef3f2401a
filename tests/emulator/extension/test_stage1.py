"""torch CPU tensors through the real extension and the real objects on the emulator, against attention in float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aiter_mla_aot import emulator
from aiter_mla_aot.errors import HipError
from aiter_mla_aot.native_types import Native
from tests.emulator.extension.conftest import UNITS
from tests.emulator.extension.decode_call import Decode

KERNELS = [
    ("gfx942", "bf16", "bf16", 16, 1),
    ("gfx942", "bf16", "bf16", 16, 4),
    ("gfx942", "bf16", "fp8", 16, 1),
    ("gfx942", "fp8", "fp8", 16, 1),
    ("gfx942", "fp8", "fp8", 16, 2),
    ("gfx942", "fp8", "fp8", 128, 1),
    ("gfx950", "bf16", "bf16", 16, 1),
    ("gfx950", "bf16", "bf16", 16, 4),
    ("gfx950", "bf16", "fp8", 16, 1),
    ("gfx950", "fp8", "fp8", 16, 1),
]
Device = Callable[[str], Native]


def decode(arch: str, q_dtype: str = "fp8", kv_dtype: str = "fp8", heads: int = 16, q_len: int = 1, length: int = 100) -> Decode:
    return Decode(arch, q_dtype, kv_dtype, heads, q_len, length, UNITS)


@pytest.mark.parametrize("length", [7, 64, 333])
@pytest.mark.parametrize(("arch", "q_dtype", "kv_dtype", "heads", "q_len"), KERNELS)
def test_every_persistent_kernel_gives_the_reference(
    on_device: Device, arch: str, q_dtype: str, kv_dtype: str, heads: int, q_len: int, length: int
) -> None:
    call = decode(arch, q_dtype, kv_dtype, heads, q_len, length)
    if (q_dtype, q_len) == ("fp8", 2):
        # The token fold: the kernel takes one token, so each token is an item that ends where the token's keys end.
        call.plan([[0, -1, token, token + 1, 0, length - q_len + token + 1, 0, 0] for token in range(q_len)])
    call.launch(on_device(arch))
    assert call.error() < (1e-2 if (q_dtype, kv_dtype) == ("bf16", "bf16") else 4e-2)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_tensors_inside_larger_ones_are_reached_and_what_is_around_them_is_not(
    on_device: Device, face: emulator.Emulator, arch: str
) -> None:
    call = decode(arch)
    around = torch.full((3, 16, 512), 7.0, dtype=torch.bfloat16)
    call.out = around[1:2]
    native = on_device(arch)
    call.launch(native)
    assert call.error() < 4e-2
    assert (around[0] == 7).all()
    assert (around[2] == 7).all()
    # The row after the output's is memory of the process and none of the launch.
    call.plan([[0, -1, 1, 2, 0, 100, 0, 0]])
    with pytest.raises(HipError):
        call.launch(native)
    assert "out_of_bounds" in str(face.report()["fault"])
    assert (around[2] == 7).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_a_page_outside_the_buffer_is_an_error_and_the_next_launch_is_right(on_device: Device, face: emulator.Emulator, arch: str) -> None:
    native, call = on_device(arch), decode(arch)
    page = int(call.order[50])
    call.order[50] = 1_000_000
    with pytest.raises(HipError, match="hipModuleLaunchKernel"):
        call.launch(native)
    assert "out_of_bounds" in str(face.report()["fault"])
    call.order[50] = page
    call.launch(native)
    assert call.error() < 4e-2


def test_a_plan_for_virtual_heads_on_the_kernel_of_all_heads_is_a_fault(on_device: Device, face: emulator.Emulator) -> None:
    call = decode("gfx942", heads=128)
    call.plan([[group, -1, group, group + 1, 0, 100, 0, 0] for group in range(8)])
    with pytest.raises(HipError):
        call.launch(on_device("gfx942"))
    assert "out_of_bounds" in str(face.report()["fault"])


def test_nothing_of_a_launch_stays_registered(on_device: Device, face: emulator.Emulator) -> None:
    native, call = on_device("gfx942"), decode("gfx942")
    call.launch(native)
    # The plan still points at the first tensor of items, which this launch does not name.
    kept, call.work = call.work, call.work.clone()
    with pytest.raises(HipError):
        call.launch(native)
    assert kept.data_ptr() != call.work.data_ptr()
    assert "out_of_bounds" in str(face.report()["fault"])
