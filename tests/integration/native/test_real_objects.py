"""AMD's objects of the pinned wheel over the real table: loaded, and launched with the arguments their own metadata describes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from aiter_mla_aot import dispatch, table
from aiter_mla_aot.native_types import KernelInfo, Native
from aiter_mla_aot.problem import DTYPE_PAIRS, MODES, PAGE_SIZES, Problem
from build_tools.code_object import read_file
from tests.integration.native.kernarg_block import OFFSETS, expected_block, expected_values
from tests.integration.native.native_build import build_extension
from tests.integration.native.recorder import Recorder
from tests.integration.native.stage1_call import Call

ROOT = Path(__file__).resolve().parents[3]
OBJECTS = ROOT / "build" / "objects"
GENERATED = ROOT / "build" / "generated"
ARCHS = ("gfx942", "gfx950")
RECIPES = ("persistent", "persistent_rows", "split_direct", "split_null")
WIDTHS = tuple(width for _, width in table.AXES)
REFUSAL = table.REFUSAL


def built(path: Path) -> Path:
    """A file of the build, which must have run."""
    if not path.is_file():
        pytest.fail(f"{path.relative_to(ROOT)} is not there: run `python3 -m build_tools wheel` (default source) first", pytrace=False)
    return path


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension over the project's own table."""
    return build_extension(built(GENERATED / "dispatch_table.hpp").read_text(), tmp_path_factory.mktemp("real"))


def object_path(kernel: KernelInfo) -> Path:
    return built(OBJECTS / kernel["arch"] / kernel["file"])


def axes_of(index: int) -> tuple[int, ...]:
    """The place of a problem on every axis, from its number in the domain."""
    places = []
    for width in reversed(WIDTHS):
        index, place = divmod(index, width)
        places.append(place)
    return tuple(reversed(places))


def first_problems(native: Native, arch: str) -> dict[int, tuple[int, ...]]:
    """For every plan of the arch the first problem of the domain that it serves."""
    leaves = memoryview(native.lookup_domain(arch)).cast("H")
    found: dict[int, tuple[int, ...]] = {}
    for index, leaf in enumerate(leaves):
        if leaf < REFUSAL and leaf not in found:
            found[leaf] = axes_of(index)
    return found


def problem_at(arch: str, axes: tuple[int, ...]) -> Problem:
    mode, dtypes, heads, q_len, ragged, page, causal, lse, cp, sparse, over = axes
    return Problem(
        arch,
        MODES[mode],
        *DTYPE_PAIRS[dtypes],
        heads + 1,
        q_len + 1,
        PAGE_SIZES[page],
        causal=bool(causal),
        lse=bool(lse),
        cp_world_size=1 + cp,
        ragged=bool(ragged),
        sparse=bool(sparse),
        kv_bytes=(1 << 32) + over,
    )


def call_of(problem: Problem, kernel: KernelInfo) -> Call:
    """A call that poses the problem, its tensors folded for the kernel."""
    fp8 = "float8_e4m3fnuz" if problem.arch == "gfx942" else "float8_e4m3fn"
    dtypes = {"bf16": "bfloat16", "fp8": fp8, "byte": "uint8"}
    kv_dtype = dtypes[problem.kv_dtype]
    over = problem.kv_bytes > 1 << 32
    return Call(
        heads=problem.heads,
        kernel_heads=kernel["heads"],
        q_len=problem.q_len,
        page_size=problem.page_size,
        pages=((1 << 33) if over else 40_000) // (problem.page_size * 576),
        persistent=problem.mode == "persistent",
        splits=1 if problem.mode == "persistent" else 6,
        q_dtype=dtypes[problem.q_dtype],
        kv_dtype=kv_dtype,
        lse=problem.lse,
        cp_world_size=problem.cp_world_size,
        causal=problem.causal,
        ragged=problem.ragged,
        sparse=problem.sparse,
    )


@pytest.mark.parametrize("arch", ARCHS)
def test_every_plan_launches_its_object_with_the_arguments_of_its_metadata(
    real: Path, arch: str, recorder: Recorder, make_native: Callable[[Path], Native]
) -> None:
    native = make_native(real)
    native.hip_open(recorder.path, False)
    recorder.set_devices(f"{arch}:sramecc+:xnack-")
    rows = native.table()
    for kernel in rows["kernels"]:
        object_path(kernel)
    native.prepare(0, arch, OBJECTS)
    plans = first_problems(native, arch)
    assert plans, "the table serves nothing on this arch"
    for number, axes in plans.items():
        problem = problem_at(arch, axes)
        kernel = rows["kernels"][rows["plans"][number]["kernel"]]
        recipe = RECIPES[kernel["recipe"]]
        call = call_of(problem, kernel)
        answer = native.lookup(*(getattr(problem, name) for name in problem.__slots__))
        assert isinstance(answer, tuple)
        call.launch(native)
        launch = recorder.report()["launches"][-1]
        assert (launch["function"], launch["sha256"]) == (kernel["symbol"], kernel["sha256"])
        (info,) = read_file(object_path(kernel)).kernels
        assert launch["size"] == info.kernarg_segment_size
        block = bytes.fromhex(launch["kernarg"])
        values = expected_values(call, recipe, answer[6])
        named = [argument for argument in info.args if argument.name in OFFSETS]
        assert len(named) >= 13
        for argument in named:
            assert OFFSETS[argument.name] == argument.offset, f"{kernel['file']}: {argument.name}"
            assert block[argument.offset : argument.end] == values[argument.offset], f"{kernel['file']}: {argument.name}"
        assert block == expected_block(call, recipe, answer[6], info.kernarg_segment_size)


@pytest.mark.parametrize("arch", ARCHS)
def test_every_shipped_object_reads_its_arguments_where_the_host_writes_them(
    real: Path, arch: str, make_native: Callable[[Path], Native]
) -> None:
    shipped = [kernel for kernel in make_native(real).table()["kernels"] if kernel["arch"] == arch]
    assert shipped
    for kernel in shipped:
        (info,) = read_file(object_path(kernel)).kernels
        for argument in info.args:
            if argument.name in OFFSETS:
                assert argument.offset == OFFSETS[argument.name], f"{kernel['file']}: {argument.name}"
            else:
                assert argument.offset % 16 != 0, f"{kernel['file']}: {argument.name} starts a slot that nothing fills"
        assert (kernel["kernarg_size"], kernel["lds_bytes"]) == (info.kernarg_segment_size, info.group_segment_fixed_size)


@pytest.mark.parametrize("arch", ARCHS)
def test_plans_have_the_numbers_of_the_python_resolver(
    real: Path, arch: str, make_native: Callable[[Path], Native], monkeypatch: pytest.MonkeyPatch
) -> None:
    native = make_native(real)
    data = table.load(arch, built(GENERATED / "tables" / f"{arch}.json").parent)
    monkeypatch.setattr(table, "load", lambda _: data)
    monkeypatch.setattr(table, "archs", lambda: ARCHS)
    choose = random.Random(2363)
    served = 0
    while served < 2000:
        problem = problem_at(arch, tuple(choose.randrange(width) for width in WIDTHS))
        answer = native.lookup(*(getattr(problem, name) for name in problem.__slots__))
        resolved = dispatch.resolve(problem)
        if isinstance(answer, str):
            assert isinstance(resolved, dispatch.Refusal)
            assert resolved.code == answer
            continue
        assert isinstance(resolved, dispatch.Plan)
        fold = resolved.fold
        assert answer[2:6] == (fold.padded_heads, fold.head_groups, fold.tokens_per_item, fold.items_per_request)
        served += 1
