"""Lock files: the same source gives the same bytes, and a malformed lock is a named error."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomllib

from build_tools.environment.locking import lock_source
from build_tools.errors import DataError, DuplicateKey, ObjectRejected, SchemaDrift
from build_tools.providers import lock
from build_tools.providers.aiter import open_source
from build_tools.providers.lock import Lock, LockedObject, Provider
from tests import aiter_source, synthetic_object

ROOT = Path(__file__).resolve().parents[3]
MACH = {"gfx942": 0x54C, "gfx950": 0x54F}


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path)
    found = lock.read(tmp_path, "gfx942")
    assert found.arch == "gfx942"
    assert [item.file for item in found.objects] == ["mla_alpha.co", "mla_beta.co"]
    assert found.provider == Provider("aiter", "unknown", "checkout")


def test_the_order_of_objects_does_not_change_the_bytes() -> None:
    objects = (LockedObject("b.co", "1" * 64, 2), LockedObject("a.co", "2" * 64, 1))
    provider = Provider("amd-aiter", "1.0", "wheel", "3" * 64)
    assert lock.render(Lock("gfx942", provider, objects)) == lock.render(Lock("gfx942", provider, objects[::-1]))


def test_the_digest_does_not_depend_on_the_order_of_archs_but_on_every_byte(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path)
    first = lock.digest(tmp_path, ("gfx942", "gfx950"))
    assert lock.digest(tmp_path, ("gfx950", "gfx942")) == first
    assert lock.digest(tmp_path, ("gfx942",)) != first
    path = lock.path_of(tmp_path, "gfx950")
    path.write_text(path.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    assert lock.digest(tmp_path, ("gfx942", "gfx950")) != first


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('arch = "gfx942"', 'arch = "gfx950"'),
        ("schema = 1", "schema = 2"),
        ("schema = 1", "schema = 1\nextra = 1"),
        ("[provider]", "[supplier]"),
        ('kind = "checkout"', "kind = 1"),
        ('kind = "checkout"', 'kind = "checkout"\nextra = "x"'),
        ('file = "mla_alpha.co"', 'file = "../mla_alpha.co"'),
        ('file = "mla_alpha.co"', 'file = "mla_alpha.so"'),
        ("bytes = 13", "bytes = 0"),
        ("bytes = 13", 'bytes = "13"'),
        ('sha256 = "', 'sha256 = "x'),
        ("[[object]]", "[object]"),
        ("schema = 1", "schema = "),
    ],
)
def test_a_malformed_lock_is_an_error(tmp_path: Path, before: str, after: str) -> None:
    path = lock.path_of(aiter_source.locks(tmp_path), "gfx942")
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        lock.read(tmp_path, "gfx942")
    assert "gfx942" in caught.value.fact


def test_a_lock_without_objects_is_an_error(tmp_path: Path) -> None:
    lock.write(tmp_path, [Lock("gfx942", Provider("aiter", "1", "checkout"), ())])
    with pytest.raises(SchemaDrift):
        lock.read(tmp_path, "gfx942")


def test_a_doubled_file_name_is_an_error(tmp_path: Path) -> None:
    item = LockedObject("a.co", "1" * 64, 1)
    lock.write(tmp_path, [Lock("gfx942", Provider("aiter", "1", "checkout"), (item, item))])
    with pytest.raises(DuplicateKey):
        lock.read(tmp_path, "gfx942")


def test_real_objects_are_locked_and_damaged_ones_are_not(tmp_path: Path) -> None:
    good = {arch: {"mla_a.co": bytes(synthetic_object.build(e_flags=flags))} for arch, flags in MACH.items()}
    locks = lock_source(open_source(aiter_source.checkout(tmp_path / "good", good)))
    assert [(item.arch, len(item.objects)) for item in locks] == [("gfx942", 1), ("gfx950", 1)]
    assert tomllib.loads(lock.render(locks[0]))["object"][0]["bytes"] == len(good["gfx942"]["mla_a.co"])
    cut = good | {"gfx950": {"mla_a.co": good["gfx950"]["mla_a.co"][:200]}}
    with pytest.raises(ObjectRejected, match=r"gfx950/mla_a\.co"):
        lock_source(open_source(aiter_source.checkout(tmp_path / "cut", cut)))


def test_an_object_in_the_folder_of_another_arch_is_not_locked(tmp_path: Path) -> None:
    wrong = {"gfx950": {"mla_a.co": bytes(synthetic_object.build(e_flags=MACH["gfx942"]))}}
    with pytest.raises(ObjectRejected) as caught:
        lock_source(open_source(aiter_source.checkout(tmp_path, wrong)))
    assert "gfx942" in caught.value.cause


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_the_kept_locks_are_as_the_command_writes_them(arch: str) -> None:
    assert lock.render(lock.read(ROOT / "hsa", arch)) == lock.path_of(ROOT / "hsa", arch).read_text(encoding="utf-8")
