"""Compiles device code for tests: HIP C++ and AMDGPU assembly, by zig."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

import ziglang

ZIG = (str(Path(ziglang.__file__).parent / "zig"),)

HIP_PRELUDE = """
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
typedef unsigned int u32;
typedef unsigned long long u64;
static __device__ inline u32 lane_of_block() { return __builtin_amdgcn_workitem_id_x(); }
static __device__ inline u32 block() { return __builtin_amdgcn_workgroup_id_x(); }
static __device__ inline u32 global_id() { return block() * __builtin_amdgcn_workgroup_size_x() + lane_of_block(); }
"""


def _linker_directory(folder: Path) -> Path:
    """Clang looks for a program ``lld`` that takes ``-flavor gnu`` first."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    wrapper = tools / "lld"
    wrapper.write_text(f'#!/bin/sh\nshift 2\nexec "{Path(ziglang.__file__).parent}/zig" ld.lld "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return tools


def compile_hip(source: str, arch: str, folder: Path, *, optimisation: str = "-O3") -> bytes:
    """Code object of a HIP C++ source for one arch."""
    name = hashlib.sha256(f"{arch}{optimisation}{source}".encode()).hexdigest()[:16]
    out = folder / f"{name}.co"
    if not out.exists():
        path = folder / f"{name}.hip"
        path.write_text(HIP_PRELUDE + source)
        command = [*ZIG, "clang", "-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", f"--offload-arch={arch}"]
        command += ["-nogpuinc", "-nogpulib", "-nostdlibinc", "-resource-dir", str(Path(ziglang.__file__).parent / "lib"), "-ffreestanding"]
        command += [optimisation, "-std=c++20", "-B", str(_linker_directory(folder)), "-fuse-cuid=none", "-fno-ident"]
        command += ["-mcode-object-version=5", "-Xoffload-linker", "-s", "-c", str(path), "-o", str(out)]
        _run(command)
    return out.read_bytes()


DESCRIPTOR = "  .amdhsa_float_denorm_mode_32 3\n"
HEADER = '.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n'
KERNEL = """
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{body}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {private}
  .amdhsa_kernarg_size 64
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_vgpr_workitem_id 0
  .amdhsa_next_free_vgpr 512
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset 256
{descriptor}.end_amdhsa_kernel
"""
METADATA = """
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 64
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {private}
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: 512
    .max_flat_workgroup_size: 1024
"""


def assemble(body: str, arch: str, folder: Path, *, lds: int = 0, private: int = 0, descriptor: str = DESCRIPTOR) -> bytes:
    """Code object of one kernel ``test``: kernel arguments at s[0:1], workgroup in s2, work item in v0.

    ``descriptor``: further directives of the kernel descriptor, each on its line.
    """
    return assemble_all({"test": body}, arch, folder, lds=lds, private=private, descriptor=descriptor)


def assemble_all(
    bodies: Mapping[str, str], arch: str, folder: Path, *, lds: int = 0, private: int = 0, descriptor: str = DESCRIPTOR
) -> bytes:
    """Code object of several kernels by their names. Labels must differ, or be numbers."""
    resources = {"lds": lds, "private": private, "descriptor": descriptor}
    parts = [HEADER.format(arch=arch)]
    parts += [KERNEL.format(name=name, body=body, **resources) for name, body in bodies.items()]
    parts += [".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.kernels:"]
    parts += [METADATA.format(name=name, **resources) for name in bodies]
    text = "".join([*parts, "...\n.end_amdgpu_metadata\n"])
    name = hashlib.sha256(f"{arch}{text}".encode()).hexdigest()[:16]
    out = folder / f"{name}.co"
    if not out.exists():
        source = folder / f"{name}.s"
        source.write_text(text)
        obj = folder / f"{name}.o"
        flags = ["-x", "assembler", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-mcode-object-version=5"]
        _run([*ZIG, "clang", *flags, "-c", str(source), "-o", str(obj)])
        _run([*ZIG, "ld.lld", "-shared", str(obj), "-o", str(out)])
    return out.read_bytes()


class Batch:
    """Small kernels of one test module, made together when the first of them is asked for: to start an assembler takes longest."""

    def __init__(self, *, lds: int = 0) -> None:
        self._lds = lds
        self._names: dict[str, dict[str, str]] = {}

    def add(self, arch: str, body: str) -> None:
        """A kernel; bodies that are the same are one."""
        names = self._names.setdefault(arch, {})
        names.setdefault(body, f"test{len(names)}")

    def kernel(self, arch: str, body: str, folder: Path) -> tuple[bytes, str]:
        """The code object that holds a kernel, and its name."""
        names = self._names[arch]
        return assemble_all({name: text for text, name in names.items()}, arch, folder, lds=self._lds), names[body]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
