"""Kernels that no catalog knows, compiled here: each is right when fed as it wants, and not otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from build_tools.prove import members
from build_tools.prove.case import Case, Recipe
from build_tools.prove.classes import ProblemClass, classes_of
from build_tools.prove.execute import Bench, Subject
from build_tools.prove.hypotheses import likely, probe, unlikely
from build_tools.prove.outcome import Outcome
from build_tools.prove.search import search
from tests.prove.hip import subjects

PLAIN = Recipe("persistent", "bf16", "bf16", 16, 4)
ROWS = replace(PLAIN, recipe="persistent_rows", mask="request")
RANKED = replace(ROWS, context_parallel=True)
SPLIT = replace(PLAIN, recipe="split_direct", sub_q=64, single="none")

KERNELS: list[tuple[str, dict[str, Any], Recipe, list[dict[str, Any]]]] = [
    ("gfx950", {"MASK": 1, "ROWS_ARE_HEADS": 1}, ROWS, [{"recipe": "persistent"}, {"mask": "none"}]),
    ("gfx950", {"MASK": 1, "ROWS_ARE_HEADS": 1, "RANKS": 1}, RANKED, [{"context_parallel": False}, {"recipe": "persistent"}]),
    ("gfx942", {"KV": 2}, replace(PLAIN, kv_dtype="byte"), [{"kv_dtype": "bf16"}, {"kv_dtype": "fp8"}, {"heads": 32}]),
    ("gfx950", {"KV": 2, "MASK": 2}, replace(PLAIN, kv_dtype="byte", mask="none"), [{"kv_dtype": "fp8"}]),
    ("gfx942", {"KV": 1, "Q_FP8": 1, "SLOTS": 18}, replace(PLAIN, q_dtype="fp8", kv_dtype="fp8"), [{"q_dtype": "bf16"}]),
    ("gfx950", {"THREADS": 512, "KV": 1, "MASK": 2}, replace(PLAIN, kv_dtype="fp8", mask="none"), [{"mask": "causal"}]),
    ("gfx942", {"SPLIT": 1, "MASK": 1, "ROWS_ARE_HEADS": 1}, replace(SPLIT, heads_as_rows=True), [{"heads_as_rows": False}]),
    ("gfx942", {"SPLIT": 1, "SINGLE": 2, "MASK": 1}, replace(SPLIT, recipe="split_null", single="partial"), [{"single": "bf16_partial"}]),
]


@pytest.mark.parametrize(("arch", "macros", "recipe", "wrong"), KERNELS)
def test_a_kernel_is_right_as_it_wants_to_be_fed(
    bench: Bench, tmp_path: Path, arch: str, macros: dict[str, Any], recipe: Recipe, wrong: list[dict[str, Any]]
) -> None:
    (kernel,) = subjects(tmp_path, arch, **macros)
    assert bench.run(kernel, recipe, probe(recipe)).right
    for change in wrong:
        other = replace(recipe, **change)
        assert not bench.run(kernel, other, probe(other)).right, change
    assert recipe in [*likely(kernel.kernarg_size), *unlikely(kernel.kernarg_size)]


def run_on(bench: Bench, kernel: Subject, recipe: Recipe, cases: Sequence[Case]) -> list[Outcome]:
    return [bench.run(kernel, recipe, case) for case in cases]


def test_a_search_finds_a_context_parallel_kernel(bench: Bench, tmp_path: Path) -> None:
    (kernel,) = subjects(tmp_path, "gfx950", MASK=1, ROWS_ARE_HEADS=1, RANKS=1)
    found = search(kernel.kernarg_size, lambda recipe, cases: run_on(bench, kernel, recipe, cases), threads=1)
    assert {recipe.context_parallel for recipe in found} == {True}
    assert {(recipe.heads, recipe.tokens) for recipe in found} == {(8, 8), (16, 8), (32, 4), (64, 2)}
    # It writes no LSE of its own, which shows only where nothing is merged.
    assert not any(recipe.lse for recipe in found)


@pytest.mark.parametrize("page_size", [1, 16])
@pytest.mark.parametrize("causal", [True, False])
def test_every_rank_sees_its_keys(bench: Bench, tmp_path: Path, page_size: int, causal: bool) -> None:
    (kernel,) = subjects(tmp_path, "gfx942", MASK=1, ROWS_ARE_HEADS=1, RANKS=1)
    member = ProblemClass(page_size, "4", causal, 1, "small", lse=True)
    plain, together, *_ = members.boundaries(RANKED, member, quick=True)
    cases = [plain, together, *(together.but(cp_world_size=world, cp_rank=rank, seed=rank) for world, rank in ((1, 0), (2, 1), (8, 5)))]
    if not causal:
        # The test kernel masks always: without the mask a request's tokens see different keys.
        cases = [case.but(q_lens=(1,) * len(case.q_lens)) for case in cases]
    assert all(outcome.right for outcome in run_on(bench, kernel, RANKED, cases))
    drawn = members.drawn(RANKED, member)
    assert {(case.cp_world_size, case.cp_rank) for case in drawn} == {(1, 0), (2, 1), (3, 0), (4, 3), (8, 5)}


def test_a_rank_takes_no_cut_requests_and_no_head_groups() -> None:
    found = classes_of(RANKED)
    assert not any(member.item == "cut" or member.groups > 1 or member.sparse for member in found)
    unmasked = classes_of(replace(RANKED, mask="none"))
    assert {member.item for member in unmasked if member.causal} == {"1"}


def test_every_kernel_of_an_object_is_a_subject(bench: Bench, tmp_path: Path) -> None:
    kernels = {kernel.symbol: kernel for kernel in subjects(tmp_path, "gfx942", SECOND="nothing")}
    assert set(kernels) == {"decode", "nothing"}
    assert bench.run(kernels["decode"], PLAIN, probe(PLAIN)).right
    assert not bench.run(kernels["nothing"], PLAIN, probe(PLAIN)).right


def test_a_run_away_kernel_is_stopped_soon(bench: Bench, tmp_path: Path) -> None:
    (kernel,) = subjects(tmp_path, "gfx942", RUN_AWAY=1)
    outcome = bench.run(kernel, PLAIN, probe(PLAIN))
    assert outcome.status == "fault"
    assert outcome.detail.startswith("instruction_budget")
    assert outcome.wave_instructions < 12_000_000
