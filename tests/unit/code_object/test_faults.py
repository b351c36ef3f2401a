"""Each fault of an ELF has its own error."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable

import pytest

from build_tools.code_object import errors, limits, read
from build_tools.code_object.errors import (
    CodeObjectError,
    DescriptorInvalid,
    InconsistentLayout,
    LimitExceeded,
    MetadataAbsent,
    MetadataMalformed,
    MetadataMismatch,
    NotAnElf,
    SymbolAbsent,
    TrailingBytes,
    TruncatedObject,
    UnknownAbi,
    UnsupportedElf,
)
from tests.synthetic_object import (
    CODE,
    NOTE,
    READ_ONLY,
    S_DYNSTR,
    S_DYNSYM,
    S_NAMES,
    S_NOTE,
    S_RODATA,
    S_TEXT,
    TEXT_SHIFT,
    Image,
    Kernel,
    build,
    metadata,
    note,
)

Fault = Callable[[Image], bytes]
HUGE = (1 << 64) - 1
SEGMENT_NOTE, SEGMENT_LOAD = 4, 1


def put(record: str, number: int, name: str, value: int) -> Fault:
    return lambda image: image.put(record, number, name, value)


FAULTS: dict[str, tuple[Fault, type[CodeObjectError], str]] = {
    "empty": (lambda _: b"", NotAnElf, "empty"),
    "text": (lambda _: b"#!/bin/sh\n", NotAnElf, "not an ELF"),
    "archive": (lambda image: b"PK\x03\x04" + image, NotAnElf, "50 4b"),
    "magic only": (lambda image: image[:4], TruncatedObject, "header is cut"),
    "half a header": (lambda image: image[:40], TruncatedObject, "header is cut"),
    "header only": (lambda image: image[:64], TruncatedObject, "program header table"),
    "without its last byte": (lambda image: image[:-1], TruncatedObject, "section header table"),
    "first half": (lambda image: image[: len(image) // 2], TruncatedObject, "section header table"),
    "ELF32": (lambda image: image.splice(4, b"\x01"), UnsupportedElf, "64-bit"),
    "big endian": (lambda image: image.splice(5, b"\x02"), UnsupportedElf, "little-endian"),
    "identification version": (lambda image: image.splice(6, b"\x02"), UnsupportedElf, "version"),
    "other OS ABI": (lambda image: image.splice(7, b"\x00"), UnsupportedElf, "OS ABI"),
    "PAL OS ABI": (lambda image: image.splice(7, b"\x41"), UnsupportedElf, "OS ABI"),
    "code object version 2": (lambda image: image.splice(8, b"\x00"), UnknownAbi, "known are"),
    "future ABI version": (lambda image: image.splice(8, b"\x05"), UnknownAbi, "version 5"),
    "x86-64": (put("ehdr", 0, "e_machine", 62), UnsupportedElf, "machine"),
    "relocatable": (put("ehdr", 0, "e_type", 1), UnsupportedElf, "type"),
    "ELF version": (put("ehdr", 0, "e_version", 2), UnsupportedElf, "version"),
    "header size": (put("ehdr", 0, "e_ehsize", 52), UnsupportedElf, "header size"),
    "program header size": (put("ehdr", 0, "e_phentsize", 0), UnsupportedElf, "program header size"),
    "section header size": (put("ehdr", 0, "e_shentsize", 40), UnsupportedElf, "section header size"),
    "no segments": (put("ehdr", 0, "e_phnum", 0), UnsupportedElf, "no program"),
    "no sections": (put("ehdr", 0, "e_shnum", 0), UnsupportedElf, "no section"),
    "huge segment count": (put("ehdr", 0, "e_phnum", 0xFFFF), LimitExceeded, "65535 program"),
    "huge section count": (put("ehdr", 0, "e_shnum", 0xFF00), LimitExceeded, "section"),
    "segments past the end": (put("ehdr", 0, "e_phoff", HUGE), TruncatedObject, "program header table"),
    "sections past the end": (put("ehdr", 0, "e_shoff", HUGE), TruncatedObject, "section header table"),
    "one section too many": (lambda image: image.put("ehdr", 0, "e_shnum", 8), TruncatedObject, "section header table"),
    "segment past the end": (put("phdr", CODE, "p_filesz", 1 << 40), TruncatedObject, "segment 1"),
    "segment offset past the end": (put("phdr", CODE, "p_offset", HUGE), TruncatedObject, "segment 1"),
    "section past the end": (put("shdr", S_TEXT, "sh_size", HUGE), TruncatedObject, "section 5"),
    "section offset past the end": (put("shdr", S_TEXT, "sh_offset", 1 << 63), TruncatedObject, "section 5"),
    "segment larger in the file": (put("phdr", CODE, "p_memsz", 1), InconsistentLayout, "segment 1 is larger"),
    "huge image": (put("phdr", CODE, "p_memsz", 1 << 40), LimitExceeded, "segment 1 ends"),
    "far address": (put("phdr", CODE, "p_vaddr", HUGE - 4096), LimitExceeded, "segment 1 ends"),
    "segments overlap in memory": (put("phdr", CODE, "p_vaddr", 0), InconsistentLayout, "memory"),
    "segments overlap in the file": (put("phdr", CODE, "p_offset", 0), InconsistentLayout, "overlap"),
    "sections overlap": (
        lambda image: image.put("shdr", S_RODATA, "sh_offset", image.get("shdr", S_NOTE, "sh_offset")),
        InconsistentLayout,
        "overlap",
    ),
    "section over the ELF header": (put("shdr", S_NAMES, "sh_offset", 0), InconsistentLayout, "ELF header"),
    "section over the section headers": (
        lambda image: image.put("shdr", S_NAMES, "sh_offset", image.get("ehdr", 0, "e_shoff")),
        InconsistentLayout,
        "section headers",
    ),
    "tables overlap": (put("ehdr", 0, "e_phoff", 0), InconsistentLayout, "program headers"),
    "junk behind the end": (lambda image: image + b"junk", TrailingBytes, "4 bytes follow"),
    "one zero behind the end": (lambda image: image + b"\0", TrailingBytes, "1 bytes follow"),
    "no note segment": (put("phdr", NOTE, "p_type", 0), InconsistentLayout, "note section"),
    "note section elsewhere": (put("shdr", S_RODATA, "sh_type", 7), InconsistentLayout, "note section"),
    "no note at all": (lambda image: image.put("phdr", NOTE, "p_type", 0).put("shdr", S_NOTE, "sh_type", 1), MetadataAbsent, "no AMDGPU"),
    "no symbol table": (put("shdr", S_DYNSYM, "sh_type", 1), SymbolAbsent, "0 dynamic symbol tables"),
    "two symbol tables": (put("shdr", S_RODATA, "sh_type", 11), SymbolAbsent, "2 dynamic symbol tables"),
    "names in no string table": (put("shdr", S_DYNSYM, "sh_link", S_TEXT), InconsistentLayout, "no string table"),
    "names in themselves": (put("shdr", S_DYNSYM, "sh_link", S_DYNSYM), InconsistentLayout, "no string table"),
    "names in a section that is not there": (put("shdr", S_DYNSYM, "sh_link", 0xFFFFFFFF), InconsistentLayout, "no string table"),
    "names that are not loaded": (put("shdr", S_DYNSYM, "sh_link", S_NAMES), InconsistentLayout, "not the loaded ones"),
    "symbols at another address": (put("shdr", S_DYNSYM, "sh_addr", 8), InconsistentLayout, "not the loaded ones"),
    "symbol size": (put("shdr", S_DYNSYM, "sh_entsize", 0), InconsistentLayout, "entries of 0"),
    "part of a symbol": (put("shdr", S_DYNSYM, "sh_size", 25), InconsistentLayout, "25 bytes"),
    "name past the names": (put("sym", 1, "st_name", 0xFFFFFFFF), TruncatedObject, "no end"),
    "name without end": (
        lambda image: image.put("shdr", S_DYNSTR, "sh_size", image.get("shdr", S_DYNSTR, "sh_size") - 1),
        TruncatedObject,
        "no end",
    ),
    "undefined symbol": (put("sym", 1, "st_shndx", 0), SymbolAbsent, "no dynamic symbol"),
    "renamed symbol": (put("sym", 1, "st_name", 2), SymbolAbsent, "no dynamic symbol"),
    "descriptor is a function": (put("sym", 1, "st_info", 0x12), DescriptorInvalid, "STT_FUNC"),
    "descriptor is local": (put("sym", 1, "st_info", 0x01), DescriptorInvalid, "STB_LOCAL"),
    "descriptor of another size": (put("sym", 1, "st_size", 128), DescriptorInvalid, "128 bytes"),
    "descriptor not loaded": (put("sym", 1, "st_value", 1 << 40), DescriptorInvalid, "not loaded"),
    "descriptor at the last address": (put("sym", 1, "st_value", HUGE), DescriptorInvalid, "not loaded"),
    "entry misaligned": (lambda image: image.put("kd", 0, "entry", image.get("kd", 0, "entry") + 4), DescriptorInvalid, "multiple"),
    "entry in data": (lambda image: image.put("kd", 0, "entry", -image.get("sym", 1, "st_value")), DescriptorInvalid, "no code"),
    "entry before the image": (
        lambda image: image.put("kd", 0, "entry", -image.get("sym", 1, "st_value") - 256),
        DescriptorInvalid,
        "no code",
    ),
    "entry far away": (lambda image: image.put("kd", 0, "entry", image.get("kd", 0, "entry") + (1 << 40)), DescriptorInvalid, "no code"),
    "entry behind the code": (lambda image: image.put("kd", 0, "entry", image.get("kd", 0, "entry") + 256), DescriptorInvalid, "no code"),
    "code not executable": (put("phdr", CODE, "p_flags", 4), DescriptorInvalid, "no code"),
    "code in no section": (put("shdr", S_TEXT, "sh_flags", 2), DescriptorInvalid, "outside every section"),
    "code section at another address": (put("shdr", S_TEXT, "sh_addr", TEXT_SHIFT), DescriptorInvalid, "outside every section"),
    "LDS disagrees": (put("kd", 0, "lds", 1024), MetadataMismatch, "65536"),
    "private memory disagrees": (put("kd", 0, "private", 4), MetadataMismatch, "private_segment_fixed_size"),
    "kernarg size disagrees": (put("kd", 0, "kernarg", 24), MetadataMismatch, "kernarg_segment_size"),
    "wave size disagrees": (put("kd", 0, "properties", 0x408), MetadataMismatch, "wavefront_size"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_has_its_error(fault: str) -> None:
    damage, kind, text = FAULTS[fault]
    with pytest.raises(CodeObjectError) as caught:
        read(bytes(damage(build())), "bad.co")
    assert type(caught.value) is kind
    assert text in str(caught.value)
    assert caught.value.fact.startswith("bad.co: ")
    assert caught.value.cause
    assert caught.value.remedy


NOTES: dict[str, tuple[bytes, type[CodeObjectError], str]] = {
    "no note": (b"", MetadataAbsent, "no AMDGPU"),
    "note of nobody": (note(b"", owner=b"", kind=0), MetadataAbsent, "no AMDGPU"),
    "other owner": (note(metadata(), owner=b"GNU\0"), MetadataAbsent, "no AMDGPU"),
    "other type": (note(metadata(), kind=1), MetadataAbsent, "no AMDGPU"),
    "empty": (note(b""), MetadataAbsent, "empty"),
    "two": (note(metadata()) * 2, MetadataMalformed, "2 AMDGPU"),
    "cut off": (note(metadata())[:-40], MetadataMalformed, "cut off"),
    "a few bytes": (note(metadata()) + b"\1\2\3", MetadataMalformed, "header is cut off"),
    "huge owner": (b"\xff\xff\xff\xff" + note(metadata())[4:], MetadataMalformed, "past its segment"),
    "huge payload": (note(metadata())[:4] + b"\xff\xff\xff\xff" + note(metadata())[8:], MetadataMalformed, "past its segment"),
    "too many": (note(b"", owner=b"") * (limits.NOTES + 1), LimitExceeded, "too many notes"),
    "too large": (note(bytes(limits.METADATA_BYTES + 1)), LimitExceeded, "bytes of metadata"),
}


@pytest.mark.parametrize("fault", NOTES)
def test_a_damaged_note_has_its_error(fault: str) -> None:
    content, kind, text = NOTES[fault]
    with pytest.raises(CodeObjectError) as caught:
        read(build(notes=content), "bad.co")
    assert type(caught.value) is kind
    assert text in str(caught.value)


def test_notes_of_others_beside_the_metadata_are_no_fault() -> None:
    foreign = note(b"id", owner=b"GNU\0", kind=3) + note(b"", owner=b"", kind=0)
    assert read(build(notes=foreign + note(metadata())), "a.co").kernels


def test_a_symbol_defined_twice_is_ambiguous() -> None:
    image = build([Kernel("aa"), Kernel("bb")])
    with pytest.raises(InconsistentLayout, match="defined twice"):
        read(image.put("sym", 2, "st_name", image.get("sym", 1, "st_name")), "bad.co")


def test_too_many_symbols_are_refused() -> None:
    with pytest.raises(LimitExceeded, match="dynamic symbols"):
        read(build(undefined=["x"] * limits.SYMBOLS), "bad.co")


def test_an_endless_name_is_refused() -> None:
    with pytest.raises(TruncatedObject, match="no end"):
        read(build(undefined=["x" * limits.NAME_BYTES]), "bad.co")


def test_a_file_over_the_limit_is_refused() -> None:
    with pytest.raises(LimitExceeded, match="the file has"):
        read(build() + bytes(limits.FILE_BYTES), "bad.co")


def test_a_note_seen_through_two_segments_counts_once() -> None:
    image = build()
    twin = image
    for name in ("p_type", "p_offset", "p_vaddr", "p_filesz", "p_memsz"):
        twin = twin.put("phdr", NOTE + 1, name, image.get("phdr", NOTE, name))
    assert twin.get("phdr", NOTE + 1, "p_type") == SEGMENT_NOTE
    assert image.get("phdr", READ_ONLY, "p_type") == SEGMENT_LOAD
    assert read(twin, "a.co").kernels == read(image, "a.co").kernels


def test_notes_within_notes_cost_no_memory() -> None:
    # Sixty note segments, each of which starts at another header and ends where all end: kept as copies they would take 240 MB.
    count, filler = 60, 4 << 20
    headers = b"".join(struct.pack("<III8s", 7, filler + 20 * (count - 1 - number), 32, b"AMDGPU") for number in range(count))
    image = build(notes=headers + bytes(filler))
    start, size = image.starts["note"], len(headers) + filler
    nested = [struct.pack("<IIQQQQQQ", 4, 4, start + 20 * at, 0, 0, size - 20 * at, size - 20 * at, 4) for at in range(count)]
    table = image[64 : 64 + 4 * 56] + b"".join(nested)
    bomb = bytes(image.put("ehdr", 0, "e_phoff", len(image)).put("ehdr", 0, "e_phnum", 4 + count) + table)
    tracemalloc.start()
    with pytest.raises(MetadataMalformed, match="60 AMDGPU metadata notes"):
        read(bomb, "bad.co")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_every_error_has_its_own_code_in_the_range_of_the_reader() -> None:
    kinds = [item for item in vars(errors).values() if isinstance(item, type) and issubclass(item, CodeObjectError)]
    codes = [kind.code for kind in kinds]
    assert len(set(codes)) == len(codes)
    assert all("MLA501" <= code <= "MLA519" for code in codes)
    assert {kind.exit_code for kind in kinds} == {11}
