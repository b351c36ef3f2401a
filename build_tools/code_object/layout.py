"""The ELF of a code object: headers, segments and sections, all checked before anything is read through them.

pyelftools supplies the record layouts only. Its own traversal follows links and sizes of the file without bounds, so it is not used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Any, Final

from elftools.common.utils import struct_parse
from elftools.elf.structs import ELFStructs

from . import limits
from .errors import InconsistentLayout, LimitExceeded, NotAnElf, TrailingBytes, TruncatedObject, UnsupportedElf

MAGIC: Final = b"\x7fELF"
HEADER_BYTES: Final = 64
SEGMENT_BYTES: Final = 56
SECTION_BYTES: Final = 64
OSABI_OFFSET: Final = 7
ABIVERSION_OFFSET: Final = 8
OSABI_AMDGPU_HSA: Final = 64  # pyelftools names the number after another platform
EXECUTABLE: Final = 1
SHF_ALLOC: Final = 2
SHF_EXECINSTR: Final = 4


@dataclass(frozen=True, slots=True)
class Segment:
    """A program header; ``kind`` is ELF's name of the type, or its number where it has none."""

    kind: str | int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section header. The name is not kept: nothing may depend on it, and it may be stripped."""

    kind: str | int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    entry_size: int

    @property
    def file_size(self) -> int:
        """Bytes of the file that belong to the section."""
        return 0 if self.kind in ("SHT_NULL", "SHT_NOBITS") else self.size


@dataclass(frozen=True, slots=True)
class Layout:
    """A file whose headers describe nothing outside it and nothing twice."""

    name: str
    data: bytes
    structs: ELFStructs
    e_flags: int
    abiversion: int
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]

    def loaded(self) -> Iterable[Segment]:
        """The segments that the loader copies to the device."""
        return (segment for segment in self.segments if segment.kind == "PT_LOAD")

    def parse(self, struct: Any, offset: int) -> Any:
        """One record of the file; the caller has checked that it lies inside."""
        return struct_parse(struct, BytesIO(self.data), offset)

    def segment_of(self, address: int, size: int) -> Segment | None:
        """The loaded segment whose file bytes hold a range of addresses."""
        for segment in self.loaded():
            if segment.address <= address and address + size <= segment.address + segment.file_size:
                return segment
        return None

    def is_loaded(self, section: Section) -> bool:
        """Whether a section's file bytes are the ones that the loader puts at its address."""
        segment = self.segment_of(section.address, section.size)
        return (
            bool(section.flags & SHF_ALLOC) and segment is not None and section.offset - segment.offset == section.address - segment.address
        )


def parse(data: bytes, name: str) -> Layout:
    """Check the headers of a file and return them; raises the kinds of ``CodeObjectError`` that concern the ELF."""
    structs = _identify(data, name)
    header = struct_parse(structs.Elf_Ehdr, BytesIO(data), 0)
    _check_header(header, data, name)
    tables = [
        (0, HEADER_BYTES, "the ELF header"),
        (header.e_phoff, header.e_phnum * SEGMENT_BYTES, "the program headers"),
        (header.e_shoff, header.e_shnum * SECTION_BYTES, "the section headers"),
    ]
    _disjoint(tables, "file", name)
    segments = tuple(_segments(header, structs, data, name))
    sections = tuple(_sections(header, structs, data, name))
    _check_segments(segments, name)
    ranges = [(section.offset, section.file_size, f"section {number}") for number, section in enumerate(sections)]
    for offset, size, what in ranges:
        _inside(offset, size, what, data, name)
    _disjoint(tables + ranges, "file", name)
    end = max(
        offset + size
        for offset, size in [*(item[:2] for item in tables + ranges), *((item.offset, item.file_size) for item in segments)]
        if size
    )
    if end != len(data):
        raise TrailingBytes(
            name, f"{len(data) - end} bytes follow the end of the object", cause=f"its headers describe {end} of {len(data)} bytes"
        )
    return Layout(name, data, structs, header.e_flags, data[ABIVERSION_OFFSET], segments, sections)


