"""Devices and kernels: which HIP is in this process, what a device is, and loading its kernels.

Nothing here links or starts ROCm. HIP is found among the libraries the process has loaded already (a ROCm torch brings it),
so that streams and memory are shared with it. All functions are thread-safe, and raise after a fork.
Source: ``csrc/dispatch`` (``hip_binding``, ``device_info``, ``module_store``).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import ArgumentInvalid, DeviceUnsupported
from .native import KERNEL_DIRECTORY, load

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class HipRuntime:
    """The HIP library in use.

    path: its file. how: the step of the search that found it. copies: HIP run times that were loaded then, this one
    included; more than one is a fault of the installation, since two of them share neither streams nor memory.
    emulated: it is an emulator, CPU tensors stand for device memory.
    """

    path: str
    how: str
    copies: int
    emulated: bool


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device, as the device and the run time describe it.

    arch: processor such as ``gfx942``. target_id: the same with its settings, ``gfx942:sramecc+:xnack-``.
    lds_bytes: LDS of a workgroup. hip_version: ``major.minor`` of the HIP run time, which for ROCm 6 and 7 is ROCm's.
    """

    device: int
    arch: str
    target_id: str
    compute_units: int
    warp_size: int
    lds_bytes: int
    hip_version: str


def open_hip(path: str | os.PathLike[str] | None = None, *, allow_load: bool = False) -> HipRuntime:
    """Finds the HIP run time of this process; later calls return the same.

    Searched in this order: ``path``; the file named by ``AITER_MLA_AOT_HIP_LIBRARY``; a loaded ``libamdhip64*``; the sonames
    ``libamdhip64.so.7``, ``.so.6`` and ``.so`` if loaded; the global symbols. Only with ``allow_load`` is a library loaded by
    soname where none was found.

    Raises ``HipNotFound``, ``UsedAfterFork``, and ``ArgumentInvalid`` for a ``path`` other than the library already in use.
    """
    found = load().hip_open(path, allow_load)
    return HipRuntime(found["path"], found["how"], found["copies"], found["takes_host_memory"])


def device_count() -> int:
    """Number of visible devices. Raises ``HipNotFound`` and ``HipError`` (none visible is an error of HIP)."""
    return load().device_count()


def device_info(device: int) -> DeviceInfo:
    """Facts of one device. Environment lists such as ``GPU_ARCHS`` take no part.

    Raises ``HipNotFound``, ``HipError``, ``ArgumentInvalid`` for an index that does not exist, and ``DeviceUnsupported`` where
    the run time does not name the device's arch, or torch names another.
    """
    facts = load().device_info(device)
    _check_torch_agrees(device, facts["arch"])
    version = facts["runtime_version"]
    return DeviceInfo(
        facts["device"],
        facts["arch"],
        facts["target_id"],
        facts["compute_units"],
        facts["warp_size"],
        facts["lds_bytes"],
        f"{version // 10_000_000}.{version // 100_000 % 100}",
    )


def prepare(device: int | str | torch.device | None = None) -> DeviceInfo:
    """Loads this package's kernels for a device, so that calls may be captured into graphs from the start.

    device: index, ``"cuda:1"`` or a torch device; by default torch's current device, or 0 where torch is not in use.
    Each code object is read once, its SHA-256 is compared with the one compiled into the extension, and exactly those bytes are
    given to HIP. All kernels load or none; a second call for the device does nothing. The current device stays current.

    Raises, besides the errors of ``device_info``: ``DeviceUnsupported`` for an arch that this wheel does not hold,
    ``PackageFileMissing``, ``ObjectHashMismatch``, ``ObjectForOtherArch``, ``TargetIdMismatch`` and ``ObjectNeedsNewerRocm``.
    """
    index = _index(device)
    info = device_info(index)
    load().prepare(index, None, KERNEL_DIRECTORY)
    return info


def is_prepared(device: int) -> bool:
    """True once the kernels of a device are loaded."""
    return load().is_prepared(device)


def _index(device: int | str | torch.device | None) -> int:
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    text = "" if device is None else str(device)
    name, _, number = text.partition(":")
    if name == "cuda" and number.isdecimal():
        return int(number)
    if name not in {"", "cuda"} or number:
        raise ArgumentInvalid(
            f"device is {text!r:.80}", cause="device must be an index, cuda or cuda:<index>", remedy="pass the index of an AMD GPU"
        )
    cuda = _rocm_torch()
    return int(cuda.current_device()) if cuda is not None else 0


def _check_torch_agrees(device: int, arch: str) -> None:
    cuda = _rocm_torch()
    if cuda is None or device >= cuda.device_count():
        return
    named = str(cuda.get_device_properties(device).gcnArchName).partition(":")[0]
    if named != arch:
        raise DeviceUnsupported(
            f"device {device} is {named} for torch and {arch} for HIP",
            cause="torch and this package do not see the same run time or the same devices",
            remedy="let one HIP library serve the process; aiter-mla-aot doctor shows which one is in use",
        )


def _rocm_torch() -> Any | None:
    """``torch.cuda`` of a ROCm torch that the process has imported and that sees a device."""
    torch_module = sys.modules.get("torch")
    if torch_module is None or not getattr(torch_module.version, "hip", None) or not torch_module.cuda.is_available():
        return None
    return torch_module.cuda
