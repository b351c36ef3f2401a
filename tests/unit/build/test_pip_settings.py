"""A user's pip settings say where packages come from, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from build_tools.environment import pip_settings
from build_tools.errors import BootstrapFailed


def environment(tmp_path: Path, config: str, variables: dict[str, str]) -> dict[str, str]:
    (tmp_path / "pip.conf").write_text(config, encoding="utf-8")
    base = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    base |= {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")} | variables
    return pip_settings.environment(sys.executable, base=base)


def test_where_packages_come_from_is_kept_from_files_and_variables(tmp_path: Path) -> None:
    config = "[global]\nindex-url = https://file.example/simple\nproxy = http://proxy.example:3128\n"
    config += "[install]\ntrusted-host =\n  a.example\n  b.example\n"
    found = environment(tmp_path, config, {"PIP_INDEX_URL": "https://variable.example/simple", "PIP_FIND_LINKS": "/wheels"})
    assert found["PIP_INDEX_URL"] == "https://variable.example/simple"
    assert found["PIP_PROXY"] == "http://proxy.example:3128"
    assert found["PIP_TRUSTED_HOST"].split() == ["a.example", "b.example"]
    assert found["PIP_FIND_LINKS"] == "/wheels"


def test_what_is_installed_is_not_the_users_to_change(tmp_path: Path) -> None:
    config = "[global]\nrequire-hashes = false\nconstraint = /tmp/constraints.txt\n[install]\ntarget = /elsewhere\nuser = true\n"
    variables = {"PIP_REQUIRE_HASHES": "0", "PIP_PREFIX": "/usr", "PIP_REQUIREMENT": "more.txt", "PIP_PRE": "1", "PIP_NO_BINARY": ":all:"}
    found = environment(tmp_path, config, variables | {"PYTHONPATH": "/evil", "PYTHONUSERBASE": "/user"})
    assert found["PIP_CONFIG_FILE"] == os.devnull
    assert found["PYTHONNOUSERSITE"] == "1"
    allowed = {"PIP_" + name.upper().replace("-", "_") for name in pip_settings.KEPT}
    assert {name for name in found if name.startswith("PIP_")} <= allowed | {
        "PIP_CONFIG_FILE",
        "PIP_DISABLE_PIP_VERSION_CHECK",
        "PIP_NO_INPUT",
    }
    assert "PYTHONPATH" not in found
    assert "PYTHONUSERBASE" not in found


def test_a_broken_configuration_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(BootstrapFailed, match="configuration"):
        environment(tmp_path, "no section\n", {})


def test_lines_that_are_no_setting_are_passed_over() -> None:
    listing = (
        "global.index-url='a'\n:env:.index-url='b'\ninstall.index-url='c'\nfreeze.index-url='d'\nnonsense\nglobal.cert=not a literal\n"
    )
    assert pip_settings.kept_settings(listing) == {"index-url": "b"}
