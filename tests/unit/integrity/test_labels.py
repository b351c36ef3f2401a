"""Version labels say what a wheel was made of, and contradictions are found."""

from __future__ import annotations

import pytest

from aiter_mla_aot.integrity.labels import Label, contradictions, parse

LOCK = "0123456789abcdef"


@pytest.mark.parametrize(
    ("version", "label"),
    [
        ("0.1.0", Label("0.1.0", "", (), False, False)),
        ("1.2.3rc1", Label("1.2.3rc1", "", (), False, False)),
        ("0.1.0+gfx942", Label("0.1.0", "", ("gfx942",), False, False)),
        ("0.1.0+aiter.0123456789ab", Label("0.1.0", "0123456789ab", (), False, False)),
        ("0.1.0+unproven", Label("0.1.0", "", (), True, False)),
        ("0.1.0+dirty", Label("0.1.0", "", (), False, True)),
        ("0.1.0+gfx950.aiter.0123456789ab.unproven.dirty", Label("0.1.0", "0123456789ab", ("gfx950",), True, True)),
    ],
)
def test_labels_are_taken_apart(version: str, label: Label) -> None:
    assert parse(version) == label


@pytest.mark.parametrize(
    "version",
    [
        "",
        "0.1.0+",
        "x",
        "0.1.0+x",
        "0.1.0+dirty.unproven",
        "0.1.0+.dirty",
        "0.1.0+aiter",
        "0.1.0+aiter.xyz",
        "0.1.0+aiter.0123456789ab.gfx942",
        "0.1.0+dirty+dirty",
    ],
)
def test_what_no_build_writes_is_no_label(version: str) -> None:
    assert parse(version) is None
    assert len(contradictions(version, ("gfx942",), ("gfx942", "gfx950"), "amd-aiter", LOCK)) == 1


@pytest.mark.parametrize(
    ("version", "archs", "provider"),
    [
        ("0.1.0", ("gfx942", "gfx950"), "amd-aiter"),
        ("0.1.0+gfx942", ("gfx942",), "amd-aiter"),
        ("0.1.0+aiter.0123456789ab", ("gfx942", "gfx950"), "checkout"),
        ("0.1.0+gfx950.aiter.0123456789ab", ("gfx950",), "checkout"),
    ],
)
def test_a_true_label_has_no_contradiction(version: str, archs: tuple[str, ...], provider: str) -> None:
    assert contradictions(version, archs, ("gfx942", "gfx950"), provider, LOCK) == []


@pytest.mark.parametrize(
    ("version", "archs", "provider"),
    [
        ("0.1.0", ("gfx942",), "amd-aiter"),
        ("0.1.0+gfx942", ("gfx950",), "amd-aiter"),
        ("0.1.0+gfx942", ("gfx942", "gfx950"), "amd-aiter"),
        ("0.1.0", ("gfx942", "gfx950"), "checkout"),
        ("0.1.0+aiter.ffffffffffff", ("gfx942", "gfx950"), "checkout"),
    ],
)
def test_a_label_that_says_another_thing_is_found(version: str, archs: tuple[str, ...], provider: str) -> None:
    assert len(contradictions(version, archs, ("gfx942", "gfx950"), provider, LOCK)) == 1


def test_a_lock_of_digits_only_is_compared_as_packaging_tools_write_it() -> None:
    assert contradictions("0.1.0+aiter.12345678901", ("gfx942",), ("gfx942",), "checkout", "012345678901ff") == []
