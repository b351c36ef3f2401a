"""Lookup in the extension: the walk of the diagram, the checks before it, the arithmetic of a plan."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.errors import ArgumentInvalid, InvalidProblem
from aiter_mla_aot.native_types import Native
from build_tools.errors import ExtensionCompileFailed
from tests.integration.native.native_build import build_extension
from tests.integration.native.sample_table import KERNELS, NEWER, PERSISTENT, PLANS, ROWS, SPLIT, WIDE, diagram, gfx942_leaf, sample_header
from tests.integration.native.table_header import NONE_FITS, REFUSAL, REFUSALS, expand

FIELDS: dict[str, Any] = {
    "arch": "gfx942",
    "mode": "persistent",
    "q_dtype": "bf16",
    "kv_dtype": "bf16",
    "heads": 16,
    "q_len": 1,
    "page_size": 1,
    "causal": True,
    "lse": False,
    "cp_world_size": 1,
    "batch": 1,
    "ragged": False,
    "sparse": False,
    "kv_bytes": 0,
    "out_dtype": "bf16",
    "qk_head_dim": 576,
    "v_head_dim": 512,
    "logit_cap": 0.0,
}
PAIRS = (("bf16", "bf16"), ("bf16", "fp8"), ("fp8", "fp8"), ("bf16", "byte"))


def lookup(native: Native, **changes: Any) -> tuple[int, ...] | str:
    return native.lookup(*(FIELDS | changes).values())


@pytest.mark.parametrize(("arch", "root"), [("gfx942", 0), ("gfx950", 1)])
def test_the_whole_domain_of_an_arch_is_the_expanded_diagram(native: Native, arch: str, root: int) -> None:
    nodes, roots = diagram()
    assert native.lookup_domain(arch) == expand(nodes, roots[root])


def test_the_domain_of_an_arch_outside_the_wheel_is_refused_everywhere(native: Native) -> None:
    leaf = REFUSAL + REFUSALS.index("arch_not_in_wheel")
    assert native.lookup_domain("gfx90a") == leaf.to_bytes(2, "little") * 9_437_184


def test_single_lookups_equal_the_leaf_function(native: Native) -> None:
    choose = random.Random(20261130)
    for _ in range(5000):
        axes = tuple(choose.randrange(width) for width in (2, 4, 128, 16, 2, 9, 2, 2, 2, 2, 2))
        mode, dtypes, heads, q_len, ragged, page, causal, lse, cp, sparse, kv_span = axes
        answer = lookup(
            native,
            mode=("persistent", "split")[mode],
            q_dtype=PAIRS[dtypes][0],
            kv_dtype=PAIRS[dtypes][1],
            heads=heads + 1,
            q_len=q_len + 1,
            ragged=bool(ragged),
            page_size=1 << page,
            causal=bool(causal),
            lse=bool(lse),
            cp_world_size=8 if cp else 1,
            sparse=bool(sparse),
            kv_bytes=(1 << 32) + kv_span,
            batch=choose.randrange(1, 1000),
        )
        leaf = gfx942_leaf(axes)
        if leaf == NONE_FITS:
            assert answer == "none_fits"
        else:
            assert answer[:2] == (leaf, PLANS[leaf].kernel)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"heads": 16, "q_len": 1}, (PERSISTENT, PERSISTENT, 16, 1, 1, 1, 16), id="native"),
        pytest.param({"heads": 16, "q_len": 9}, (PERSISTENT, PERSISTENT, 16, 1, 4, 3, 64), id="token fold"),
        pytest.param({"heads": 128, "q_len": 6}, (PERSISTENT, PERSISTENT, 128, 8, 4, 16, 64), id="head and token fold"),
        pytest.param({"heads": 5, "q_len": 2}, (PERSISTENT, PERSISTENT, 16, 1, 2, 1, 32), id="head pad"),
        pytest.param({"heads": 50, "q_len": 3}, (PERSISTENT, PERSISTENT, 64, 4, 3, 4, 48), id="head pad and fold"),
        pytest.param({"heads": 20, "q_len": 3}, (ROWS, ROWS, 32, 1, 3, 1, 32), id="rows counted in heads"),
        pytest.param({"lse": True, "q_len": 3}, (WIDE, WIDE, 16, 1, 1, 3, 16), id="one token per item"),
        pytest.param({"mode": "split", "q_len": 4}, (SPLIT, SPLIT, 16, 1, 4, 1, 64), id="split"),
        pytest.param({"arch": "gfx950"}, (NEWER, NEWER, 16, 1, 1, 1, 16), id="other arch"),
    ],
)
def test_plans_are_the_kernel_and_the_fold_arithmetic(native: Native, changes: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert lookup(native, **changes) == expected


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"arch": "gfx90a", "out_dtype": "fp16"}, "arch_not_in_wheel"),
        ({"arch": "gfx1100"}, "arch_not_in_wheel"),
        ({"out_dtype": "fp16", "v_head_dim": 128}, "out_dtype"),
        ({"qk_head_dim": 192, "logit_cap": 30.0}, "head_dims"),
        ({"v_head_dim": 128}, "head_dims"),
        ({"logit_cap": 30.0, "q_dtype": "fp8"}, "logit_cap"),
        ({"q_dtype": "fp8"}, "dtypes"),
        ({"q_dtype": "byte", "kv_dtype": "byte"}, "dtypes"),
        ({"sparse": True}, "none_fits"),
    ],
)
def test_refusals_come_in_the_order_of_the_checks(native: Native, changes: dict[str, Any], refusal: str) -> None:
    assert lookup(native, **changes) == refusal


@pytest.mark.parametrize(
    "changes",
    [
        {"arch": "sm90"},
        {"arch": "gfx"},
        {"arch": "gfx942:sramecc+"},
        {"mode": "both"},
        {"q_dtype": "int4"},
        {"kv_dtype": ""},
        {"heads": 0},
        {"heads": 129},
        {"heads": 1 << 70},
        {"q_len": 17},
        {"page_size": 3},
        {"page_size": 512},
        {"cp_world_size": 0},
        {"batch": -1},
        {"kv_bytes": -1},
        {"out_dtype": "fp64"},
        {"qk_head_dim": 0},
        {"logit_cap": -1.0},
        {"logit_cap": float("nan")},
        {"logit_cap": float("inf")},
    ],
    ids=str,
)
def test_values_outside_the_domain_are_errors_that_name_the_field(native: Native, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblem, match=next(iter(changes))):
        lookup(native, **changes)


@pytest.mark.parametrize("changes", [{"heads": "16"}, {"heads": None}, {"causal": 1}, {"arch": 942}, {"logit_cap": "0"}], ids=str)
def test_values_of_another_type_are_errors_that_name_the_argument(native: Native, changes: dict[str, Any]) -> None:
    with pytest.raises(ArgumentInvalid, match=next(iter(changes))):
        lookup(native, **changes)


def test_a_kernel_that_no_launch_could_use_does_not_compile(tmp_path: Path) -> None:
    impossible = (replace(KERNELS[0], kernarg_size=400), *KERNELS[1:])
    with pytest.raises(ExtensionCompileFailed, match="plans_are_launchable"):
        build_extension(sample_header(impossible), tmp_path)


def test_the_table_can_be_read_back(native: Native) -> None:
    table = native.table()
    assert [(row["arch"], row["file"], row["symbol"]) for row in table["kernels"]] == [(k.arch, k.file, k.symbol) for k in KERNELS]
    assert [row["sha256"] for row in table["kernels"]] == [native.sha256(k.image) for k in KERNELS]
    assert table["plans"] == tuple(asdict(plan) for plan in PLANS)
    assert table["refusals"] == REFUSALS
    assert [(arch["name"], arch["root"]) for arch in table["archs"]] == list(zip(("gfx942", "gfx950"), diagram()[1], strict=True))
    assert table["node_count"] == len(diagram()[0])


def test_a_wheel_without_an_arch_refuses_it(tmp_path: Path, make_native: Callable[[Path], Native]) -> None:
    native = make_native(build_extension(sample_header(archs=("gfx950",)), tmp_path / "one"))
    assert lookup(native) == "arch_not_in_wheel"
    assert lookup(native, arch="gfx950") == (NEWER, 0, 16, 1, 1, 1, 16)
    assert [arch["name"] for arch in native.table()["archs"]] == ["gfx950"]


class CProblem(ctypes.Structure):
    """``amla_problem`` of csrc/dispatch/abi.h."""

    _fields_ = (
        ("kv_bytes", ctypes.c_int64),
        ("logit_cap", ctypes.c_double),
        *((name, ctypes.c_int32) for name in ("arch", "mode", "q_dtype", "kv_dtype", "out_dtype", "heads", "q_len", "page_size")),
        *((name, ctypes.c_int32) for name in ("cp_world_size", "batch", "qk_head_dim", "v_head_dim")),
        *((name, ctypes.c_uint8) for name in ("causal", "lse", "ragged", "sparse")),
        ("reserved", ctypes.c_uint8 * 4),
    )


def test_the_c_interface_answers_like_the_python_one(extension: Path, native: Native) -> None:
    library = ctypes.CDLL(str(extension))
    library.amla_refusal_text.restype = ctypes.c_char_p
    info = native.abi_info()
    assert library.amla_abi_version() == info["abi_version"]
    assert [library.amla_struct_size(which) for which in range(4)] == [
        info["sizeof_status"],
        info["sizeof_problem"],
        info["sizeof_plan"],
        0,
    ]
    assert ctypes.sizeof(CProblem) == info["sizeof_problem"]
    status = ctypes.create_string_buffer(info["sizeof_status"])
    plan = (ctypes.c_uint16 * 8)()
    problem = CProblem(heads=50, q_len=3, page_size=1, cp_world_size=1, batch=1, qk_head_dim=576, v_head_dim=512, causal=1)
    assert library.amla_lookup(ctypes.byref(problem), plan, status) == 0
    assert (*plan[:6], plan[6] | plan[7] << 16) == lookup(native, heads=50, q_len=3)
    problem.sparse = 1
    assert library.amla_lookup(ctypes.byref(problem), plan, status) == 0
    assert library.amla_refusal_text(plan[0]) == b"none_fits"
    assert library.amla_refusal_text(0) is None
    problem.heads = 0
    assert library.amla_lookup(ctypes.byref(problem), plan, status) == 101
    assert library.amla_lookup(None, plan, status) == 310
