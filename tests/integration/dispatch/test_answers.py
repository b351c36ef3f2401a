"""The answers that public reports and AITER's own facts demand."""

from __future__ import annotations

from typing import Any

import pytest

from aiter_mla_aot import Plan, Problem, Refusal, explain, resolve, supports
from aiter_mla_aot.errors import Refused

ARCHS = ("gfx942", "gfx950")
FOLD_16 = "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
QH64 = "mla_a8w8_qh64_qseqlen1_gqaratio64_v3_ps"


def problem(
    arch: str = "gfx942", q: str = "fp8", kv: str = "fp8", heads: int = 16, q_len: int = 1, page_size: int = 1, **more: Any
) -> Problem:
    return Problem(arch, more.pop("mode", "persistent"), q, kv, heads, q_len, page_size, **more)


def served(answer: Plan | Refusal) -> Plan:
    assert isinstance(answer, Plan), answer.code
    return answer


def refused(answer: Plan | Refusal) -> str:
    assert isinstance(answer, Refusal), answer.kernel.name
    return answer.code


@pytest.mark.parametrize("catalog", ["shipped", "full"])
def test_aiter_4363_64_heads_at_page_1_fold_to_4_x_16(catalog: str) -> None:
    plan = served(resolve(problem(heads=64), catalog))
    assert (plan.kernel.name, plan.route, plan.fold.head_groups) == (FOLD_16, "head_fold", 4)
    assert "qh64-native-page-64-only" in [gate.id for gate in explain(problem(heads=64), catalog).gates]


def test_aiter_4363_native_at_page_64_where_the_kernel_is_at_hand() -> None:
    plan = served(resolve(problem(heads=64, page_size=64), "full"))
    assert (plan.kernel.name, plan.route) == (QH64, "native")
    assert served(resolve(problem(heads=64, page_size=64, lse=True), "full")).kernel.name == QH64.replace("_v3", "_lse_v3")


@pytest.mark.parametrize("page_size", [2, 4, 8, 16, 32, 128, 256])
def test_aiter_4363_other_page_sizes_are_refused(page_size: int) -> None:
    for catalog in ("shipped", "full"):
        assert refused(resolve(problem(heads=64, page_size=page_size), catalog)) == "page_size"
    assert refused(resolve(problem(heads=64, page_size=64))) == "page_size"


def test_explain_names_a_kernel_that_this_wheel_does_not_hold() -> None:
    verdicts = {candidate.kernel.name: candidate.verdict for candidate in explain(problem(heads=64, page_size=64)).candidates}
    assert verdicts[QH64] == "not in this wheel"


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("q_len", [5, 6, 9, 16])
def test_aiter_4752_long_queries_are_cut_into_items_of_four(arch: str, causal: bool, q_len: int) -> None:
    plan = served(resolve(problem(arch, "bf16", "fp8", q_len=q_len, causal=causal, batch=2)))
    assert (plan.kernel.name, plan.route) == ("mla_a16w8_qh16_m16x4_n16x1_coex0_mask1_ps", "token_fold")
    assert (plan.fold.tokens_per_item, plan.fold.items_per_request) == (4, -(-q_len // 4))


@pytest.mark.parametrize("arch", ARCHS)
def test_floor_at_the_pinned_wheel(arch: str) -> None:
    for causal in (True, False):
        for q_len in range(1, 17):
            assert supports(problem(arch, "bf16", "bf16", q_len=q_len, causal=causal))
            assert supports(problem(arch, "bf16", "fp8", q_len=q_len, causal=causal))
    for heads in range(16, 129, 16):
        assert supports(problem(arch, heads=heads))


def test_kernel_without_mask_gets_one_token_items_under_a_causal_mask() -> None:
    causal, full = (served(resolve(problem(heads=128, q_len=4, causal=mask))) for mask in (True, False))
    assert causal.kernel.name == full.kernel.name == "mla_a8w8_qh128_m32x4_n16x2_msk0_ps"
    assert causal.fold.tokens_per_item == 1


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"lse": True}, "lse"),
        ({"cp_world_size": 2}, "context_parallel"),
        ({"kv_bytes": (1 << 32) + 1}, "kv_span"),
        ({"heads": 32, "ragged": True}, "ragged"),
        ({"mode": "split", "q_len": 16}, "q_len"),
        ({"q": "bf16", "kv": "byte"}, "not_in_wheel"),
        ({"arch": "gfx950", "q": "bf16", "kv": "byte"}, "dtypes"),
        ({"q": "bf16", "mode": "split"}, "mode"),
        ({"q": "fp8", "kv": "bf16"}, "dtypes"),
        ({"arch": "gfx90a"}, "arch_not_in_wheel"),
        ({"out_dtype": "fp16"}, "out_dtype"),
        ({"v_head_dim": 128}, "head_dims"),
        ({"logit_cap": 30.0}, "logit_cap"),
    ],
)
def test_refusal_codes(changed: dict[str, Any], code: str) -> None:
    answer = resolve(problem(**changed))
    assert refused(answer) == code
    assert isinstance(answer, Refusal)
    with pytest.raises(Refused, match=code):
        raise answer.error()


def test_kv_of_exactly_4_gib_is_served() -> None:
    assert supports(problem(kv_bytes=1 << 32))


def test_explanation_of_a_refusal_names_the_nearest_served_problem() -> None:
    payload = explain(problem(heads=64, page_size=16)).to_json()
    assert payload["outcome"] == "refused"
    assert payload["nearest"]["change"] == {"page_size": 1}


@pytest.mark.parametrize("catalog", ["shipped", "full"])
def test_every_explanation_agrees_with_its_answer(catalog: str) -> None:
    for heads in (1, 8, 12, 16, 20, 64, 128):
        for page_size in (1, 64):
            for more in ({}, {"lse": True}, {"ragged": True, "q_len": 3}, {"mode": "split", "q_len": 2}):
                for q, kv in (("bf16", "bf16"), ("fp8", "fp8")):
                    told = explain(problem("gfx950", q, kv, heads, page_size=page_size, **more), catalog)
                    chosen = [candidate.kernel for candidate in told.candidates if candidate.verdict == "chosen"]
                    outranked = [candidate for candidate in told.candidates if candidate.verdict == "outranked"]
                    assert chosen == ([told.answer.kernel] if isinstance(told.answer, Plan) else [])
                    assert chosen or not outranked
                    assert all(candidate.reasons for candidate in told.candidates if candidate.verdict == "rejected")
