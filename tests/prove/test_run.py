"""Published kernels on the emulator, run by run: right ones are right, wrong plans and touched memory are seen."""

from __future__ import annotations

import dataclasses

import pytest

from build_tools.prove.case import Case, Recipe
from build_tools.prove.execute import Bench
from tests.prove.published import subject

ONE = Recipe("persistent", "fp8", "fp8", 16, 1, mask="none")
WIDE = Recipe("persistent", "fp8", "fp8", 128, 1, mask="none")
FOUR = Recipe("persistent", "bf16", "bf16", 16, 4)
QH16 = "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
QH128 = "mla_a8w8_qh128_m32x4_n16x2_msk0_ps"
M16X4 = "mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps"


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("causal", [True, False])
def test_work_items_of_four_tokens(bench: Bench, arch: str, causal: bool) -> None:
    case = Case(16, (4, 1, 9, 0), (70, 1, 33, 5), causal=causal, partial_always=True)
    outcome = bench.run(subject(arch, M16X4), FOUR, case)
    assert outcome.right, outcome
    assert outcome.errors is not None
    assert outcome.errors.lse is not None


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_float8_with_scales_head_groups_and_splits(bench: Bench, arch: str) -> None:
    case = Case(32, (3, 3), (50, 700), workgroups=5, q_scale=0.5, kv_scale=1.75, index_slack=9)
    assert bench.run(subject(arch, QH16), ONE, case).right


@pytest.mark.parametrize("causal", [True, False])
def test_a_list_of_keys_for_each_query_token(bench: Bench, causal: bool) -> None:
    case = Case(32, (3, 1, 2), (200, 5, 60), top_k=64, causal=causal, index_slack=9, partial_always=True)
    assert bench.run(subject("gfx942", QH16), ONE, case).right


def test_the_same_run_has_the_same_bits(bench: Bench) -> None:
    case = Case(16, (1,), (130,))
    first = bench.run(subject("gfx942", QH16), ONE, case)
    assert first.digest
    assert bench.run(subject("gfx942", QH16), ONE, case) == first


def test_a_scale_that_a_kernel_leaves_out_is_seen(bench: Bench) -> None:
    recipe = Recipe("persistent", "fp8", "fp8", 16, 4)
    kernel = subject("gfx942", "mla_a8w8_qh16_qseqlen4_gqaratio16_ps")
    case = Case(16, (4,), (60,))
    assert bench.run(kernel, recipe, case).right
    assert bench.run(kernel, recipe, case.but(kv_scale=1.75)).status == "wrong"
    assert bench.run(kernel, dataclasses.replace(recipe, out_scale_missing=True), case.but(kv_scale=1.75)).right


@pytest.mark.parametrize("keys", [(200,), (200, 50, 1000), (16,) * 8])
def test_items_for_16_heads_on_a_kernel_of_128_are_caught(bench: Bench, keys: tuple[int, ...]) -> None:
    case = Case(128, (1,) * len(keys), keys)
    outcome = bench.run(subject("gfx942", QH128), ONE, case)
    assert outcome.status == "fault"
    assert "out_of_bounds" in outcome.detail
    assert bench.run(subject("gfx942", QH128), ONE, case.but(row_slack=200)).status in ("fault", "trespass")


@pytest.mark.parametrize("keys", [(200,), (200, 50, 1000), (16,) * 8])
def test_items_for_128_heads_on_a_kernel_of_16_are_caught(bench: Bench, keys: tuple[int, ...]) -> None:
    outcome = bench.run(subject("gfx942", QH16), WIDE, Case(128, (1,) * len(keys), keys))
    assert outcome.status == "unwritten"


def test_rows_of_others_that_a_kernel_writes_are_seen(bench: Bench) -> None:
    recipe = Recipe("persistent", "fp8", "fp8", 16, 2)
    kernel = subject("gfx942", "mla_a8w8_qh16_qseqlen2_gqaratio16_ps")
    assert bench.run(kernel, recipe, Case(16, (1,), (12,), row_slack=5)).status == "trespass"
    assert bench.run(kernel, recipe, Case(16, (1,), (12,))).status == "fault"


def test_a_split_in_which_a_token_sees_no_key_is_seen(bench: Bench) -> None:
    recipe = Recipe("split_direct", "fp8", "fp8", 16, 2, sub_q=128)
    kernel = subject("gfx942", "mla_a8w8_qh16_qseqlen2_gqaratio16")
    assert bench.run(kernel, recipe, Case(16, (2,), (66,), splits=2)).right
    assert bench.run(kernel, recipe, Case(16, (2,), (65,), splits=2)).status == "wrong"


def test_what_cannot_be_planned_is_an_outcome(bench: Bench) -> None:
    assert bench.run(subject("gfx942", QH128), WIDE, Case(256, (1,), (5,))).status == "impossible"
