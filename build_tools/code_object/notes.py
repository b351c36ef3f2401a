"""The metadata note: where the loader and the tools look for it must be the same bytes."""

from __future__ import annotations

from typing import Final

from . import limits
from .errors import InconsistentLayout, LimitExceeded, MetadataAbsent, MetadataMalformed
from .layout import Layout, Segment

OWNER: Final = b"AMDGPU\0"
METADATA: Final = 32
HEADER_BYTES: Final = 12


def metadata(layout: Layout) -> bytes:
    """The msgpack bytes of the one AMDGPU metadata note."""
    segments = [segment for segment in layout.segments if segment.kind == "PT_NOTE" and segment.file_size]
    for section in layout.sections:
        covered = any(item.offset <= section.offset and section.offset + section.size <= item.offset + item.file_size for item in segments)
        if section.kind == "SHT_NOTE" and section.size and not covered:
            raise InconsistentLayout(
                layout.name, "a note section lies outside the note segments", cause="tools and loader would read different metadata"
            )
    found: dict[int, int] = {}
    for segment in segments:
        found |= _payloads(layout, segment)
    if not found:
        raise MetadataAbsent(layout.name, "no AMDGPU metadata note", cause=f"{len(segments)} note segments hold none")
    if len(found) > 1:
        raise MetadataMalformed(layout.name, f"{len(found)} AMDGPU metadata notes", cause="it is not defined which one counts")
    (offset, size), *_ = found.items()
    if not size:
        raise MetadataAbsent(layout.name, "the AMDGPU metadata note is empty", cause="its descriptor has no bytes")
    if size > limits.METADATA_BYTES:
        raise LimitExceeded(layout.name, f"{size} bytes of metadata", cause=f"at most {limits.METADATA_BYTES} are read")
    return layout.data[offset : offset + size]


def _payloads(layout: Layout, segment: Segment) -> dict[int, int]:
    """Sizes of the metadata payloads of one segment by file offset, so that a note seen through two segments counts once."""
    found: dict[int, int] = {}
    position, end = segment.offset, segment.offset + segment.file_size
    for _ in range(limits.NOTES):
        if position == end:
            return found
        if end - position < HEADER_BYTES:
            raise MetadataMalformed(layout.name, "a note header is cut off", cause=f"{end - position} bytes are left of its segment")
        name_size, size, kind = (int.from_bytes(layout.data[position + at : position + at + 4], "little") for at in (0, 4, 8))
        owner = position + HEADER_BYTES
        payload = owner + _aligned(name_size)
        if payload + size > end:
            raise MetadataMalformed(layout.name, "a note is cut off", cause=f"it ends {payload + size - end} bytes past its segment")
        if layout.data[owner : owner + name_size] == OWNER and kind == METADATA:
            found[payload] = size
        # The padding of the last note may be left out.
        position = min(payload + _aligned(size), end)
    raise LimitExceeded(layout.name, "too many notes", cause=f"at most {limits.NOTES} are read in a segment")


def _aligned(size: int) -> int:
    return (size + 3) & ~3
