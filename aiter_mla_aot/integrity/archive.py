"""Strict reading of the one form of zip archive that the build writes.

Installers read the central directory, other tools the local headers, and what neither names can hide between them. So this
reader accepts only archives in which both agree in every field and no byte is left over: entries follow each other from offset
0 without gaps, then the central directory, then its end record; no comments, extra fields, data descriptors, encryption,
split or 64-bit archives. A byte changed anywhere is then either an error here, or a wrong CRC, or has no meaning at all.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..errors import PackageFileDamaged, WheelInvalid
from .report import Finding, finding

MAX_ARCHIVE_BYTES: Final = 64 << 20
MAX_CONTENT_BYTES: Final = 256 << 20
MAX_ENTRIES: Final = 10_000
STORED: Final = 0
DEFLATED: Final = 8
REGULAR: Final = 0o100000
FILE_MODE: Final = 0o644
RECORD_MODE: Final = 0o664
"""setuptools writes RECORD itself, and gives it this mode."""

_END: Final = struct.Struct("<4s4H2IH")
_CENTRAL: Final = struct.Struct("<4s4B4H3I5H2I")
_LOCAL: Final = struct.Struct("<4s2B4H3I2H")
_NAME: Final = re.compile(r"[A-Za-z0-9_.+-]+(/[A-Za-z0-9_.+-]+)*")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the archive: its place, sizes, check sum, and DOS date and time."""

    name: str
    offset: int
    method: int
    date: int
    time: int
    crc: int
    packed: int
    size: int


class Malformed(Exception):
    """The archive is not of the strict form; the arguments are (place, expected, found, text)."""

    def finding(self, path: str) -> Finding:
        """The fault as a finding about the archive."""
        place, expected, found, text = self.args
        return finding(WheelInvalid, f"{path}: {place}" if place else path, expected, found, text)


def entries(data: bytes) -> list[Entry]:
    """The files of an archive, in their order. Raises ``Malformed``."""
    _require(
        len(data) <= MAX_ARCHIVE_BYTES, "", f"at most {MAX_ARCHIVE_BYTES} bytes", len(data), "the archive is too large for this package"
    )
    _require(data[:4] == b"PK\x03\x04", "", "a zip archive", data[:4].hex(" ") or "nothing", "the file is not a zip archive")
    _require(len(data) > _END.size, "", "a zip archive", f"{len(data)} bytes", "the archive is truncated")
    signature, *fields = _END.unpack_from(data, len(data) - _END.size)
    _require(
        signature == b"PK\x05\x06",
        "end record",
        "an end record as the last bytes",
        signature.hex(" "),
        "the archive is truncated or has a tail",
    )
    disk, start_disk, here, total, directory_size, directory_offset, comment = fields
    _require(
        (disk, start_disk, comment) == (0, 0, 0), "end record", "one volume, no comment", (disk, start_disk, comment), "unusual archive"
    )
    _require(
        here == total <= MAX_ENTRIES, "end record", f"at most {MAX_ENTRIES} files", f"{here} of {total}", "too many files, or counts differ"
    )
    end = len(data) - _END.size
    _require(
        directory_offset + directory_size == end,
        "end record",
        end,
        directory_offset + directory_size,
        "the directory has a gap or an overlap",
    )
    found = list(_central(data, directory_offset, end, total))
    place = 0
    for entry in found:
        place = _check_local(data, entry, place, directory_offset)
    _require(place == directory_offset, "directory", directory_offset, place, "bytes between the files and the directory belong to none")
    content = sum(entry.size for entry in found)
    _require(content <= MAX_CONTENT_BYTES, "directory", f"at most {MAX_CONTENT_BYTES} bytes", content, "the archive unpacks to too much")
    names: set[str] = set()
    for entry in found:
        _require(entry.name.lower() not in names, entry.name, "each name once", "a second entry of this name", "duplicate file")
        names.add(entry.name.lower())
    return found


