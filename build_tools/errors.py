"""Errors of the build: codes ``MLA5xx``, exit codes 10 and up. Never shipped; see ``aiter_mla_aot.errors`` for the run time."""

from __future__ import annotations

from aiter_mla_aot.errors import MlaError


class BuildError(MlaError):
    """Base of everything that stops a build."""

    code = "MLA500"
    exit_code = 10


class ExtensionCompileFailed(BuildError):
    """The dispatch extension could not be compiled or linked."""

    code = "MLA560"
    exit_code = 16


class DataError(BuildError):
    """Base of what is wrong in the data files under ``hsa/``."""

    code = "MLA520"
    exit_code = 12


class DataFileUnreadable(DataError):
    """A data file is absent or is not TOML."""

    code = "MLA521"


class SchemaDrift(DataError):
    """A data file, section or field is missing, of another type or of another schema."""

    code = "MLA522"


class UnknownField(DataError):
    """A data file holds a field or section that nothing reads."""

    code = "MLA523"


class DuplicateKey(DataError):
    """Two rows claim the same identity."""

    code = "MLA524"


class ShadowedKey(DataError):
    """A claimed kernel can never be chosen, or two kernels are equally good for one problem."""

    code = "MLA525"


class MissingObject(DataError):
    """A row names a code object, kernel, gate or fold that does not exist."""

    code = "MLA526"


class OrphanObject(DataError):
    """A locked code object has no row in the catalog."""

    code = "MLA527"


class ClaimInvalid(DataError):
    """A claim, gate or fold states something impossible."""

    code = "MLA528"


class BootstrapFailed(BuildError):
    """The private environment could not be made."""

    code = "MLA562"
    exit_code = 17


class VenvModuleMissing(BootstrapFailed):
    """The interpreter has no ``venv`` or no ``ensurepip``, as on Debian without python3-venv."""

    code = "MLA563"


class NetworkUnavailable(BootstrapFailed):
    """The package index did not answer."""

    code = "MLA564"


class DownloadHashMismatch(BootstrapFailed):
    """A downloaded file is not the file of the lock."""

    code = "MLA565"


class DiskFull(BootstrapFailed):
    """No space is left where the build writes."""

    code = "MLA566"


class NotWritable(BootstrapFailed):
    """The build may not write where it must."""

    code = "MLA567"


class StepFailed(BuildError):
    """A step of the build graph failed without a typed error of its own."""

    code = "MLA568"
    exit_code = 18


class SettingInvalid(BuildError):
    """A setting of the build (option, environment variable or ``--config-settings``) is unknown or impossible."""

    code = "MLA569"
    exit_code = 2


class ProviderError(BuildError):
    """Base of what is wrong with the source of the code objects."""

    code = "MLA540"
    exit_code = 14


class SourceMissing(ProviderError):
    """The given AITER source does not exist or holds no MLA code objects."""

    code = "MLA541"


class SourceUnsafe(ProviderError):
    """The given AITER source holds something that is never read: links, special files, unsafe or doubled names, oversized members."""

    code = "MLA542"


class SourceUnreadable(ProviderError):
    """The given AITER source is damaged, encrypted or cannot be read."""

    code = "MLA543"


class ObjectUnknown(ProviderError):
    """The source holds a code object that the lock does not know."""

    code = "MLA544"


class ObjectChanged(ProviderError):
    """A code object of the source is not the one of the lock."""

    code = "MLA545"


class ObjectMissing(ProviderError):
    """A code object of the lock is not in the source."""

    code = "MLA546"


class LicenceMissing(ProviderError):
    """The source has no licence text to go with its objects."""

    code = "MLA547"


class ObjectRejected(ProviderError):
    """A code object cannot go into a lock because the reader does not accept it."""

    code = "MLA548"


class CoverageShrank(DataError):
    """Fewer problems are served than before."""

    code = "MLA529"


class SmokeFailed(BuildError):
    """The built wheel, installed in a new environment, does not do what it must."""

    code = "MLA590"
    exit_code = 19


class WheelCheckFailed(BuildError):
    """A wheel breaks a rule of a release."""

    code = "MLA570"
    exit_code = 19


class WheelNotComparable(BuildError):
    """A file given to ``diff`` is no wheel of this package, or its tables have another schema."""

    code = "MLA571"
    exit_code = 19


class NotReproducible(BuildError):
    """Two builds of one source tree gave different bytes, or could not both be made."""

    code = "MLA572"
    exit_code = 19


class HardwareReportError(BuildError):
    """Base of what is wrong with a record given to ``import-report``; nothing of it is imported then."""

    code = "MLA580"
    exit_code = 15


class HardwareReportUnreadable(HardwareReportError):
    """The file cannot be read, is far too large, or is no record of ``smoke --record`` of a schema known here."""

    code = "MLA581"


class HardwareReportMalformed(HardwareReportError):
    """A field of the record is missing, unknown, of another type or outside its range."""

    code = "MLA582"


class HardwareReportContradicts(HardwareReportError):
    """The record contradicts itself or the catalog, for instance by a result that is right with an error above its bound."""

    code = "MLA583"


class HardwareReportEmulated(HardwareReportError):
    """The record was made on the emulator, which lifts no gate and is proven otherwise."""

    code = "MLA584"


class HardwareReportUnknownObject(HardwareReportError):
    """The record is about a code object or an architecture that the catalog does not hold."""

    code = "MLA585"
