"""Runs the package's kernels on the CPU: an emulator of gfx942 and gfx950 behind HIP's names.

``activate("gfx950")`` points the extension at ``libaiter_mla_emulator.so``; from then on CPU tensors stand for device memory, and
every launch executes the real code object, instruction by instruction. Results count as proven on the emulator, never as
validated on hardware. Without Python: name the library in ``AITER_MLA_AOT_HIP_LIBRARY`` and the devices in
``AITER_MLA_EMULATOR_DEVICES`` (``gfx950:256,gfx942:80``).

Kernels may touch memory of ``Memory``, memory given to ``Emulator.register``, and the tensors of the launch itself, which the
extension registers for that launch with ``emulator_register_for_launch``. Anything else is a fault.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..device import open_hip
from ..errors import ArgumentInvalid, DeviceUnsupported, HipNotFound
from .library import Emulator, Memory

__all__ = ["LIBRARY", "Emulator", "Memory", "activate", "load"]

LIBRARY: Final = Path(__file__).resolve().parent / "libaiter_mla_emulator.so"
"""The library of this package."""

_KFD: Final = Path("/dev/kfd")
_LOG: Final = logging.getLogger(__name__)


def load(library: str | os.PathLike[str] | None = None) -> Emulator:
    """The emulator's own face, without pointing the extension at it.

    Raises ``HipNotFound`` where the library does not exist or cannot be loaded.
    """
    path = Path(library) if library is not None else LIBRARY
    if not path.is_file():
        raise HipNotFound(
            f"there is no emulator library at {path}",
            cause="the wheel was built without the emulator, or this is a source tree",
            remedy="install a wheel that holds the emulator, or build it: python3 -m build_tools wheel",
        )
    try:
        return Emulator(path)
    except OSError as error:
        raise HipNotFound(
            f"the emulator library {path} cannot be loaded", cause=str(error), remedy="reinstall the wheel for this platform"
        ) from error


def activate(
    arch: str | Sequence[str],
    *,
    compute_units: int | None = None,
    rocm: str = "7.0",
    library: str | os.PathLike[str] | None = None,
    beside_gpu: bool = False,
) -> Emulator:
    """Makes the package run on emulated devices; to be called before anything opened HIP.

    arch: one processor, or one for each device. compute_units: CUs of every device, by default those of the full product (304 and
    256). rocm: the version the run time claims. beside_gpu: allow it where the machine has an AMD GPU.

    Raises ``DeviceUnsupported`` for an unknown arch and beside a GPU, ``ArgumentInvalid`` for impossible values and where another
    HIP library is in use already, and ``HipNotFound``.
    """
    archs = [arch] if isinstance(arch, str) else list(arch)
    unknown = [name for name in archs if name not in {"gfx942", "gfx950"}]
    if unknown or not archs:
        raise DeviceUnsupported(
            f"the emulator has no device {', '.join(map(repr, unknown)) or 'in an empty list'}",
            cause="it emulates gfx942 and gfx950",
            remedy="name one of these",
        )
    if _KFD.exists() and not beside_gpu:
        raise DeviceUnsupported(
            "this machine has an AMD GPU",
            cause=f"{_KFD} exists, and an emulator beside a GPU is easily mistaken for it",
            remedy="pass beside_gpu=True to emulate all the same",
        )
    emulator = load(library)
    emulator.set_devices(archs, compute_units)
    emulator.set_rocm(rocm)
    runtime = open_hip(emulator.path)
    if not runtime.emulated:
        raise ArgumentInvalid(
            f"HIP is already {runtime.path}",
            cause="a process keeps the HIP library it opened first",
            remedy="call activate before anything else of the package",
        )
    _LOG.warning("EMULATED: kernels run on the CPU by %s (%s)", emulator.path.name, ", ".join(archs))
    return emulator
