"""The whole domain: the table serves exactly what brute force finds, and Python and C++ give the same answers."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from aiter_mla_aot import dispatch, table
from aiter_mla_aot.native import load
from aiter_mla_aot.problem import DTYPE_PAIRS, KV_SPAN_LIMIT, PAGE_SIZES, Problem

from . import oracle

HSA = Path(__file__).resolve().parents[3] / "hsa"
CASES = [(arch, catalog) for arch in ("gfx942", "gfx950") for catalog in table.CATALOGS]


def expanded(arch: str, catalog: str) -> npt.NDArray[np.int64]:
    """The answer's number of every problem, by following the diagram on all axes at once."""
    diagram = table.load(arch).catalogs[catalog]
    nodes = np.asarray(diagram.nodes, np.int64)
    places = np.asarray(diagram.root, np.int64)
    for _, width in table.AXES:
        places = nodes[places[..., None] + np.arange(width)]
    return places


@pytest.mark.parametrize(("arch", "catalog"), CASES)
def test_table_serves_exactly_what_brute_force_finds(arch: str, catalog: str) -> None:
    data, truth, leaves = table.load(arch), oracle.solve(HSA, arch, catalog, table.load(arch).hardware), expanded(arch, catalog)
    assert leaves.shape == oracle.SHAPE
    assert truth.ties == 0
    refused = leaves >= table.REFUSAL
    np.testing.assert_array_equal(refused, truth.kernel == oracle.NOTHING)
    numbers = {sha256: number for number, sha256 in enumerate(truth.files)}
    kernel_of_plan = np.asarray([numbers.get(data.kernels[kernel].sha256, oracle.NOTHING) for kernel, _ in data.plans])
    single_of_plan = np.asarray([single for _, single in data.plans])
    served = leaves[~refused]
    np.testing.assert_array_equal(kernel_of_plan[served], truth.kernel[~refused])
    single = single_of_plan[served] | (truth.tokens[~refused] == 1)
    np.testing.assert_array_equal(single, truth.tokens[~refused] == 1)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_cpp_lookup_of_every_problem_equals_the_python_table(arch: str) -> None:
    data = table.load(arch)
    native = np.frombuffer(load().lookup_domain(arch), np.uint16).astype(np.int64).reshape(oracle.SHAPE)
    ours = expanded(arch, "shipped")
    np.testing.assert_array_equal(native >= table.REFUSAL, ours >= table.REFUSAL)
    rows = load().table()
    for pair in np.unique(native << 16 | ours).tolist():
        cpp, python = pair >> 16, pair & 0xFFFF
        if cpp >= table.REFUSAL:
            assert rows["refusals"][cpp - table.REFUSAL] == data.refusals[python - table.REFUSAL]
        else:
            kernel, single = data.plans[python]
            plan = rows["plans"][cpp]
            assert rows["kernels"][plan["kernel"]]["sha256"] == data.kernels[kernel].sha256
            assert bool(plan["single"]) == single


@pytest.mark.parametrize("catalog", table.CATALOGS)
def test_resolve_walks_the_table(catalog: str) -> None:
    numbers = random.Random(4365)
    for arch in ("gfx942", "gfx950"):
        data, leaves = table.load(arch), expanded(arch, catalog)
        for _ in range(10_000):
            place = tuple(numbers.randrange(width) for _, width in table.AXES)
            mode, pair, heads, q_len, ragged, page, causal, lse, cp, sparse, over = place
            problem = Problem(
                arch,
                ("persistent", "split")[mode],
                *DTYPE_PAIRS[pair],
                heads + 1,
                q_len + 1,
                PAGE_SIZES[page],
                causal=bool(causal),
                lse=bool(lse),
                cp_world_size=1 + cp * numbers.randrange(1, 9),
                ragged=bool(ragged),
                sparse=bool(sparse),
                kv_bytes=KV_SPAN_LIMIT + over * numbers.randrange(1, 1 << 40),
            )
            answer, leaf = dispatch.resolve(problem, catalog), int(leaves[place])
            if isinstance(answer, dispatch.Refusal):
                assert leaf >= table.REFUSAL
                assert answer.code == data.refusals[leaf - table.REFUSAL]
            else:
                assert answer.kernel == data.kernels[data.plans[leaf][0]]
