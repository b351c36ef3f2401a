"""A rebuild does exactly the work that a change asks for, in a real tree with the real compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from build_tools import settings
from build_tools.build_graph import pipeline
from build_tools.errors import DataError, ExtensionCompileFailed, ObjectUnknown
from build_tools.prove.errors import EvidenceInvalid

ROOT = Path(__file__).resolve().parents[3]


def build(tree: Path, **changes: object) -> tuple[str, ...]:
    chosen = settings.read(tree / "hsa", {}, changes)
    return pipeline.build(tree, chosen, lambda _: None).executed


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.fixture
def tree(built_wheel: Path, make_tree: Callable[[str], Path]) -> Path:
    assert built_wheel.is_file()
    found = make_tree("a tree")
    # Whether the tree is dirty is in the package; nothing else may differ from the tree that was copied.
    assert set(build(found)) <= {"stage"}
    return found


def test_nothing_changed_means_no_work(tree: Path) -> None:
    assert build(tree) == ()


def test_new_file_times_alone_mean_no_work(tree: Path) -> None:
    for folder in ("hsa", "csrc", "build_tools", "aiter_mla_aot", "build/objects"):
        for path in (tree / folder).rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes())
    assert build(tree) == ()


def test_a_changed_source_file_recompiles_itself_and_links(tree: Path) -> None:
    append(tree / "csrc/dispatch/status.cpp", "namespace amla { extern const int kAddedByATest; const int kAddedByATest = 1; }\n")
    assert build(tree)[:2] == ("compile-status", "link")


def test_a_changed_source_file_of_the_emulator_recompiles_itself_and_links(tree: Path) -> None:
    append(tree / "csrc/emulator/hip/errors.cpp", "namespace emulator_host { extern const int kAdded; const int kAdded = 1; }\n")
    assert build(tree)[:2] == ("compile-emulator-hip-errors", "link-emulator")


def test_a_comment_in_a_source_file_changes_no_byte_and_goes_no_further(tree: Path) -> None:
    append(tree / "csrc/dispatch/status.cpp", "// a remark\n")
    # The stage step runs because the tree is dirty now, which is in the version; the link step does not.
    assert build(tree) == ("compile-status", "stage")


def test_changed_data_of_one_arch_goes_through_its_check_and_the_table(tree: Path) -> None:
    append(tree / "hsa/gfx942/gates.toml", "# a remark\n")
    executed = build(tree)
    assert set(executed) == {"compare-gfx942", "table", "stage"}


def test_a_damaged_staged_or_fetched_file_is_restored(tree: Path) -> None:
    fetched = next((tree / "build/objects/gfx942").glob("mla_a8w8*.co"))
    staged = tree / "build/stage/aiter_mla_aot/errors.py"
    good = fetched.read_bytes(), staged.read_bytes()
    fetched.write_bytes(good[0][:-1])
    staged.write_bytes(b"")
    executed = build(tree)
    assert (fetched.read_bytes(), staged.read_bytes()) == good
    assert {"fetch", "stage"} <= set(executed)


def test_a_file_that_left_the_package_leaves_the_stage(tree: Path) -> None:
    extra = tree / "aiter_mla_aot" / "extra.py"
    extra.write_text('"""Extra."""\n', encoding="utf-8")
    build(tree)
    staged = tree / "build/stage/aiter_mla_aot/extra.py"
    assert staged.is_file()
    extra.unlink()
    build(tree)
    assert not staged.exists()


def test_a_source_that_holds_an_unknown_object_stops_the_build_with_its_own_error(tree: Path) -> None:
    for arch in ("gfx942", "gfx950"):
        (tree / "aiter/hsa" / arch / "mla").mkdir(parents=True)
        for path in (tree / "build/objects" / arch).iterdir():
            (tree / "aiter/hsa" / arch / "mla" / path.name).write_bytes(path.read_bytes())
    (tree / "aiter/LICENSE").write_bytes((tree / "build/objects/AMD-AITER-LICENSE").read_bytes())
    executed = build(tree, **{"aiter-source": str(tree / "aiter")})
    assert set(executed) == {"fetch", "stage"}
    (tree / "aiter/hsa/gfx942/mla/mla_unknown.co").write_bytes(b"unknown")
    with pytest.raises(ObjectUnknown, match=r"gfx942/mla_unknown\.co"):
        build(tree, **{"aiter-source": str(tree / "aiter")})


def test_an_error_in_code_is_the_compilers_and_names_the_file(tree: Path) -> None:
    append(tree / "csrc/dispatch/status.cpp", "this is not C++\n")
    with pytest.raises(ExtensionCompileFailed) as caught:
        build(tree)
    assert "status.cpp" in caught.value.cause


def test_an_error_in_data_is_raised_before_anything_runs(tree: Path) -> None:
    append(tree / "hsa/gfx942/lock.toml", 'surprise = "x"\n')
    with pytest.raises(DataError, match="surprise"):
        build(tree)


def test_what_a_proof_needs_is_built_though_the_evidence_is_damaged(tree: Path) -> None:
    damaged = next((tree / "hsa/gfx942/evidence").glob("*.json"))
    damaged.write_text("{", encoding="utf-8")
    (tree / "build/lib/libaiter_mla_emulator.so").unlink()
    chosen = settings.read(tree / "hsa", {})
    executed = pipeline.build(tree, chosen, lambda _: None, kinds=("fetch", "link-emulator")).executed
    assert executed == ("link-emulator",)
    with pytest.raises(EvidenceInvalid):
        build(tree)
