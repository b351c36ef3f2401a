"""What a problem may hold, and what bad values get."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiter_mla_aot.errors import InvalidProblem
from aiter_mla_aot.problem import FIELDS, Problem

GOOD: dict[str, Any] = {"arch": "gfx942", "mode": "split", "q_dtype": "fp8", "kv_dtype": "fp8", "heads": 16, "q_len": 1, "page_size": 1}
BAD: dict[str, list[Any]] = {
    "arch": ["", "gfx942\n", "sm_90", "gfx942:xnack-", 942, None],
    "mode": ["Persistent", "", None, 0],
    "q_dtype": ["fp16", "FP8", None],
    "kv_dtype": ["int8", 8],
    "heads": [0, 129, -1, 16.0, "16", True, None, 10**30],
    "q_len": [0, 17, 1.0, False],
    "page_size": [0, 3, 512, -1, True, 1.0, "1"],
    "causal": [1, 0, "true", None],
    "lse": [1, "no"],
    "cp_world_size": [0, -2, 1.5],
    "batch": [0, -1, True],
    "ragged": [0],
    "sparse": ["yes"],
    "kv_bytes": [-1, 0.5],
    "out_dtype": ["fp8", None],
    "qk_head_dim": [0, "576"],
    "v_head_dim": [-512],
    "logit_cap": [-1.0, float("nan"), float("inf"), "0", True],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_impossible_value_is_named(name: str, value: Any) -> None:
    with pytest.raises(InvalidProblem, match=name) as caught:
        Problem.from_mapping(GOOD | {name: value})
    assert caught.value.exit_code == 2
    assert caught.value.cause
    assert caught.value.remedy


def test_every_field_is_checked() -> None:
    assert BAD.keys() == FIELDS.keys()


def test_missing_and_unknown_fields_are_named() -> None:
    with pytest.raises(InvalidProblem, match="missing field q_len, page_size"):
        Problem.from_mapping({name: value for name, value in GOOD.items() if name not in ("q_len", "page_size")})
    with pytest.raises(InvalidProblem, match="unknown field 'batch_size', 'nheads'"):
        Problem.from_mapping(GOOD | {"nheads": 1, "batch_size": 1})


def test_defaults_are_the_documented_ones() -> None:
    expected = {"causal": True, "lse": False, "cp_world_size": 1, "batch": 1, "ragged": False, "sparse": False, "kv_bytes": 0}
    assert Problem.from_mapping(GOOD).to_json() == GOOD | expected | {
        "out_dtype": "bf16",
        "qk_head_dim": 576,
        "v_head_dim": 512,
        "logit_cap": 0.0,
    }


@given(st.dictionaries(st.sampled_from([*FIELDS, "x"]), st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)))
def test_any_mapping_is_a_problem_or_a_typed_error(values: dict[str, Any]) -> None:
    try:
        Problem.from_mapping(GOOD | values)
    except InvalidProblem as error:
        str(error).encode()
