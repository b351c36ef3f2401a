"""Hostile metadata: bounded in depth, count and size, strict in types."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from typing import Any

import msgpack
import pytest

from build_tools.code_object import limits, metadata, packed, read
from build_tools.code_object.errors import CodeObjectError, LimitExceeded, MetadataInvalid, MetadataMalformed, MetadataMismatch
from tests.synthetic_object import ARGS, Kernel, build
from tests.synthetic_object import metadata as valid

ONE_KERNEL = Kernel().entry()


def pack(value: object) -> bytes:
    result: bytes = msgpack.packb(value)
    return result


MALFORMED: dict[str, tuple[bytes, type[CodeObjectError], str]] = {
    "cut off": (valid()[:-1], MetadataMalformed, "cut off"),
    "cut in a key": (valid()[:6], MetadataMalformed, "cut off"),
    "cut in a length": (b"\xdf\x00", MetadataMalformed, "cut off"),
    "junk behind": (valid() + b"\0", MetadataMalformed, "1 bytes follow"),
    "second value behind": (valid() * 2, MetadataMalformed, "bytes follow"),
    "reserved tag": (b"\xc1", MetadataMalformed, "tag 0xc1"),
    "extension": (pack(msgpack.ExtType(5, b"x")), MetadataMalformed, "tag 0xd4"),
    "timestamp": (pack(msgpack.Timestamp(1, 1)), MetadataMalformed, "extension types"),
    "large extension": (pack(msgpack.ExtType(5, bytes(300))), MetadataMalformed, "extension types"),
    "not UTF-8": (b"\x81\xa2\xff\xfe\x00", MetadataMalformed, "utf-8"),
    "surrogates": (b"\x81\xa3\xed\xa0\x80\x00", MetadataMalformed, "utf-8"),
    "key twice": (b"\x82\xa1a\x01\xa1a\x02", MetadataMalformed, "occurs twice"),
    "key twice, as numbers": (b"\x82\x01\x01\xcd\x00\x01\x02", MetadataMalformed, "occurs twice"),
    "list as key": (b"\x81\x90\x01", MetadataMalformed, "key is a list"),
    "nothing as key": (b"\x81\xc0\x01", MetadataMalformed, "key is a NoneType"),
    "array of 2^32 - 1": (b"\xdd\xff\xff\xff\xff", MetadataMalformed, "cut off"),
    "map of 2^32 - 1": (b"\xdf\xff\xff\xff\xff\x01", MetadataMalformed, "cut off"),
    "text of 2^32 - 1": (b"\xdb\xff\xff\xff\xffabc", MetadataMalformed, "cut off"),
    "too deep": (b"\x91" * 1000 + b"\xc0", LimitExceeded, "too deep"),
    "too deep in maps": (b"\x81\x01" * 1000 + b"\xc0", LimitExceeded, "too deep"),
    "too many values": (b"\xdd\x00\x0f\x00\x00" + b"\xc0" * 0xF0000, LimitExceeded, "too many values"),
}


@pytest.mark.parametrize("fault", MALFORMED)
def test_malformed_metadata_has_its_error(fault: str) -> None:
    payload, kind, text = MALFORMED[fault]
    with pytest.raises(CodeObjectError) as caught:
        read(build(payload=payload), "bad.co")
    assert type(caught.value) is kind
    assert text in str(caught.value)


def test_nested_claims_of_huge_lists_cost_no_memory() -> None:
    # Each list claims as many elements as bytes are left: a decoder that allocates by claims would take gigabytes.
    levels = limits.METADATA_DEPTH - 2
    bomb = b"".join(b"\xdd" + (900_000).to_bytes(4, "big") for _ in range(levels)) + b"\xc0" * 1_000_000
    tracemalloc.start()
    with pytest.raises(LimitExceeded):
        packed.decode(bomb, "bad.co")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_the_deepest_and_the_longest_that_is_allowed_is_decoded() -> None:
    depth = limits.METADATA_DEPTH - 1
    assert packed.decode(b"\x91" * depth + b"\x01", "a.co")
    count = limits.METADATA_ITEMS - 1
    assert len(packed.decode(b"\xdd" + count.to_bytes(4, "big") + b"\xc0" * count, "a.co")) == count


@pytest.mark.parametrize("value", [None, True, 127, 200, 70_000, 2**40, -1, -100, -(2**40), 1.5, "a", "b" * 40, "c" * 300, "d" * 70_000])
def test_every_kind_of_value_passes_the_walk(value: object) -> None:
    items = [value, [value] * 20, {"k": value, 7: bytes(300)}, b"\0" * 70_000]
    assert packed.decode(pack(items), "a.co") == items


ROOTS: dict[str, tuple[object, str]] = {
    "a list": ([], "metadata is a list"),
    "nothing": (None, "metadata is None"),
    "no kernels": ({"amdhsa.version": [1, 0]}, "amdhsa.kernels is missing"),
    "no version": ({"amdhsa.kernels": [ONE_KERNEL]}, "amdhsa.version is missing"),
    "version text": ({"amdhsa.kernels": [ONE_KERNEL], "amdhsa.version": "1.0"}, "amdhsa.version"),
    "short version": ({"amdhsa.kernels": [ONE_KERNEL], "amdhsa.version": [1]}, "amdhsa.version"),
    "version of booleans": ({"amdhsa.kernels": [ONE_KERNEL], "amdhsa.version": [True, False]}, "amdhsa.version"),
    "kernels as a map": ({"amdhsa.kernels": {}, "amdhsa.version": [1, 0]}, "amdhsa.kernels is a map"),
    "empty kernels": ({"amdhsa.kernels": [], "amdhsa.version": [1, 0]}, "without a kernel"),
    "kernel as text": ({"amdhsa.kernels": ["k"], "amdhsa.version": [1, 0]}, "kernel 0 is 'k'"),
    "target as a number": ({"amdhsa.kernels": [ONE_KERNEL], "amdhsa.version": [1, 0], "amdhsa.target": 5}, "amdhsa.target is 5"),
    "one name twice": ({"amdhsa.kernels": [ONE_KERNEL, ONE_KERNEL | {".symbol": "x.kd"}], "amdhsa.version": [1, 0]}, "one .name"),
    "one symbol twice": ({"amdhsa.kernels": [ONE_KERNEL, ONE_KERNEL | {".name": "x"}], "amdhsa.version": [1, 0]}, "one .symbol"),
}


@pytest.mark.parametrize("fault", ROOTS)
def test_metadata_of_another_form_is_invalid(fault: str) -> None:
    root, text = ROOTS[fault]
    with pytest.raises(MetadataInvalid) as caught:
        metadata.read(pack(root), "bad.co")
    assert text in str(caught.value)


KERNELS: dict[str, tuple[Mapping[str, Any], str]] = {
    "no name": ({".name": None}, ".name is missing"),
    "empty name": ({".name": ""}, ".name is ''"),
    "name as bytes": ({".name": b"k"}, ".name is b'k'"),
    "endless name": ({".name": "x" * 5000}, "at most"),
    "no symbol": ({".symbol": None}, ".symbol is missing"),
    "symbol of code": ({".symbol": "_ZN4test6kernelE"}, "ends in .kd"),
    "no kernarg size": ({".kernarg_segment_size": None}, ".kernarg_segment_size is missing"),
    "kernarg size as text": ({".kernarg_segment_size": "32"}, "'32'"),
    "kernarg size as a float": ({".kernarg_segment_size": 32.0}, "32.0"),
    "negative LDS": ({".group_segment_fixed_size": -1}, "-1"),
    "huge LDS": ({".group_segment_fixed_size": 1 << 32}, "2^32 - 1"),
    "boolean registers": ({".vgpr_count": True}, ".vgpr_count is True"),
    "no registers": ({".sgpr_count": None}, ".sgpr_count is missing"),
    "accumulation registers as a list": ({".agpr_count": []}, ".agpr_count is a list"),
    "spills as a map": ({".vgpr_spill_count": {}}, ".vgpr_spill_count is a map"),
    "alignment 3": ({".kernarg_segment_align": 3}, "power of two"),
    "alignment 0": ({".kernarg_segment_align": 0}, "power of two"),
    "wave of 16": ({".wavefront_size": 16}, "32 or 64"),
    "no workgroup size": ({".max_flat_workgroup_size": None}, ".max_flat_workgroup_size is missing"),
    "two dimensions": ({".reqd_workgroup_size": [256, 1]}, "3 numbers"),
    "dimension as text": ({".reqd_workgroup_size": [256, 1, "1"]}, "3 numbers"),
    "arguments as a map": ({".args": {}}, ".args is a map"),
    "argument as a number": ({".args": [7]}, "argument 0 is 7"),
    "argument without size": ({".args": [{".offset": 0, ".value_kind": "by_value"}]}, ".size is missing"),
    "argument without kind": ({".args": [{".offset": 0, ".size": 4}]}, ".value_kind is missing"),
    "argument past the segment": ({".args": [*ARGS, {".offset": 30, ".size": 4, ".value_kind": "by_value"}]}, "ends past the 32 bytes"),
    "argument name as a number": ({".args": [{".offset": 0, ".size": 4, ".value_kind": "by_value", ".name": 1}]}, ".name is 1"),
}


@pytest.mark.parametrize("fault", KERNELS)
def test_a_kernel_of_another_form_is_invalid(fault: str) -> None:
    changes, text = KERNELS[fault]
    with pytest.raises(MetadataInvalid) as caught:
        read(build([Kernel(metadata=changes)]), "bad.co")
    assert text in str(caught.value)


def test_too_many_kernels_are_refused() -> None:
    small = {key: value for key, value in ONE_KERNEL.items() if key != ".args"}
    many = [small | {".name": f"k{number}", ".symbol": f"k{number}.kd"} for number in range(limits.KERNELS + 1)]
    with pytest.raises(LimitExceeded, match="kernels"):
        metadata.read(pack({"amdhsa.kernels": many, "amdhsa.version": [1, 0]}), "bad.co")


def test_a_stated_target_of_another_arch_is_a_contradiction() -> None:
    with pytest.raises(MetadataMismatch) as caught:
        read(build(payload=valid(target="amdgcn-amd-amdhsa--gfx950")), "bad.co")
    assert (caught.value.expected, caught.value.found) == ("amdgcn-amd-amdhsa--gfx950", "gfx942")


def test_messages_stay_short_and_printable_whatever_the_file_holds() -> None:
    hostile = "\x1b[2J" + "x" * 900
    with pytest.raises(CodeObjectError) as caught:
        read(build([Kernel(metadata={".name": hostile, ".symbol": hostile})]), "bad.co")
    assert str(caught.value).replace("\n", "").isprintable()
    assert len(str(caught.value)) < 500
