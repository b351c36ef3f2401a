"""Errors of the installed package.

Every error states a fact, its cause and a remedy, and carries a stable ``code`` (part of the public API, never reused)
and the process ``exit_code`` that the command line returns for it. Library code raises these and never prints or exits.

Codes: ``MLA1xx`` requests and dispatch, ``MLA2xx`` files of the package, ``MLA3xx`` device and HIP run time.
Errors of the build are in ``build_tools.errors`` (``MLA5xx``) and are not shipped.
"""

from __future__ import annotations

from typing import ClassVar


class MlaError(Exception):
    """Base of all errors: ``fact`` (what happened), ``cause`` (why) and ``remedy`` (what to do)."""

    code: ClassVar[str] = "MLA000"
    exit_code: ClassVar[int] = 1

    def __init__(self, fact: str, *, cause: str = "", remedy: str = "") -> None:
        super().__init__(fact)
        self.fact = fact
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.fact}"]
        if self.cause:
            lines.append(f"  cause: {self.cause}")
        if self.remedy:
            lines.append(f"  remedy: {self.remedy}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, str]:
        """The error as the ``error`` object of every ``--json`` answer."""
        return {"code": self.code, "fact": self.fact, "cause": self.cause, "remedy": self.remedy}


class InvalidProblem(MlaError):
    """A field of a problem is missing, unknown or outside its domain."""

    code = "MLA101"
    exit_code = 2


class Refused(MlaError):
    """No kernel of this wheel may serve the problem; the fact names the refusal code (see ``dispatch.REFUSAL_TEXT``)."""

    code = "MLA102"
    exit_code = 3


class OutputUnwritable(MlaError):
    """A command's answer cannot be written to standard output."""

    code = "MLA103"
    exit_code = 6


class RecordUnwritable(MlaError):
    """A record of ``smoke`` cannot be written to the file that was named, or the file exists."""

    code = "MLA104"
    exit_code = 6


class NotForcible(MlaError):
    """A kernel cannot be forced: this wheel does not hold it, or more stands against it than gates that rest on devices."""

    code = "MLA105"
    exit_code = 2


class PackageFileMissing(MlaError):
    """A file that the package needs is absent."""

    code = "MLA201"
    exit_code = 4


class PackageFileDamaged(MlaError):
    """A file of the package is not the file that was built: its hash, size or format differs."""

    code = "MLA202"
    exit_code = 4


class PackageFileUnexpected(MlaError):
    """A file lies in the package that the build did not put there."""

    code = "MLA203"
    exit_code = 4


class RecordInvalid(MlaError):
    """The ``RECORD`` of the package is absent, malformed, or leaves a file without a hash; or two packages lie in one place."""

    code = "MLA204"
    exit_code = 4


class CodeObjectMismatch(MlaError):
    """A code object is not the one its arch's table names, or is no AMDGPU code object of that arch."""

    code = "MLA205"
    exit_code = 4


class TableMismatch(MlaError):
    """A dispatch table or ``build_info.json`` is of another schema or contradicts the rest of the package."""

    code = "MLA206"
    exit_code = 4


class VersionLabelMismatch(MlaError):
    """The version differs between the parts of the package, or does not say what the build was made of."""

    code = "MLA207"
    exit_code = 4


class WheelInvalid(MlaError):
    """A file is not a wheel of this package: not a zip archive of the plain form the build writes, truncated, or misnamed."""

    code = "MLA208"
    exit_code = 4


class ExtensionMismatch(MlaError):
    """The dispatch extension was compiled for other code objects than the package holds."""

    code = "MLA209"
    exit_code = 4


class HipNotFound(MlaError):
    """No HIP run time is loaded in this process, or the one that was named does not load."""

    code = "MLA301"
    exit_code = 5


class HipError(MlaError):
    """A HIP call failed."""

    code = "MLA302"
    exit_code = 5


class DeviceUnsupported(MlaError):
    """The device is not one that this wheel has kernels for, or it cannot be identified."""

    code = "MLA303"
    exit_code = 5


class ObjectNeedsNewerRocm(MlaError):
    """A code object has a version that the ROCm of this process cannot load."""

    code = "MLA304"
    exit_code = 5


class ObjectForOtherArch(MlaError):
    """A code object is for another arch than the device."""

    code = "MLA305"
    exit_code = 5


class TargetIdMismatch(MlaError):
    """A code object was built for another sramecc or xnack setting than the device runs with."""

    code = "MLA306"
    exit_code = 5


class ObjectHashMismatch(MlaError):
    """The bytes of a code object are not those the extension was built for."""

    code = "MLA307"
    exit_code = 5


class MixedDevices(MlaError):
    """The tensors of one call are on different devices."""

    code = "MLA308"
    exit_code = 5


class UsedAfterFork(MlaError):
    """HIP was opened by a process of which this one is a fork."""

    code = "MLA309"
    exit_code = 5


class ArgumentInvalid(MlaError):
    """An argument has another type, shape, dtype, layout or place than the call takes."""

    code = "MLA310"
    exit_code = 5


class ModuleNotPrepared(MlaError):
    """The kernels of a device are needed but cannot be loaded now."""

    code = "MLA311"
    exit_code = 5


class NativeAbiMismatch(MlaError):
    """The extension and the Python files of the package are not of one build."""

    code = "MLA312"
    exit_code = 5


class SmokeNotRight(MlaError):
    """A request of ``smoke`` failed or gave wrong numbers, or this wheel serves none of them."""

    code = "MLA313"
    exit_code = 5