def _identify(data: bytes, name: str) -> ELFStructs:
    if data[:4] != MAGIC:
        raise NotAnElf(name, "not an ELF file", cause=f"it starts with {data[:4].hex(' ')}" if data else "the file is empty")
    if len(data) > limits.FILE_BYTES:
        raise LimitExceeded(name, f"the file has {len(data)} bytes", cause=f"code objects are below {limits.FILE_BYTES} bytes")
    if len(data) < HEADER_BYTES:
        raise TruncatedObject(name, "the ELF header is cut off", cause=f"the file has {len(data)} of at least {HEADER_BYTES} bytes")
    if data[4] != 2 or data[5] != 1:
        raise UnsupportedElf(name, "not a 64-bit little-endian ELF", cause=f"class {data[4]}, byte order {data[5]} (2 and 1 are wanted)")
    structs = ELFStructs(little_endian=True, elfclass=64)
    structs.create_basic_structs()
    structs.create_advanced_structs("ET_DYN", "EM_AMDGPU")
    return structs


def _check_header(header: Any, data: bytes, name: str) -> None:
    for what, found, wanted in (
        ("machine", header.e_machine, "EM_AMDGPU"),
        ("OS ABI", data[OSABI_OFFSET], OSABI_AMDGPU_HSA),
        ("type", header.e_type, "ET_DYN"),
        ("version", header.e_version, "EV_CURRENT"),
        ("identification version", header.e_ident.EI_VERSION, "EV_CURRENT"),
        ("header size", header.e_ehsize, HEADER_BYTES),
        ("program header size", header.e_phentsize, SEGMENT_BYTES),
        ("section header size", header.e_shentsize, SECTION_BYTES),
    ):
        if found != wanted:
            raise UnsupportedElf(name, f"the ELF {what} is {found!r}", cause=f"an AMDGPU object for the HSA run time has {wanted!r}")
    for what, count, limit in (("program", header.e_phnum, limits.SEGMENTS), ("section", header.e_shnum, limits.SECTIONS)):
        if not count:
            raise UnsupportedElf(name, f"the file has no {what} headers", cause="the loader needs segments, and finds symbols by sections")
        if count > limit:
            raise LimitExceeded(name, f"{count} {what} headers", cause=f"at most {limit} are read")
    _inside(header.e_phoff, header.e_phnum * SEGMENT_BYTES, "the program header table", data, name)
    _inside(header.e_shoff, header.e_shnum * SECTION_BYTES, "the section header table", data, name)


def _segments(header: Any, structs: ELFStructs, data: bytes, name: str) -> Iterable[Segment]:
    for number in range(header.e_phnum):
        row = struct_parse(structs.Elf_Phdr, BytesIO(data), header.e_phoff + number * SEGMENT_BYTES)
        _inside(row.p_offset, row.p_filesz, f"segment {number}", data, name)
        yield Segment(row.p_type, row.p_flags, row.p_offset, row.p_vaddr, row.p_filesz, row.p_memsz)


def _sections(header: Any, structs: ELFStructs, data: bytes, name: str) -> Iterable[Section]:
    for number in range(header.e_shnum):
        row = struct_parse(structs.Elf_Shdr, BytesIO(data), header.e_shoff + number * SECTION_BYTES)
        yield Section(row.sh_type, row.sh_flags, row.sh_addr, row.sh_offset, row.sh_size, row.sh_link, row.sh_entsize)


def _check_segments(segments: tuple[Segment, ...], name: str) -> None:
    loaded = [(number, segment) for number, segment in enumerate(segments) if segment.kind == "PT_LOAD"]
    for number, segment in loaded:
        if segment.memory_size < segment.file_size:
            raise InconsistentLayout(
                name, f"segment {number} is larger in the file than in memory", cause=f"{segment.file_size} > {segment.memory_size} bytes"
            )
        if segment.address + segment.memory_size > limits.IMAGE_BYTES:
            raise LimitExceeded(
                name,
                f"segment {number} ends at address {segment.address + segment.memory_size:#x}",
                cause=f"an image has at most {limits.IMAGE_BYTES} bytes",
            )
    _disjoint([(segment.address, segment.memory_size, f"segment {number}") for number, segment in loaded], "memory", name)
    _disjoint([(segment.offset, segment.file_size, f"segment {number}") for number, segment in loaded], "file", name)


def _inside(offset: int, size: int, what: str, data: bytes, name: str) -> None:
    if size and offset + size > len(data):
        raise TruncatedObject(name, f"{what} lies beyond the end of the file", cause=f"bytes {offset} to {offset + size} of {len(data)}")


def _disjoint(ranges: list[tuple[int, int, str]], where: str, name: str) -> None:
    ordered = sorted((offset, offset + size, what) for offset, size, what in ranges if size)
    for (_, end, first), (start, _, second) in pairwise(ordered):
        if start < end:
            raise InconsistentLayout(name, f"{first} and {second} overlap", cause=f"both claim {where} offset {start:#x}")