def read(data: bytes, entry: Entry) -> bytes | Finding:
    """The bytes of one file, or what is wrong with them. Never unpacks more than the entry declares."""
    start = entry.offset + _LOCAL.size + len(entry.name)
    packed = data[start : start + entry.packed]
    if entry.method == STORED:
        content = packed
    else:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = stream.decompress(packed, entry.size + 1)
        except zlib.error as error:
            return finding(PackageFileDamaged, entry.name, "deflated bytes", error, "the file cannot be unpacked")
        if len(content) == entry.size and not (stream.eof and not stream.unused_data and not stream.unconsumed_tail):
            return finding(
                PackageFileDamaged, entry.name, "one whole stream", "a cut stream or a tail", "the packed bytes are not one stream"
            )
    if len(content) != entry.size:
        return finding(
            PackageFileDamaged, entry.name, f"{entry.size} bytes", f"{len(content)} bytes or more", "the file unpacks to another size"
        )
    crc = zlib.crc32(content)
    if crc != entry.crc:
        return finding(PackageFileDamaged, entry.name, f"CRC {entry.crc:08x}", f"CRC {crc:08x}", "the bytes are not those that were packed")
    return content


def _central(data: bytes, place: int, end: int, total: int) -> Iterator[Entry]:
    for number in range(total):
        where = f"directory entry {number + 1}"
        _require(place + _CENTRAL.size <= end, where, "a directory entry", "the end record", "the directory is truncated")
        header = _CENTRAL.unpack_from(data, place)
        signature, made, system, needed, needed_system, bits, method, time, date, crc, packed, size, length, *rest = header
        extra, comment, disk, internal, external, offset = rest
        _require(signature == b"PK\x01\x02", where, "a directory entry", signature.hex(" "), "the directory is damaged")
        name_end = place + _CENTRAL.size + length
        _require(name_end <= end, where, "a name", "the end record", "the directory is truncated")
        name = _name(data[place + _CENTRAL.size : name_end], where)
        form = (made, system, needed, needed_system, bits, extra, comment, disk, internal, external & 0xFFFF)
        _require(
            form == (20, 3, 20, 0, 0, 0, 0, 0, 0, 0), name, "the plain form of an entry", form, "the directory entry has an unusual form"
        )
        _require(method in (STORED, DEFLATED), name, "stored or deflated", f"method {method}", "unknown compression")
        mode = external >> 16
        wanted = REGULAR | (RECORD_MODE if name.endswith(".dist-info/RECORD") else FILE_MODE)
        _require(mode == wanted, name, f"file mode {wanted:o}", f"{mode:o}", "unusual file type or permissions")
        _require(method == DEFLATED or packed == size, name, size, packed, "sizes of a stored file differ")
        yield Entry(name, offset, method, date, time, crc, packed, size)
        place = name_end
    _require(place == end, "directory", end, place, "bytes of the directory belong to no file")


def _check_local(data: bytes, entry: Entry, place: int, limit: int) -> int:
    _require(entry.offset == place, entry.name, place, entry.offset, "files overlap or leave a gap")
    head = entry.offset + _LOCAL.size
    finish = head + len(entry.name) + entry.packed
    _require(finish <= limit, entry.name, f"an end before {limit}", finish, "the file reaches into the directory")
    expected = (b"PK\x03\x04", 20, 0, 0, entry.method, entry.time, entry.date, entry.crc, entry.packed, entry.size, len(entry.name), 0)
    header = _LOCAL.unpack_from(data, entry.offset)
    _require(header == expected, entry.name, expected, header, "the file's own header contradicts the directory")
    name = data[head : head + len(entry.name)]
    _require(name == entry.name.encode("ascii"), entry.name, entry.name, name, "the file's own name contradicts the directory")
    return finish


def _name(raw: bytes, where: str) -> str:
    name = raw.decode("ascii", errors="backslashreplace")
    plain = _NAME.fullmatch(name) is not None and not {".", ".."} & set(name.split("/"))
    _require(plain, where, "a plain relative path", repr(name), "the name could leave the package or is unusual")
    return name


def _require(condition: bool, place: str, expected: object, found: object, text: str) -> None:
    if not condition:
        raise Malformed(place, expected, found, text)
