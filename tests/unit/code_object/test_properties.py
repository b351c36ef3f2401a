"""Whatever the bytes: an object or a typed error, and no change of what the reader relies on goes unseen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from build_tools.code_object import CodeObject, packed, read
from build_tools.code_object.errors import CodeObjectError
from tests.synthetic_object import Kernel, build, metadata

bounded = settings(derandomize=True, database=None, deadline=None, max_examples=150)
IMAGE = build([Kernel(), Kernel("second", lds=1024)])


def outcome(data: bytes) -> CodeObject | CodeObjectError:
    try:
        return read(data, "a.co")
    except CodeObjectError as error:
        return error


@bounded
@given(st.binary(max_size=4096))
def test_random_bytes_are_refused(data: bytes) -> None:
    assert isinstance(outcome(data), CodeObjectError)


@bounded
@given(st.binary(max_size=4096))
def test_random_bytes_behind_a_good_identification_are_refused(data: bytes) -> None:
    assert isinstance(outcome(IMAGE[:64] + data), CodeObjectError)


@bounded
@given(st.integers(0, len(IMAGE)))
def test_a_truncated_object_is_refused(length: int) -> None:
    assert isinstance(outcome(IMAGE[:length]), CodeObjectError) == (length < len(IMAGE))


@bounded
@given(st.lists(st.tuples(st.integers(0, len(IMAGE) - 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=6))
def test_a_mutated_object_is_read_or_refused(edits: list[tuple[int, bytes]]) -> None:
    image = IMAGE
    for at, new in edits:
        image = image.splice(at, new[: len(IMAGE) - at])
    result = outcome(image)
    assert isinstance(result, CodeObjectError) or result.size == len(IMAGE)


@bounded
@given(st.binary(max_size=300))
def test_random_metadata_is_decoded_or_refused(payload: bytes) -> None:
    assert isinstance(outcome(build(payload=payload)), CodeObjectError)


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8) | st.binary(max_size=8)
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=12
)


@bounded
@given(trees)
def test_every_msgpack_tree_decodes_to_itself(tree: Any) -> None:
    encoded = msgpack.packb(tree)
    # Compared as bytes, for NaN differs from itself.
    assert msgpack.packb(packed.decode(encoded, "a.co")) == encoded


@bounded
@given(st.sampled_from(sorted(Kernel().entry())), trees)
def test_any_value_of_any_field_is_read_or_refused(key: str, value: Any) -> None:
    result = outcome(build([Kernel(metadata={key: value})]))
    assert isinstance(result, CodeObjectError) or len(result.kernels) == 1


def relied_on() -> list[int]:
    """Offsets of every byte from which the reader takes something: what is not there, only the hash covers."""
    places = [*range(4, 9), 16, 18, 19, *range(48, 52)]
    for record, numbers, names in (
        ("kd", (0, 1), ("lds", "private", "entry", "rsrc3", "rsrc1", "properties")),
        ("sym", (1, 2), ("st_info", "st_value", "st_size")),
        ("shdr", (2, 3), ("sh_type", "sh_addr", "sh_offset")),
        ("phdr", (0, 1), ("p_type", "p_offset", "p_vaddr")),
    ):
        for number in numbers:
            for name in names:
                at, width = IMAGE.offset(record, number, name)
                places += range(at, at + width)
    return places


@pytest.mark.parametrize("bit", [0, 3, 7])
def test_a_flipped_bit_of_what_is_relied_on_is_an_error_or_shows(bit: int) -> None:
    reference = read(IMAGE, "a.co")
    unseen = []
    for at in relied_on():
        result = outcome(IMAGE.splice(at, bytes([IMAGE[at] ^ 1 << bit])))
        if isinstance(result, CodeObject) and replace(result, sha256=reference.sha256) == reference:
            unseen.append(at)
    assert unseen == []


def test_a_flipped_bit_of_the_metadata_is_an_error_or_shows() -> None:
    kernel = Kernel(metadata={".args": [{".name": "O", ".offset": 0, ".size": 8, ".value_kind": "global_buffer"}]})
    image = build([kernel])
    reference = read(image, "a.co")
    start = image.starts["note"] + 20
    unseen = []
    for at in range(start, start + len(metadata([kernel]))):
        result = outcome(image.splice(at, bytes([image[at] ^ 1])))
        if isinstance(result, CodeObject) and replace(result, sha256=reference.sha256) == reference:
            unseen.append(at)
    # A key that is no longer known is as good as absent, and for two of them the descriptor says the same.
    doubled = [image.find(key) for key in (b".private_segment_fixed_size", b".wavefront_size")]
    spans = {at + step for at, size in zip(doubled, (27, 15), strict=True) for step in range(size)}
    assert set(unseen) <= spans


def test_the_registers_that_the_hardware_allocates_are_shown() -> None:
    reference = read(IMAGE, "a.co").kernels[0].descriptor
    changed = read(IMAGE.put("kd", 0, "rsrc1", 0).put("kd", 0, "rsrc3", 0), "a.co").kernels[0].descriptor
    assert (reference.allocated_vgprs, changed.allocated_vgprs) == (512, 8)
    assert (reference.accum_offset, changed.accum_offset) == (256, 4)
