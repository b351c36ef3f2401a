"""Each fault of the data files stops the build with its own error, and nothing in the data depends on order."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from build_tools import errors
from build_tools.data import catalog
from build_tools.dispatch_table import coverage, proofs, table

HSA = Path(__file__).resolve().parents[3] / "hsa"
QH64 = "mla_a8w8_qh64_qseqlen1_gqaratio64_v3_ps.co"


@pytest.fixture
def hsa(tmp_path: Path) -> Path:
    """A copy of one arch's data that a test may damage."""
    shutil.copytree(HSA / "gfx942", tmp_path / "gfx942")
    return tmp_path


def edit(hsa: Path, name: str, change: Callable[[str], str]) -> None:
    path = hsa / "gfx942" / f"{name}.toml"
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")


def closed(hsa: Path) -> dict[str, Any]:
    data = catalog.load(hsa, "gfx942")
    return table.table(data, proofs.load(hsa, data))


def blocks(text: str, section: str) -> list[str]:
    return re.split(rf"(?m)^(?=\[\[{section}\]\])", text)


FAULTS = {
    "schema of another version": ("kernels", lambda t: t.replace("schema = 1", "schema = 2", 1), errors.SchemaDrift),
    "folder of another arch": ("gates", lambda t: t.replace('arch = "gfx942"', 'arch = "gfx950"', 1), errors.SchemaDrift),
    "not TOML": ("folds", lambda t: t + "\n[[", errors.DataFileUnreadable),
    "unknown section": ("gates", lambda t: t + '\n[[gat]]\nid = "x"\n', errors.UnknownField),
    "unknown field": ("kernels", lambda t: t.replace("lds_bytes = ", "lds_byte = ", 1), errors.UnknownField),
    "unknown field of a claim": ("kernels", lambda t: t.replace("min_tokens = ", "minimum_tokens = ", 1), errors.UnknownField),
    "missing field": ("kernels", lambda t: re.sub(r"(?m)^symbol = .*\n", "", t, count=1), errors.SchemaDrift),
    "field of another type": ("kernels", lambda t: re.sub(r"(?m)^bytes = (\d+)$", r'bytes = "\1"', t, count=1), errors.SchemaDrift),
    "duplicate object": ("kernels", lambda t: t + "\n" + blocks(t, "kernel")[1], errors.DuplicateKey),
    "duplicate gate": ("gates", lambda t: t + "\n" + blocks(t, "gate")[1], errors.DuplicateKey),
    "locked object without a row": (
        "lock",
        lambda t: re.sub(r'sha256 = "[0-9a-f]{64}"(?=\nbytes)', f'sha256 = "{"0" * 64}"', t, count=1),
        errors.OrphanObject,
    ),
    "gate on no kernel": ("gates", lambda t: t.replace(QH64, "mla_none.co"), errors.MissingObject),
    "gate with unknown code": ("gates", lambda t: t.replace('code = "page_size"', 'code = "pages"', 1), errors.ClaimInvalid),
    "gate on an unknown axis": ("gates", lambda t: t.replace("when = { page_size", "when = { pages", 1), errors.ClaimInvalid),
    "gate on an impossible value": ("gates", lambda t: t.replace("[1, 2, 4,", "[1, 3, 4,", 1), errors.ClaimInvalid),
    "claim with unknown fold": ("kernels", lambda t: t.replace('"token_fold"', '"row_fold"', 1), errors.MissingObject),
    "claim of no mode": ("kernels", lambda t: t.replace('mode = "persistent"', 'mode = "persisting"', 1), errors.ClaimInvalid),
    "claim of too many heads": ("kernels", lambda t: t.replace("heads = 128", "heads = 129", 1), errors.ClaimInvalid),
    "claim with the recipe of the other mode": (
        "kernels",
        lambda t: t.replace('recipe = "persistent"', 'recipe = "split_null"', 1),
        errors.ClaimInvalid,
    ),
    "neither claim nor reason": ("kernels", lambda t: re.sub(r"(?m)^not_served = .*\n", "", t, count=1), errors.ClaimInvalid),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_damaged_data_stops_the_build(hsa: Path, fault: str) -> None:
    name, change, error = FAULTS[fault]
    edit(hsa, name, change)
    with pytest.raises(error) as caught:
        catalog.load(hsa, "gfx942")
    assert caught.value.cause
    assert caught.value.remedy


def test_missing_file_stops_the_build(hsa: Path) -> None:
    (hsa / "gfx942" / "gates.toml").unlink()
    with pytest.raises(errors.DataFileUnreadable):
        catalog.load(hsa, "gfx942")


def test_row_that_no_problem_reaches_is_shadowed(hsa: Path) -> None:
    edit(hsa, "gates", lambda t: t.replace("[1, 2, 4, 8, 16, 32, 128, 256]", "[1, 2, 4, 8, 16, 32, 64, 128, 256]", 1))
    with pytest.raises(errors.ShadowedKey, match=r"qh64.*never chosen"):
        closed(hsa)


def test_two_kernels_with_one_key_are_an_error(hsa: Path) -> None:
    def twin(text: str) -> str:
        block = next(block for block in blocks(text, "kernel") if QH64 in block)
        return text + "\n" + re.sub('sha256 = ".*"', f'sha256 = "{"f" * 64}"', block.replace(QH64, "mla_twin.co"))

    edit(hsa, "kernels", twin)
    with pytest.raises(errors.ShadowedKey, match="equally well"):
        closed(hsa)


def test_order_of_rows_never_changes_the_table(hsa: Path) -> None:
    expected = closed(hsa)
    for name, section in (
        ("kernels", "kernel"),
        ("folds", "fold"),
        ("gates", "gate|precondition"),
        ("lock", "object"),
        ("reports", "report"),
    ):

        def shuffled(text: str, section: str = section) -> str:
            head, *rows = re.split(rf"(?m)^(?=\[\[(?:{section})\]\])", text)
            random.Random(1).shuffle(rows)
            return head + "\n".join(row.rstrip("\n") + "\n" for row in rows)

        edit(hsa, name, shuffled)
    assert closed(hsa) == expected


def test_outputs_do_not_depend_on_order_or_number_of_archs(tmp_path: Path) -> None:
    table.write_outputs(HSA, ("gfx950", "gfx942"), tmp_path / "both")
    table.write_outputs(HSA, ("gfx942",), tmp_path / "one")
    assert (tmp_path / "both/tables/gfx942.json").read_bytes() == (tmp_path / "one/tables/gfx942.json").read_bytes()
    assert not (tmp_path / "one/tables/gfx950.json").exists()


def test_serving_fewer_problems_stops_the_build(tmp_path: Path) -> None:
    kept = tmp_path / "coverage.toml"
    counted = {"shipped": {"served": {"split fp8/fp8": {"native": 5}}}, "full": {"served": {"split fp8/fp8": {"native": 5, "head_pad": 1}}}}
    kept.write_text(coverage.kept_text("gfx942", counted, "p"), encoding="utf-8")
    coverage.check_not_shrunk(kept, "gfx942", counted, "p")
    counted["shipped"]["served"]["split fp8/fp8"]["native"] = 4
    coverage.check_not_shrunk(kept, "gfx942", counted, "another provider")
    with pytest.raises(errors.CoverageShrank, match=r"shipped.*4 problems served, 5 before"):
        coverage.check_not_shrunk(kept, "gfx942", counted, "p")
    counted["full"]["served"]["split fp8/fp8"]["native"] = 4
    with pytest.raises(errors.CoverageShrank, match=r"full.*5 problems served, 6 before"):
        coverage.check_not_shrunk(kept, "gfx942", counted, "another provider")
