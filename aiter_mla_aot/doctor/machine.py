"""What the machine is: interpreter, platform, driver, devices, ROCm and environment. Reads files only."""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from .check import NOTE, OK, PROBLEM, WARNING, Check

ROOT: Final = Path("/")
GLIBC: Final = (2, 28)
VARIABLES: Final = re.compile(
    r"(AITER_.*|GPU_ARCHS|CU_NUM|PYTORCH_ROCM_ARCH|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES|CUDA_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL"
    r"|HSA_OVERRIDE_GFX_VERSION.*|HSA_XNACK|ROCM_PATH|HIP_PATH|LD_LIBRARY_PATH|LD_PRELOAD)"
)


def python() -> Check:
    """The interpreter and whether it can load the extension."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    version = platform.python_version()
    facts = {
        "version": version,
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "free_threaded": free_threaded,
    }
    text = f"{facts['implementation']} {version}{' free-threaded' if free_threaded else ''} at {sys.executable}"
    if free_threaded or facts["implementation"] != "CPython" or sys.version_info < (3, 10):
        return Check("python", PROBLEM, f"{text}: the extension needs CPython 3.10 or newer with the GIL", facts)
    return Check("python", OK, text, facts)


def host() -> Check:
    """Operating system, processor and C library."""
    system = os.uname()
    libc = _libc()
    facts = {"system": system.sysname, "machine": system.machine, "kernel": system.release, "libc": libc}
    text = f"{system.sysname} {system.release} {system.machine}, {libc or 'another C library than glibc'}"
    version = re.fullmatch(r"glibc (\d+)\.(\d+).*", libc)
    fits = (system.sysname, system.machine) == ("Linux", "x86_64") and version is not None and (int(version[1]), int(version[2])) >= GLIBC
    if not fits:
        return Check("platform", PROBLEM, f"{text}: the extension needs Linux x86_64 with glibc {GLIBC[0]}.{GLIBC[1]} or newer", facts)
    return Check("platform", OK, text, facts)


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def driver(root: Path = ROOT) -> Check:
    """The kernel driver's device file and version."""
    kfd = root / "dev/kfd"
    version = _line(root / "sys/module/amdgpu/version")
    facts = {"kfd": kfd.exists(), "usable": os.access(kfd, os.R_OK | os.W_OK), "amdgpu": version}
    if not facts["kfd"]:
        return Check("driver", NOTE, "no /dev/kfd: this machine or container has no AMD GPU, or the driver is not loaded", facts)
    if not facts["usable"]:
        return Check("driver", WARNING, "/dev/kfd may not be read and written by this user: add the user to the groups that own it", facts)
    return Check("driver", OK, f"/dev/kfd is usable, amdgpu {version or 'of the kernel'}", facts)


def devices(archs: Iterable[str], root: Path = ROOT) -> Check:
    """The GPUs that the driver shows, and whether this wheel has kernels for them."""
    found = list(_nodes(root / "sys/class/kfd/kfd/topology/nodes"))
    held = set(archs)
    facts = {"devices": found}
    if not found:
        return Check("devices", NOTE, "the driver shows no GPU; resolve, explain and verify work without one", facts)
    text = ", ".join(f"{item['arch']} with {item['compute_units']} CUs" for item in found)
    if not any(item["arch"] in held for item in found):
        return Check("devices", WARNING, f"{text}: this wheel has kernels for {', '.join(sorted(held)) or 'no arch'} only", facts)
    return Check("devices", OK, text, facts)


def _nodes(directory: Path) -> Iterable[dict[str, Any]]:
    for path in sorted(directory.glob("*/properties"), key=lambda path: (len(path.parent.name), path.parent.name)):
        try:
            values = dict(line.split(maxsplit=1) for line in path.read_text(encoding="ascii").splitlines() if " " in line)
            target = int(values["gfx_target_version"])
            units = int(values["simd_count"]) // max(1, int(values["simd_per_cu"]))
        except (OSError, ValueError, KeyError):
            # A node that cannot be read is hidden from this container, as other containers' GPUs are.
            continue
        if target:
            arch = f"gfx{target // 10000}{target // 100 % 100:x}{target % 100:x}"
            yield {"node": path.parent.name, "arch": arch, "compute_units": units}


def rocm(minimum: str | None, root: Path = ROOT, torch_hip: str | None = None) -> Check:
    """The installed ROCm versions against the oldest one that loads every code object of this wheel."""
    installed = {}
    for path in sorted((root / "opt").glob("rocm*/.info/version")):
        installed["/" + path.parents[1].relative_to(root).as_posix()] = _line(path)
    facts = {"installed": installed, "torch": torch_hip, "minimum": minimum}
    needs = f"; code objects of this wheel need ROCm {minimum}" if minimum else "; the code objects of this wheel need no newer ROCm"
    versions = [torch_hip] if torch_hip else list(installed.values())
    text = (
        f"torch brings {torch_hip}" if torch_hip else ", ".join(f"{version} in {place}" for place, version in installed.items())
    ) or "none found"
    if minimum and any(_number(version) < _number(minimum) for version in versions):
        return Check("rocm", WARNING, f"{text}{needs}: objects that need it are refused on this ROCm", facts)
    return Check("rocm", OK if versions else NOTE, text + needs, facts)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def environment(variables: Mapping[str, str] | None = None) -> Check:
    """Variables that other software reads to choose kernels or devices; this package's dispatch reads none of them."""
    values = os.environ if variables is None else variables
    found = {name: values[name] for name in sorted(values) if VARIABLES.fullmatch(name)}
    rule = "arch and CU count come from the device, never from variables"
    text = ", ".join(f"{name}={ascii(value)[1:-1]}" for name, value in found.items())
    if any(name.startswith("HSA_OVERRIDE_GFX_VERSION") for name in found):
        return Check("environment", WARNING, f"{text}; the override makes the run time report an arch that the device is not", found)
    return Check("environment", NOTE if found else OK, f"{text}; {rule}" if text else f"nothing set; {rule}", found)


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip().partition("\n")[0]
    except OSError:
        return ""
