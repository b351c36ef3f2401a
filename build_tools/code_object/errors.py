"""What can be wrong with a code object, one class and one stable code for each fault: ``MLA501`` to ``MLA519``."""

from __future__ import annotations

from build_tools.errors import BuildError

FETCH_AGAIN = "fetch the object again from its provider; an object of your own must be an amdgcn-amd-amdhsa shared object as clang links it"


class CodeObjectError(BuildError):
    """Base of all faults of a code object; ``name`` is the file it came from."""

    code = "MLA501"
    exit_code = 11

    def __init__(self, name: str, fault: str, *, cause: str, remedy: str = FETCH_AGAIN) -> None:
        super().__init__(f"{name}: {fault}", cause=cause, remedy=remedy)
        self.name = name


class ObjectUnreadable(CodeObjectError):
    """The file cannot be opened or read."""

    code = "MLA502"


class NotAnElf(CodeObjectError):
    """The bytes do not start like an ELF file, or there are none."""

    code = "MLA503"


class UnsupportedElf(CodeObjectError):
    """An ELF file, but not a 64-bit little-endian AMDGPU shared object for the HSA run time."""

    code = "MLA504"


class WrongArch(CodeObjectError):
    """The object is for another AMD GPU than the one asked for, or for one that no data describes."""

    code = "MLA505"


class UnknownAbi(CodeObjectError):
    """The code object version, or a flag that changes its meaning, is not known."""

    code = "MLA506"


class TruncatedObject(CodeObjectError):
    """A header, table, section, segment or name lies beyond the end of what holds it."""

    code = "MLA507"


class LimitExceeded(CodeObjectError):
    """A size, count or depth is far beyond anything a kernel needs."""

    code = "MLA508"


class InconsistentLayout(CodeObjectError):
    """Sections or segments overlap, or the two views of the file contradict each other."""

    code = "MLA509"


class TrailingBytes(CodeObjectError):
    """Bytes follow the last thing that the headers describe."""

    code = "MLA510"


class MetadataAbsent(CodeObjectError):
    """No AMDGPU metadata note, or an empty one."""

    code = "MLA511"


class MetadataMalformed(CodeObjectError):
    """The note, or the msgpack in it, is damaged or ambiguous."""

    code = "MLA512"


class MetadataInvalid(CodeObjectError):
    """The metadata decodes, but a value is missing, of another type or impossible."""

    code = "MLA513"


class SymbolAbsent(CodeObjectError):
    """A kernel or its ``.kd`` symbol is not in the object."""

    code = "MLA514"


class DescriptorInvalid(CodeObjectError):
    """A kernel descriptor is not loaded, not 64 bytes, or its entry is no loaded code."""

    code = "MLA515"


class HashMismatch(CodeObjectError):
    """The bytes are not the expected ones."""

    code = "MLA516"

    def __init__(self, name: str, expected: str, found: str) -> None:
        super().__init__(
            name,
            "the SHA-256 differs from the expected one",
            cause=f"expected {expected}, found {found}",
            remedy="fetch the object again; if the new bytes are wanted, catalogue and lock them first",
        )
        self.expected = expected
        self.found = found


class MetadataMismatch(CodeObjectError):
    """Two statements about one property of an object differ."""

    code = "MLA517"

    def __init__(self, name: str, field: str, expected: object, found: object, *, source: str) -> None:
        super().__init__(
            name,
            f"{field} is {found!r}, but {source} says {expected!r}",
            cause="the two describe different objects, or one of them is damaged",
            remedy="correct the row from `python3 -m build_tools inspect FILE`, or fetch the object again",
        )
        self.field = field
        self.expected = expected
        self.found = found


class ArgumentsPastHostBlock(CodeObjectError):
    """A kernel reads arguments that the host never writes."""

    code = "MLA518"


class LdsOverLimit(CodeObjectError):
    """A kernel needs more LDS than a workgroup of its arch can have."""

    code = "MLA519"
