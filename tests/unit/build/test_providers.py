"""The provider takes exactly the locked objects, or names what differs with both hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from build_tools.errors import ObjectChanged, ObjectMissing, ObjectUnknown, SchemaDrift, SourceMissing
from build_tools.providers import aiter as providers
from build_tools.providers.lock import Provider
from tests import aiter_source

ARCHS = ("gfx942", "gfx950")


def changed(**files: bytes | None) -> dict[str, dict[str, bytes]]:
    """The objects with files of gfx942 replaced, added or (None) left out."""
    objects = {arch: dict(found) for arch, found in aiter_source.OBJECTS.items()}
    for name, data in files.items():
        if data is None:
            del objects["gfx942"][f"{name}.co"]
        else:
            objects["gfx942"][f"{name}.co"] = data
    return objects


def fetch(tmp_path: Path, source: Path | None, archs: tuple[str, ...] = ARCHS) -> dict[str, bytes]:
    out = tmp_path / "out"
    providers.fetch(tmp_path / "hsa", archs, source, tmp_path / "cache", out, lambda _: None)
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_the_locked_objects_and_the_licence_are_written(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    written = fetch(tmp_path, aiter_source.checkout(tmp_path / "aiter"))
    assert written == {
        "AMD-AITER-LICENSE": aiter_source.LICENCE,
        "gfx942/mla_alpha.co": b"alpha for 942",
        "gfx942/mla_beta.co": b"beta for 942",
        "gfx950/mla_alpha.co": b"alpha for 950",
    }


def test_only_the_asked_arch_is_looked_at(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    source = aiter_source.checkout(tmp_path / "aiter", changed(mla_strange=b"?"))
    assert set(fetch(tmp_path, source, ("gfx950",))) == {"AMD-AITER-LICENSE", "gfx950/mla_alpha.co"}


def test_a_second_fetch_rewrites_nothing_and_takes_strangers_away(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    source = aiter_source.checkout(tmp_path / "aiter")
    first = fetch(tmp_path, source)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.co")}
    (tmp_path / "out" / "gfx942" / "left_over.co").write_bytes(b"old")
    assert fetch(tmp_path, source) == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.co")} == times


def test_an_object_that_the_lock_does_not_know_stops_the_fetch_with_its_hash(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    source = aiter_source.checkout(tmp_path / "aiter", changed(mla_new=b"new"))
    with pytest.raises(ObjectUnknown, match=r"gfx942/mla_new\.co") as caught:
        fetch(tmp_path, source)
    assert hashlib.sha256(b"new").hexdigest() in caught.value.cause
    assert "in the lock: none" in caught.value.cause
    assert not (tmp_path / "out").exists()


def test_a_changed_object_stops_the_fetch_with_both_hashes(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    source = aiter_source.checkout(tmp_path / "aiter", changed(mla_alpha=b"alpha for 943"))
    with pytest.raises(ObjectChanged, match=r"gfx942/mla_alpha\.co") as caught:
        fetch(tmp_path, source)
    for data in (b"alpha for 942", b"alpha for 943"):
        assert hashlib.sha256(data).hexdigest() in caught.value.cause
    assert not (tmp_path / "out").exists()


def test_a_missing_object_stops_the_fetch(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    source = aiter_source.checkout(tmp_path / "aiter", changed(mla_beta=None))
    with pytest.raises(ObjectMissing, match=r"gfx942/mla_beta\.co"):
        fetch(tmp_path, source)


def test_a_lock_of_a_checkout_needs_the_checkout(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa")
    with pytest.raises(SourceMissing, match="names no published wheel"):
        fetch(tmp_path, None)


def test_locks_of_different_providers_make_no_build(tmp_path: Path) -> None:
    aiter_source.locks(tmp_path / "hsa", {"gfx942": aiter_source.OBJECTS["gfx942"]})
    aiter_source.locks(tmp_path / "hsa", {"gfx950": aiter_source.OBJECTS["gfx950"]}, Provider("amd-aiter", "1", "wheel", "0" * 64))
    with pytest.raises(SchemaDrift, match="another provider"):
        fetch(tmp_path, aiter_source.checkout(tmp_path / "aiter"))


class Index:
    """Stands for pip: serves one file, and counts how often."""

    def __init__(self, wheel: Path) -> None:
        self.wheel = wheel
        self.requirements: list[str] = []
        self.arguments: list[str] = []

    def __call__(self, _: str, arguments: list[str], environment: Mapping[str, str], report: object, *, isolated: bool = True) -> None:
        assert environment["PIP_CONFIG_FILE"] == "/dev/null"
        self.arguments = arguments
        self.requirements.append(Path(arguments[arguments.index("--requirement") + 1]).read_text(encoding="utf-8"))
        folder = Path(arguments[arguments.index("--dest") + 1])
        folder.mkdir()
        (folder / self.wheel.name).write_bytes(self.wheel.read_bytes())


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    served = Index(aiter_source.wheel(tmp_path / "amd_aiter-0.1.9-py3-none-any.whl"))
    digest = hashlib.sha256(served.wheel.read_bytes()).hexdigest()
    aiter_source.locks(tmp_path / "hsa", provider=Provider("amd-aiter", "0.1.9", "wheel", digest))
    monkeypatch.setattr(providers, "run_pip", served)
    return served


def test_the_pinned_wheel_is_downloaded_under_its_hash_and_kept(tmp_path: Path, index: Index) -> None:
    first = fetch(tmp_path, None)
    assert first["gfx942/mla_alpha.co"] == b"alpha for 942"
    digest = hashlib.sha256(index.wheel.read_bytes()).hexdigest()
    assert index.requirements == [f"amd-aiter==0.1.9 --hash=sha256:{digest}\n"]
    assert {"--no-deps", "--require-hashes", "--only-binary=:all:"} <= set(index.arguments)
    assert fetch(tmp_path, None) == first
    assert len(index.requirements) == 1


def test_a_damaged_wheel_in_the_cache_is_downloaded_again(tmp_path: Path, index: Index) -> None:
    first = fetch(tmp_path, None)
    (kept,) = (tmp_path / "cache").rglob("*.whl")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert fetch(tmp_path, None) == first
    assert len(index.requirements) == 2
    assert kept.read_bytes() == index.wheel.read_bytes()
