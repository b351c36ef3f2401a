"""Settings from variables and config settings, and what they make of the version."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from build_tools import settings
from build_tools.errors import DataError, SettingInvalid
from build_tools.providers import lock
from build_tools.providers.lock import Provider
from build_tools.settings import Settings
from build_tools.wheels import release
from tests import aiter_source

PUBLIC = "ab" * 32
BOTH = ("gfx942", "gfx950")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of which git says that it is clean."""
    text = f'version = "1.2.3"\nsource_date = 2026-11-30T00:00:00Z\naiter_sha256 = "{PUBLIC}"\n'
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    aiter_source.locks(tmp_path / "hsa", provider=Provider("amd-aiter", "1", "wheel", PUBLIC))
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "state")


def test_without_any_setting_every_arch_is_built_from_the_pinned_wheel(root: Path) -> None:
    assert settings.read(root / "hsa", {}) == Settings(BOTH)


def test_variables_and_config_settings_reach_the_same_fields_and_the_latter_win(root: Path) -> None:
    variables = {"AITER_MLA_AOT_ARCHS": "gfx942", "AITER_MLA_AOT_AITER_SOURCE": "/one", "AITER_MLA_AOT_ALLOW_UNPROVEN": "0"}
    assert settings.read(root / "hsa", variables) == Settings(("gfx942",), Path("/one"))
    config = {"arch": "gfx950", "aiter-source": "/two", "allow-unproven": "true"}
    assert settings.read(root / "hsa", variables, config) == Settings(("gfx950",), Path("/two"), True)


def test_settings_survive_the_way_through_the_environment(root: Path) -> None:
    for given in (Settings(BOTH), Settings(("gfx950",), Path("/a b"), True)):
        assert settings.read(root / "hsa", given.environment()) == given


def test_the_order_of_archs_does_not_matter(root: Path) -> None:
    assert settings.read(root / "hsa", {}, {"arch": ["gfx950", "gfx942"]}) == Settings(BOTH)


@pytest.mark.parametrize(
    "config", [{"arch": "gfx90a"}, {"colour": "red"}, {"allow-unproven": "maybe"}, {"arch": 942}, {"--build-option": "x"}]
)
def test_an_unknown_or_impossible_setting_is_an_error(root: Path, config: dict[str, object]) -> None:
    with pytest.raises(SettingInvalid) as caught:
        settings.read(root / "hsa", {}, config)
    assert caught.value.exit_code == 2


def test_only_the_default_clean_build_has_a_public_version(root: Path) -> None:
    label = lock.digest(root / "hsa", BOTH)[:12]
    single = lock.digest(root / "hsa", ("gfx942",))[:12]
    assert release.version(root, Settings(BOTH)) == "1.2.3"
    assert release.version(root, Settings(("gfx942",))) == "1.2.3+gfx942"
    assert release.version(root, Settings(BOTH, Path("/x"))) == f"1.2.3+aiter.{label}"
    assert release.version(root, Settings(BOTH, None, True)) == "1.2.3+unproven"
    assert release.version(root, Settings(("gfx942",), Path("/x"), True)) == f"1.2.3+gfx942.aiter.{single}.unproven"
    (root / "new").write_text("", encoding="utf-8")
    assert release.version(root, Settings(BOTH)) == "1.2.3+dirty"
    assert release.version(root, Settings(("gfx942",), Path("/x"), True)) == f"1.2.3+gfx942.aiter.{single}.unproven.dirty"


def test_a_lock_of_another_wheel_is_labelled_though_no_source_was_given(root: Path) -> None:
    aiter_source.locks(root / "hsa", provider=Provider("amd-aiter", "2", "wheel", "cd" * 32))
    commit(root)
    assert release.version(root, Settings(BOTH)) == f"1.2.3+aiter.{lock.digest(root / 'hsa', BOTH)[:12]}"


def test_a_source_distribution_carries_whether_its_tree_was_clean(root: Path) -> None:
    (root / ".git").rename(root.parent / "elsewhere")
    assert release.is_dirty(root)
    for version, dirty in (("1.2.3", False), ("1.2.3+dirty", True), ("1.2.3+gfx942.dirty", True), ("1.2.3+aiter.0123456789ab", False)):
        (root / "PKG-INFO").write_text(f"Metadata-Version: 2.4\nName: x\nVersion: {version}\n", encoding="utf-8")
        assert release.is_dirty(root) is dirty
    (root / "PKG-INFO").write_text("no version\n", encoding="utf-8")
    assert release.is_dirty(root)


def test_git_variables_of_a_hook_do_not_decide_which_tree_is_asked(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert not release.is_dirty(root)


@pytest.mark.parametrize(
    "text", ["version = 1\n", 'version = "1"\n', "", 'version = "1"\nsource_date = 2026-11-30T00:00:00\naiter_sha256 = "x"\n']
)
def test_a_malformed_release_file_is_an_error(root: Path, text: str) -> None:
    (root / "release.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        release.read(root)


def test_the_date_is_the_same_number_in_every_time_zone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = release.read(root)
    assert found.epoch == 1795996800
    assert found.source_date_text == "2026-11-30T00:00:00Z"
