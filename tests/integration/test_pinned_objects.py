"""The real objects of the pinned AITER, as the build fetched them, against every statement of the catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_tools.code_object import CodeObject, check_arch, check_hash, compare, find_kernel, read
from build_tools.data import catalog
from build_tools.providers.lock import LockedObject

ROOT = Path(__file__).resolve().parents[2]
OBJECTS = ROOT / "build" / "objects"
CATALOGS = {arch: catalog.load(ROOT / "hsa", arch) for arch in catalog.archs(ROOT / "hsa")}
LOCKED = [pytest.param(arch, item, id=f"{arch}/{item.file}") for arch in CATALOGS for item in CATALOGS[arch].lock.objects]


def content(arch: str, item: LockedObject) -> bytes:
    path = OBJECTS / arch / item.file
    if not path.is_file():
        pytest.fail(f"{path.relative_to(ROOT)} is not there: run `python3 -m build_tools wheel` (default source) first", pytrace=False)
    return path.read_bytes()


def pinned(arch: str, item: LockedObject) -> CodeObject:
    data = content(arch, item)
    check_hash(data, item.sha256, item.file)
    return read(data, item.file)


def test_the_pin_holds_sixteen_and_twenty_objects() -> None:
    assert {arch: len(data.lock.objects) for arch, data in CATALOGS.items()} == {"gfx942": 16, "gfx950": 20}


@pytest.mark.parametrize(("arch", "item"), LOCKED)
def test_a_pinned_object_is_what_its_row_says(arch: str, item: LockedObject) -> None:
    obj = pinned(arch, item)
    check_arch(obj, arch)
    compare(CATALOGS[arch].row(item.sha256), obj)


@pytest.mark.parametrize(("arch", "item"), LOCKED)
def test_what_the_catalog_does_not_say_is_alike_in_all_pinned_objects(arch: str, item: LockedObject) -> None:
    obj = pinned(arch, item)
    (kernel,) = obj.kernels
    assert kernel.symbol == f"{kernel.name}.kd"
    assert (obj.target_id, obj.xnack, obj.sramecc) == (arch, "any", "any")
    assert (kernel.reqd_workgroup_size, kernel.wavefront_size, kernel.entry_in_section) == ((256, 1, 1), 64, 0)
    assert (kernel.private_segment_fixed_size, kernel.kernarg_segment_align) == (0, 4)
    # One wave a SIMD with all registers, half of them for accumulation; the kernarg size is in the metadata alone.
    assert (kernel.descriptor.allocated_vgprs, kernel.descriptor.accum_offset, kernel.descriptor.kernarg_size) == (512, 256, 0)
    assert not any(argument.hidden for argument in kernel.args)


@pytest.mark.parametrize(("arch", "item"), LOCKED)
def test_the_arguments_lie_in_slots_of_sixteen_bytes(arch: str, item: LockedObject) -> None:
    kernel = find_kernel(pinned(arch, item), CATALOGS[arch].row(item.sha256).symbol)
    named = [argument for argument in kernel.args if argument.name != "pad"]
    assert [argument.offset for argument in named] == list(range(0, kernel.last_arg_end, 16))
    assert {argument.size for argument in named} == {4, 8}
