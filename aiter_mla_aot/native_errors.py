"""From the dispatch extension's error values (a code and texts) to the typed exceptions of ``errors``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from . import errors
from .errors import MlaError


def from_native(code: int, details: tuple[str, ...]) -> MlaError:
    """The exception for a code of ``csrc/dispatch/abi.h``; ``details`` are the texts listed there, absent ones read as empty."""
    make = _MAKERS.get(code)
    padded = (*details, "", "", "", "")[:4]
    return make(*padded) if make else MlaError(f"native error {code}: {', '.join(details)}")


def _invalid_problem(field: str, expected: str, got: str, _: str) -> MlaError:
    return errors.InvalidProblem(f"{field} is {got!r:.80}", cause=f"{field} must be {expected}", remedy=f"give {expected} for {field}")


def _refused(refusal: str, *_: str) -> MlaError:
    return errors.Refused(
        f"no kernel of this wheel may serve this call: {refusal}",
        cause="the tensors and flags of the call make a problem that dispatch refuses",
        remedy="ask aiter_mla_aot.explain for the nearest problem that is served",
    )


def _file_missing(path: str, reason: str, *_: str) -> MlaError:
    return errors.PackageFileMissing(
        f"{path} cannot be read", cause=reason, remedy="install the package again, or see what else is missing with aiter-mla-aot verify"
    )


def _hip_not_found(tried: str, reason: str, *_: str) -> MlaError:
    return errors.HipNotFound(
        f"no HIP run time was found: {reason}",
        cause=f"searched: {tried}",
        remedy="import a ROCm build of torch first, or name the library in AITER_MLA_AOT_HIP_LIBRARY",
    )


def _hip_error(call: str, number: str, name: str, text: str) -> MlaError:
    return errors.HipError(
        f"{call} failed: {name} ({number})",
        cause=text,
        remedy="aiter-mla-aot doctor shows the run time and its devices",
    )


def _device_unsupported(device: str, found: str, needed: str, _: str) -> MlaError:
    return errors.DeviceUnsupported(
        f"device {device} cannot be used: {found}",
        cause=f"this wheel needs {needed}",
        remedy="choose another device, or a wheel for its arch",
    )


def _needs_newer_rocm(file: str, needed: str, found: str, _: str) -> MlaError:
    return errors.ObjectNeedsNewerRocm(
        f"{file} needs ROCm {needed}, this process runs ROCm {found}",
        cause="code objects of version 6 are rejected by older loaders (ROCR-Runtime#321)",
        remedy=f"use ROCm {needed} or newer",
    )


def _other_arch(what: str, arch: str, device_arch: str, _: str) -> MlaError:
    return errors.ObjectForOtherArch(
        f"{what} is for {arch}, the device is {device_arch}",
        cause="code objects run on the arch they were compiled for only",
        remedy=f"load the kernels of {device_arch}",
    )


def _target_id(file: str, feature: str, target_id: str, _: str) -> MlaError:
    return errors.TargetIdMismatch(
        f"{file} was built for {feature}, the device is {target_id}",
        cause="a code object with a fixed sramecc or xnack setting runs under that setting only",
        remedy="change the setting of the device (HSA_XNACK for xnack) or use an object without it",
    )


def _hash_mismatch(file: str, expected: str, found: str, _: str) -> MlaError:
    return errors.ObjectHashMismatch(
        f"{file} has SHA-256 {found}",
        cause=f"the extension was built for SHA-256 {expected}",
        remedy="install the package again; aiter-mla-aot verify checks every file",
    )


def _mixed_devices(argument: str, device: str, first: str, _: str) -> MlaError:
    return errors.MixedDevices(
        f"{argument} is on device {device}, q is on device {first}",
        cause="the devices are written as DLPack device type:index",
        remedy="move all tensors of the call to one device",
    )


def _used_after_fork(opener: str, process: str, *_: str) -> MlaError:
    return errors.UsedAfterFork(
        f"HIP was opened by process {opener}, this is its fork {process}",
        cause="a HIP run time does not survive fork",
        remedy="start worker processes with the spawn method, or open HIP only in the workers",
    )


def _argument(argument: str, expected: str, got: str, _: str) -> MlaError:
    return errors.ArgumentInvalid(f"{argument} is {got}", cause=f"{argument} must be {expected}", remedy=f"pass {expected} for {argument}")


def _not_prepared(device: str, reason: str, *_: str) -> MlaError:
    return errors.ModuleNotPrepared(
        f"the kernels of device {device} are not loaded: {reason}",
        cause="code objects cannot be loaded while a stream is captured into a graph, and not without their folder",
        remedy=f"call aiter_mla_aot.prepare({device}) before the capture",
    )


_MAKERS: Final[dict[int, Callable[[str, str, str, str], MlaError]]] = {
    101: _invalid_problem,
    102: _refused,
    201: _file_missing,
    301: _hip_not_found,
    302: _hip_error,
    303: _device_unsupported,
    304: _needs_newer_rocm,
    305: _other_arch,
    306: _target_id,
    307: _hash_mismatch,
    308: _mixed_devices,
    309: _used_after_fork,
    310: _argument,
    311: _not_prepared,
}
