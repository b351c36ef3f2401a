"""An object against its row: the first difference is named with both sides."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import pytest

from build_tools.code_object import CodeObject, Target, check_arch, check_hash, compare, find_kernel, read
from build_tools.code_object.errors import (
    ArgumentsPastHostBlock,
    HashMismatch,
    LdsOverLimit,
    MetadataMismatch,
    SymbolAbsent,
    WrongArch,
)
from tests.synthetic_object import Kernel, build


@dataclass(frozen=True)
class Row:
    """A row that describes the default synthetic object."""

    sha256: str
    bytes: int
    file: str = "a.co"
    symbol: str = "_ZN4test6kernelE"
    scope: str = "decode"
    e_flags: int = 0x54C
    elf_abiversion: int = 3
    kernarg_segment_size: int = 32
    last_arg_end: int = 20
    lds_bytes: int = 65536
    vgpr: int = 512
    agpr: int | None = None
    sgpr: int = 96
    max_workgroup: int = 256


def row_of(obj: CodeObject, **changes: Any) -> Row:
    return replace(Row(obj.sha256, obj.size), **changes)


@pytest.fixture
def obj() -> CodeObject:
    return read(build(), "a.co")


def test_an_object_that_is_what_its_row_says_passes(obj: CodeObject) -> None:
    compare(row_of(obj), obj)


@pytest.mark.parametrize(
    "field",
    ["bytes", "elf_abiversion", "kernarg_segment_size", "last_arg_end", "lds_bytes", "vgpr", "sgpr", "max_workgroup", "agpr"],
)
def test_every_field_of_the_row_is_compared(obj: CodeObject, field: str) -> None:
    wrong = 201 if field == "agpr" else getattr(row_of(obj), field) + 1
    with pytest.raises(MetadataMismatch) as caught:
        compare(row_of(obj, **{field: wrong}), obj)
    assert (caught.value.field, caught.value.expected) == (field, wrong)
    assert caught.value.found == getattr(row_of(obj), field)
    assert f"says {wrong}" in str(caught.value)


def test_other_feature_flags_are_a_mismatch_and_another_arch_is_named(obj: CodeObject) -> None:
    with pytest.raises(MetadataMismatch, match="e_flags"):
        compare(row_of(obj, e_flags=0xE4C), obj)
    with pytest.raises(WrongArch, match="for gfx942, not for gfx950") as caught:
        compare(row_of(obj, e_flags=0x54F), obj)
    assert obj.sha256 in str(caught.value)


def test_a_changed_byte_of_code_is_found_by_the_hash_and_both_are_shown(obj: CodeObject) -> None:
    image = build()
    changed = image.splice(image.get("shdr", 5, "sh_offset"), b"\xff")
    with pytest.raises(HashMismatch) as caught:
        compare(row_of(obj), read(changed, "a.co"))
    assert (caught.value.expected, caught.value.found) == (obj.sha256, hashlib.sha256(changed).hexdigest())
    assert obj.sha256 in str(caught.value)
    assert caught.value.found in str(caught.value)


def test_bytes_are_checked_against_a_hash_of_either_case() -> None:
    digest = hashlib.sha256(b"abc").hexdigest()
    check_hash(b"abc", digest, "a.co")
    check_hash(b"abc", digest.upper(), "a.co")
    with pytest.raises(HashMismatch):
        check_hash(b"abd", digest, "a.co")


def test_the_kernel_of_the_row_must_be_there_and_the_others_are_listed(obj: CodeObject) -> None:
    with pytest.raises(SymbolAbsent, match="_ZN4test6kernelE"):
        compare(row_of(obj, symbol="_ZN4test5otherE"), obj)


def test_a_row_may_name_any_kernel_of_an_object() -> None:
    pair = read(build([Kernel("first"), Kernel("second", lds=1024)]), "a.co")
    compare(row_of(pair, symbol="second", lds_bytes=1024), pair)
    assert find_kernel(pair, "second") is pair.kernels[1]


def long_arguments(end: int) -> CodeObject:
    opaque = {".offset": 0, ".size": end, ".value_kind": "by_value"}
    return read(build([Kernel(metadata={".args": [opaque], ".kernarg_segment_size": 384})]), "a.co")


def test_arguments_up_to_the_host_block_pass_whatever_the_kernarg_size() -> None:
    obj = long_arguments(368)
    compare(row_of(obj, kernarg_segment_size=384, last_arg_end=368), obj)


def test_arguments_past_the_host_block_stop_decode_kernels_only() -> None:
    obj = long_arguments(372)
    changes = {"kernarg_segment_size": 384, "last_arg_end": 372}
    with pytest.raises(ArgumentsPastHostBlock, match="372"):
        compare(row_of(obj, **changes), obj)
    compare(row_of(obj, **changes), obj, host_block=372)
    compare(row_of(obj, scope="prefill", **changes), obj)


@pytest.mark.parametrize(("e_flags", "limit"), [(0x54C, 65536), (0x54F, 163840)])
def test_lds_over_the_limit_of_the_arch_is_refused(e_flags: int, limit: int) -> None:
    fits = read(build([Kernel(lds=limit)], e_flags=e_flags), "a.co")
    compare(row_of(fits, e_flags=e_flags, lds_bytes=limit), fits)
    over = read(build([Kernel(lds=limit + 1)], e_flags=e_flags), "a.co")
    with pytest.raises(LdsOverLimit, match=str(limit + 1)):
        compare(row_of(over, e_flags=e_flags, lds_bytes=limit + 1), over)


def test_the_limit_of_a_new_arch_is_data() -> None:
    known = [Target("gfx90a", 0x3F, 1024)]
    obj = read(build(e_flags=0x53F), "a.co", known)
    with pytest.raises(LdsOverLimit, match="1024"):
        compare(row_of(obj, e_flags=0x53F), obj, known=known)


def test_an_expected_arch_is_checked_alone(obj: CodeObject) -> None:
    check_arch(obj, "gfx942")
    with pytest.raises(WrongArch):
        check_arch(obj, "gfx950")
