"""What passes and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from build_tools.prove.bars import LSE_BAR, bar_of, measure

EXPECTED = np.ones((2, 100, 8))
EXPECTED_LSE = np.zeros((2, 100))


def test_equal_results_are_right() -> None:
    assert measure(EXPECTED, EXPECTED, EXPECTED_LSE, EXPECTED_LSE).right(bar_of("bf16", "bf16"))


@pytest.mark.parametrize(("pair", "factor", "right"), [
    (("bf16", "bf16"), 1.009, True), (("bf16", "bf16"), 1.011, False), (("fp8", "fp8"), 1.039, True), (("bf16", "fp8"), 1.041, False),
])  # fmt: skip
def test_the_bar_is_that_of_the_formats(pair: tuple[str, str], factor: float, right: bool) -> None:
    assert measure(EXPECTED * factor, EXPECTED, None, EXPECTED_LSE).right(bar_of(*pair)) is right


def test_one_row_far_off_is_wrong_though_the_whole_is_not() -> None:
    out = EXPECTED.copy()
    out[0, 0] *= 1.06
    errors = measure(out, EXPECTED, None, EXPECTED_LSE)
    assert errors.output < 1e-2
    assert not errors.right(1e-2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_one_number_that_is_none_is_wrong(value: float) -> None:
    out = EXPECTED.copy()
    out[1, 3, 2] = value
    assert not measure(out, EXPECTED, None, EXPECTED_LSE).right(1e3)


@pytest.mark.parametrize(
    ("value", "right"), [(LSE_BAR * 0.9, True), (LSE_BAR * 1.1, False), (-np.inf, False), (np.nan, False), (np.inf, False)]
)
def test_the_lse_has_its_own_bar(value: float, right: bool) -> None:
    lse = EXPECTED_LSE.copy()
    lse[1, 7] = value
    assert measure(EXPECTED, EXPECTED, lse, EXPECTED_LSE).right(1e-2) is right


def test_an_empty_row_must_be_minus_infinity() -> None:
    expected = EXPECTED_LSE.copy()
    expected[0, 0] = -np.inf
    assert measure(EXPECTED, EXPECTED, expected, expected).right(1e-2)
    assert not measure(EXPECTED, EXPECTED, EXPECTED_LSE, expected).right(1e-2)


def test_a_number_where_zero_belongs_is_wrong() -> None:
    out = np.zeros_like(EXPECTED)
    assert measure(out, out, None, EXPECTED_LSE).right(1e-2)
    assert not measure(EXPECTED * 1e-30, out, None, EXPECTED_LSE).right(1e-2)
