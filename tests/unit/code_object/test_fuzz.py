"""A small budget of the fuzz in every run of the tests. ``CODE_OBJECT_FUZZ_ROUNDS`` and ``CODE_OBJECT_FUZZ_SEED`` give it more."""

from __future__ import annotations

import os

import pytest

from tests.fuzz import fuzz_code_object
from tests.fuzz.fuzz_code_object import TooMuchMemory, corpus, fuzz, measured

ROUNDS = int(os.environ.get("CODE_OBJECT_FUZZ_ROUNDS", "2000"))
SEED = int(os.environ.get("CODE_OBJECT_FUZZ_SEED", "1"))


@pytest.mark.fuzz
def test_every_mutated_object_is_read_or_refused_with_a_typed_error() -> None:
    outcomes = fuzz(corpus(), ROUNDS, SEED)
    assert outcomes.total() == ROUNDS
    # Fewer would mean that the mutations no longer get past the first checks.
    assert outcomes["read"] > ROUNDS // 50
    assert len(outcomes) > 10


def test_one_seed_gives_one_result() -> None:
    assert fuzz(corpus(), 50, 7) == fuzz(corpus(), 50, 7)
    assert fuzz(corpus(), 50, 7) != fuzz(corpus(), 50, 8)


def test_another_exception_is_a_finding_that_names_its_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes, name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(fuzz_code_object, "read", broken)
    with pytest.raises(KeyError) as caught:
        fuzz(corpus(), 1, 7)
    assert caught.value.__notes__ == ["found by the fuzz in round 7/0"]


def test_memory_out_of_proportion_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(data: bytes, name: str) -> bytearray:
        return bytearray(fuzz_code_object.MEMORY_BYTES + 1)

    monkeypatch.setattr(fuzz_code_object, "read", greedy)
    with pytest.raises(TooMuchMemory):
        measured(b"")
