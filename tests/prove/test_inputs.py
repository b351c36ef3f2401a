"""Inputs of cases: what is used, what is poisoned, and that they are the same everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pytest

from build_tools.prove import inputs, numbers
from build_tools.prove.case import LAYOUTS, POISONS, Case, Recipe
from build_tools.prove.memory import Slot

RECIPE = Recipe("persistent", "fp8", "fp8", 16, 4)
CASE = Case(16, (4, 1, 2), (37, 0, 5), page_size=8)


def make(case: Case, recipe: Recipe = RECIPE) -> inputs.Inputs:
    return inputs.make(case, recipe, "e4m3fn", lambda shape, dtype: np.zeros(shape, dtype))


def used_rows(made: inputs.Inputs, case: Case) -> npt.NDArray[np.int64]:
    """Rows of the pool that some request's keys are, as page * page size + place."""
    rows = []
    for request, count in enumerate(case.kv_lens):
        pages = made.kv_indices[made.index.kv_indptr[request] : made.index.kv_indptr[request + 1]].astype(np.int64)
        rows.append((pages[:, None] * case.page_size + np.arange(case.page_size)).ravel()[:count])
    return np.concatenate(rows)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if not name.startswith("span")])
def test_the_keys_are_those_that_the_pages_hold(layout: str) -> None:
    case = CASE.but(layout=layout)
    made = make(case)
    held = numbers.decode(made.kv.reshape(-1, 576)[used_rows(made, case)], "e4m3fn")
    np.testing.assert_array_equal(np.concatenate(made.keys), held)


@pytest.mark.parametrize("poison", POISONS)
@pytest.mark.parametrize("page_size", [1, 8])
def test_every_row_that_no_request_uses_is_poisoned(poison: str, page_size: int) -> None:
    case = CASE.but(poison=poison, page_size=page_size)
    made = make(case)
    rows = made.kv.reshape(-1, 576)
    unused = np.setdiff1d(np.arange(len(rows)), used_rows(made, case))
    assert len(unused) > 0
    size = np.abs(numbers.decode(rows[unused], "e4m3fn"))
    assert np.isnan(size).all() if poison == "nan" else (size == (448.0 if poison == "large" else 1.5)).all()
    assert np.isfinite(numbers.decode(rows[used_rows(made, case)], "e4m3fn")).all()


def test_shuffled_pages_are_distinct_and_leave_out_page_0() -> None:
    made = make(CASE.but(kv_lens=(900, 300, 20)))
    assert len(np.unique(made.kv_indices)) == len(made.kv_indices)
    assert made.kv_indices.min() > 0


def test_in_sparse_work_each_token_has_a_list_of_its_own() -> None:
    made = make(CASE.but(page_size=1, top_k=10))
    assert [len(rows) for rows in made.keys] == [10, 10, 10, 10, 0, 4, 5]
    assert len(made.kv_indices) == 70
    lists = made.kv_indices.reshape(7, 10)
    for entries, rows in zip(lists, made.keys, strict=True):
        np.testing.assert_array_equal(numbers.decode(made.kv[entries[: len(rows)], 0], "e4m3fn"), rows)
        assert (entries[len(rows) :] == inputs.STALE_INDEX).all()


def test_stale_entries_name_no_page() -> None:
    made = make(CASE.but(index_slack=7))
    assert len(made.kv_indices) == made.index.kv_indptr[-1] + 7
    assert (made.kv_indices[-7:] >= len(made.kv)).all()


@pytest.mark.parametrize(("layout", "bytes_"), [("span_2g", 2 << 30), ("span_4g", 4 << 30)])
def test_spans_reach_beyond_their_limit(layout: str, bytes_: int) -> None:
    slots: list[Slot] = []

    def sparse(shape: tuple[int, ...], dtype: npt.DTypeLike) -> inputs.Bits:
        slots.append(Slot(int(np.prod(shape)) * np.dtype(dtype).itemsize))
        return slots[-1].array(dtype, shape)

    case = CASE.but(layout=layout, kv_lens=(40, 3, 9))
    made = inputs.make(case, RECIPE, "e4m3fn", sparse)
    assert int(made.kv_indices.max()) * 8 * 576 > bytes_
    assert len(np.unique(made.kv_indices)) == len(made.kv_indices)
    assert made.keys[0].any()
    del made
    slots[0].close()


@pytest.mark.parametrize("kind", ["normal", "outlier", "tiny", "huge", "flat"])
def test_values_have_their_size(kind: str) -> None:
    made = make(CASE.but(values=kind, kv_lens=(400, 1, 1)))
    size = float(np.abs(np.concatenate(made.keys)).mean())
    low, high = {"normal": (0.7, 0.9), "outlier": (0.7, 1.0), "tiny": (0.005, 0.02), "huge": (8.0, 16.0), "flat": (0.7, 0.9)}[kind]
    assert low < size < high
    assert (made.q_values == 0).all() == (kind == "flat")


def test_inputs_are_the_same_everywhere() -> None:
    made = make(CASE)
    digest = hashlib.sha256(made.q.tobytes() + made.kv.tobytes() + made.kv_indices.tobytes()).hexdigest()
    assert digest[:16] == "7133330404932837"
