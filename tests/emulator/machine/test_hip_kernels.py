"""Kernels that clang compiles from HIP C++ run as their source says, on both archs, at -O0 and -O3, and on every level of x86-64."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.machine.device import compile_hip
from tests.emulator.machine.hip import Hip

SOURCE = """
static __device__ inline void join_waves() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  u32 i = global_id();
  if ((int)i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void block_sum(u32* out, const u32* in) {
  __shared__ u32 s[256];
  u32 t = lane_of_block();
  s[t] = in[global_id()];
  join_waves();
  for (u32 k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    join_waves();
  }
  if (t == 0) out[block()] = s[0];
}
static __device__ __attribute__((noinline)) u64 collatz(u64 n) {
  u64 steps = 0;
  while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++steps; }
  return steps;
}
extern "C" __global__ void divergent(u64* out) { u32 i = global_id(); out[i] = collatz(i + 1); }
extern "C" __global__ void divisions(int* q, int* r, const int* a, const int* b) {
  u32 i = global_id();
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
}
extern "C" __global__ void doubles(double* out, const double* a, const double* b) {
  u32 i = global_id();
  out[i] = (a[i] + b[i]) * a[i] - b[i];
}
extern "C" __global__ void local_array(u32* out, const u32* order) {
  u32 values[16];
  u32 i = global_id();
  for (u32 k = 0; k < 16; ++k) values[order[k]] = i + k;
  u32 sum = 0;
  for (u32 k = 0; k < 16; ++k) sum = sum * 3 + values[order[(k + i) & 15]];
  out[i] = sum;
}
extern "C" __global__ void grid_shape(u32* out) {
  u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  u32 g = __builtin_amdgcn_workgroup_id_x() + 2 * (__builtin_amdgcn_workgroup_id_y() + 3 * __builtin_amdgcn_workgroup_id_z());
  u32 w = __builtin_amdgcn_workgroup_size_x(), h = __builtin_amdgcn_workgroup_size_y(), d = __builtin_amdgcn_workgroup_size_z();
  u32 total = __builtin_amdgcn_grid_size_x() * __builtin_amdgcn_grid_size_y() * __builtin_amdgcn_grid_size_z();
  out[((g * d + z) * h + y) * w + x] = total + g * 1000 + x + 10 * y + 100 * z;
}
"""


@pytest.fixture(params=[("gfx942", "-O3"), ("gfx950", "-O3"), ("gfx942", "-O0")], ids=lambda param: "".join(param))
def module(request: pytest.FixtureRequest, hip: Hip, kernels: Path) -> ctypes.c_void_p:
    arch, level = request.param
    hip.devices(arch)
    return hip.load(compile_hip(SOURCE, arch, kernels, optimisation=level))


def launch(hip: Hip, module: ctypes.c_void_p, name: str, grid: int, *arguments: int, block: int = 256) -> None:
    hip.launch(hip.function(module, name), (grid, 1, 1), (block, 1, 1), struct.pack(f"<{len(arguments)}Q", *arguments))


def test_bounds_and_arithmetic(hip: Hip, module: ctypes.c_void_p) -> None:
    rng = np.random.default_rng(1)
    x, y = hip.upload(rng.random(1000, np.float32)), hip.upload(rng.random(1000, np.float32))
    want = 2.5 * x.array.astype(np.float64) + y.array
    function = hip.function(module, "saxpy")
    hip.launch(function, (4, 1, 1), (256, 1, 1), struct.pack("<QQfi", y.address, x.address, 2.5, 1000))
    np.testing.assert_allclose(y.array, want, rtol=3e-7)


def test_shared_memory_and_barriers(hip: Hip, module: ctypes.c_void_p) -> None:
    values = hip.upload(np.random.default_rng(2).integers(0, 1 << 32, 1024, dtype=np.uint32))
    out = hip.buffer([4], np.uint32)
    launch(hip, module, "block_sum", 4, out.address, values.address)
    assert (out.array == values.array.reshape(4, 256).sum(1, dtype=np.uint32)).all()


def test_divergent_loops_and_calls(hip: Hip, module: ctypes.c_void_p) -> None:
    out = hip.buffer([256], np.uint64)
    launch(hip, module, "divergent", 1, out.address)

    def collatz(n: int) -> int:
        steps = 0
        while n != 1:
            n, steps = (3 * n + 1 if n & 1 else n // 2), steps + 1
        return steps

    assert [int(x) for x in out.array] == [collatz(i + 1) for i in range(256)]


def test_integer_division(hip: Hip, module: ctypes.c_void_p) -> None:
    rng = np.random.default_rng(3)
    a = hip.upload(rng.integers(-(1 << 31), 1 << 31, 256, dtype=np.int64).astype(np.int32))
    b = hip.upload(np.where(np.arange(256) % 3 == 0, rng.integers(1, 100, 256), rng.integers(-(1 << 31), -1, 256)).astype(np.int32))
    q, r = hip.buffer([256], np.int32), hip.buffer([256], np.int32)
    launch(hip, module, "divisions", 1, q.address, r.address, a.address, b.address)
    want = np.trunc(a.array.astype(np.float64) / b.array).astype(np.int64)
    assert (q.array == want).all()
    assert (r.array == a.array - want * b.array).all()


def test_double_arithmetic(hip: Hip, module: ctypes.c_void_p) -> None:
    rng = np.random.default_rng(4)
    a, b = hip.upload(rng.standard_normal(256)), hip.upload(rng.standard_normal(256))
    out = hip.buffer([256], np.float64)
    launch(hip, module, "doubles", 1, out.address, a.address, b.address)
    np.testing.assert_allclose(out.array, (a.array + b.array) * a.array - b.array, rtol=1e-13, atol=1e-14)


def test_arrays_in_scratch(hip: Hip, module: ctypes.c_void_p) -> None:
    order = np.random.default_rng(5).permutation(16).astype(np.uint32)
    given, out = hip.upload(order), hip.buffer([512], np.uint32)
    launch(hip, module, "local_array", 2, out.address, given.address)
    for i in (0, 1, 77, 511):
        total = 0
        for k in range(16):
            total = (total * 3 + i + (k + i) % 16) & 0xFFFFFFFF
        assert out.array[i] == total


def test_three_dimensional_grids_and_workgroups(hip: Hip, module: ctypes.c_void_p) -> None:
    out = hip.buffer([12, 5, 3, 7], np.uint32)
    function = hip.function(module, "grid_shape")
    hip.launch(function, (2, 3, 2), (7, 3, 5), struct.pack("<Q", out.address))
    g, z, y, x = np.indices(out.array.shape)
    assert (out.array == 12 * 105 + g * 1000 + x + 10 * y + 100 * z).all()


LEVEL_RUN = """
import ctypes, json, sys
from pathlib import Path
import numpy as np, struct
from tests.emulator.machine.hip import Hip
hip = Hip(Path(sys.argv[1]))
module = hip.load(Path(sys.argv[2]).read_bytes())
rng = np.random.default_rng(9)
a, b = hip.upload(rng.standard_normal(256)), hip.upload(rng.standard_normal(256))
out = hip.buffer([256], np.float64)
report = hip.launch(hip.function(module, "doubles"), (1, 1, 1), (256, 1, 1), struct.pack("<QQQ", out.address, a.address, b.address))
print(json.dumps({"level": report["level"], "bits": out.array.tobytes().hex(), "counters": report["counters"]}))
"""


def test_every_level_gives_the_same_bits(library: Path, kernels: Path) -> None:
    path = kernels / "levels.co"
    path.write_bytes(compile_hip(SOURCE, "gfx942", kernels))
    results = []
    for level in "134":
        environment = {**os.environ, "AITER_MLA_EMULATOR_LEVEL": level}
        command = [sys.executable, "-c", LEVEL_RUN, str(library), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=Path(__file__).parents[3])
        results.append(json.loads(done.stdout))
    assert all(result["bits"] == results[0]["bits"] and result["counters"] == results[0]["counters"] for result in results)
    assert results[0]["level"] == "v1"
