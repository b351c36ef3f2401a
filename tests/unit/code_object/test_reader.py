"""What the reader says of valid objects."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from build_tools.code_object import Argument, Target, read, read_file
from build_tools.code_object.errors import LimitExceeded, ObjectUnreadable, UnknownAbi, WrongArch
from tests.synthetic_object import ARGS, Kernel, build, metadata


def test_it_tells_everything_the_build_needs() -> None:
    image = build()
    obj = read(image, "a.co")
    assert (obj.name, obj.arch, obj.e_flags, obj.xnack, obj.sramecc) == ("a.co", "gfx942", 0x54C, "any", "any")
    assert (obj.elf_abiversion, obj.code_object_version, obj.minimum_rocm, obj.metadata_version) == (3, 5, None, (1, 0))
    assert (obj.sha256, obj.size, obj.target_id) == (hashlib.sha256(image).hexdigest(), len(image), "gfx942")
    (kernel,) = obj.kernels
    assert (kernel.name, kernel.symbol) == ("_ZN4test6kernelE", "_ZN4test6kernelE.kd")
    assert kernel.args[2] == Argument(16, 4, "by_value", "scale")
    assert (kernel.last_arg_end, kernel.kernarg_segment_size, kernel.kernarg_segment_align) == (20, 32, 4)
    assert (kernel.group_segment_fixed_size, kernel.private_segment_fixed_size) == (65536, 0)
    assert (kernel.vgpr_count, kernel.agpr_count, kernel.sgpr_count) == (512, None, 96)
    assert (kernel.max_flat_workgroup_size, kernel.reqd_workgroup_size, kernel.wavefront_size) == (256, (256, 1, 1), 64)


def test_it_decodes_the_kernel_descriptor() -> None:
    image = build([Kernel(lds=1024, private=16, kernarg=32)])
    descriptor = read(image, "a.co").kernels[0].descriptor
    assert descriptor.address == image.get("sym", 1, "st_value")
    assert (descriptor.group_segment_fixed_size, descriptor.private_segment_fixed_size, descriptor.kernarg_size) == (1024, 16, 32)
    assert (descriptor.granulated_vgprs, descriptor.granulated_sgprs, descriptor.allocated_vgprs, descriptor.accum_offset) == (
        63,
        12,
        512,
        256,
    )
    assert descriptor.wavefront_size == 64


def test_each_of_several_kernels_has_its_own_entry() -> None:
    image = build([Kernel("first"), Kernel("second")])
    first, second = read(image, "a.co").kernels
    assert (first.name, second.name) == ("first", "second")
    assert (first.entry_in_section, second.entry_in_section) == (0, 256)
    assert second.entry_address == first.entry_address + 256 == image.get("shdr", 5, "sh_addr") + 256


@pytest.mark.parametrize(("abiversion", "version", "rocm"), [(1, 3, None), (2, 4, None), (3, 5, None), (4, 6, "6.3")])
def test_the_abi_version_gives_code_object_version_and_minimum_rocm(abiversion: int, version: int, rocm: str | None) -> None:
    obj = read(build(abiversion=abiversion, e_flags=0x04C), "a.co")
    assert (obj.code_object_version, obj.minimum_rocm) == (version, rocm)


@pytest.mark.parametrize(
    ("abiversion", "e_flags", "xnack", "sramecc", "target_id"),
    [
        (2, 0x04C, "unsupported", "unsupported", "gfx942"),
        (3, 0x54C, "any", "any", "gfx942"),
        (4, 0xE4C, "off", "on", "gfx942:sramecc+:xnack-"),
        (4, 0xB4C, "on", "off", "gfx942:sramecc-:xnack+"),
        (1, 0x14C, "on", "off", "gfx942:sramecc-:xnack+"),
        (1, 0x24C, "off", "on", "gfx942:sramecc+:xnack-"),
    ],
)
def test_the_flags_give_xnack_and_sramecc(abiversion: int, e_flags: int, xnack: str, sramecc: str, target_id: str) -> None:
    obj = read(build(abiversion=abiversion, e_flags=e_flags), "a.co")
    assert (obj.xnack, obj.sramecc, obj.target_id) == (xnack, sramecc, target_id)


@pytest.mark.parametrize("e_flags", [0x154C, 0x0100054C])
def test_a_flag_without_a_known_meaning_is_refused(e_flags: int) -> None:
    with pytest.raises(UnknownAbi, match="unknown bits"):
        read(build(abiversion=4, e_flags=e_flags), "a.co")


def test_gfx950_is_known_and_other_archs_are_refused_by_number() -> None:
    assert read(build(e_flags=0x54F), "a.co").arch == "gfx950"
    with pytest.raises(WrongArch, match="0x3f"):
        read(build(e_flags=0x53F), "a.co")


def test_a_new_arch_is_data() -> None:
    assert read(build(e_flags=0x53F), "a.co", [Target("gfx90a", 0x3F, 65536)]).arch == "gfx90a"


def test_hidden_arguments_do_not_count_for_the_caller() -> None:
    hidden = {".offset": 24, ".size": 4, ".value_kind": "hidden_block_count_x"}
    (kernel,) = read(build([Kernel(metadata={".args": [*ARGS, hidden]})]), "a.co").kernels
    assert (kernel.args[-1].hidden, kernel.args[-1].end, kernel.last_arg_end) == (True, 28, 20)


def test_unknown_value_kinds_and_unknown_keys_are_kept_out_of_the_way() -> None:
    strange = {".offset": 0, ".size": 32, ".value_kind": "future_kind", ".future": [1, {"x": 1.5}]}
    (kernel,) = read(build([Kernel(metadata={".args": [strange], ".future": {1: None}})]), "a.co").kernels
    assert kernel.args == (Argument(0, 32, "future_kind", ""),)


def test_what_the_metadata_may_leave_out_comes_from_the_descriptor_or_stays_unknown() -> None:
    absent = (".private_segment_fixed_size", ".wavefront_size", ".kernarg_segment_align", ".reqd_workgroup_size", ".args")
    (kernel,) = read(build([Kernel(private=48, metadata=dict.fromkeys(absent))]), "a.co").kernels
    assert (kernel.private_segment_fixed_size, kernel.wavefront_size, kernel.kernarg_segment_align) == (48, 64, None)
    assert (kernel.reqd_workgroup_size, kernel.args, kernel.last_arg_end) == (None, (), 0)


def test_counts_that_only_some_compilers_write_are_read() -> None:
    written = {".agpr_count": 201, ".vgpr_spill_count": 3, ".sgpr_spill_count": 0}
    (kernel,) = read(build([Kernel(metadata=written)]), "a.co").kernels
    assert (kernel.agpr_count, kernel.vgpr_spill_count, kernel.sgpr_spill_count) == (201, 3, 0)


def test_the_name_of_a_kernel_need_not_be_that_of_its_symbol() -> None:
    (kernel,) = read(build([Kernel("entry", metadata={".name": "other"})]), "a.co").kernels
    assert (kernel.name, kernel.symbol) == ("other", "entry.kd")


@pytest.mark.parametrize("target", ["amdgcn-amd-amdhsa--gfx942", "amdgcn-amd-amdhsa-unknown-gfx942:sramecc+:xnack-"])
def test_a_stated_target_of_the_same_arch_is_accepted(target: str) -> None:
    assert read(build(payload=metadata(target=target)), "a.co").arch == "gfx942"


def test_undefined_symbols_are_no_kernels() -> None:
    assert len(read(build(undefined=["elsewhere"]), "a.co").kernels) == 1


def test_the_whole_view_becomes_json() -> None:
    plain = json.loads(json.dumps(read(build(), "a.co").to_json()))
    assert plain["target_id"] == "gfx942"
    assert plain["kernels"][0]["last_arg_end"] == 20
    assert plain["kernels"][0]["descriptor"]["allocated_vgprs"] == 512


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.co"
    path.write_bytes(build())
    assert read_file(path) == read(build(), "a.co")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.co", tmp_path):
        with pytest.raises(ObjectUnreadable) as caught:
            read_file(path)
        assert str(path) in str(caught.value)


def test_of_a_huge_file_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.co"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(LimitExceeded):
        read_file(path)
