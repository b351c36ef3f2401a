"""Every way to build gives the same bytes: pip, build, a source distribution, with and without isolation."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from build_tools.build_graph import parts
from build_tools.providers import lock

ROOT = Path(__file__).resolve().parents[3]


def run(tree: Path, *command: str, umask: int = 0o022) -> None:
    steering = ("AITER_MLA_AOT_", "PYTHON", "SOURCE_DATE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering) or name == parts.VARIABLE}
    # A command of its own session of settings: another umask, language and zone than the tree was built with.
    environment = kept | {"TZ": "Asia/Tokyo", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False, umask=umask)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def pip_wheel(tree: Path, out: Path, *arguments: str, umask: int = 0o022) -> Path:
    run(tree, sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), *arguments, umask=umask)
    (path,) = out.glob("*.whl")
    return path


def test_pip_and_build_and_the_source_distribution_give_the_same_wheel(
    built_wheel: Path, make_tree: Callable[[str], Path], tmp_path: Path
) -> None:
    assert built_wheel.is_file()
    tree = make_tree("a tree")
    reference = pip_wheel(tree, tmp_path / "plain", "--no-build-isolation", ".")
    assert reference.name == "aiter_mla_aot-0.1.0-cp310-abi3-manylinux_2_28_x86_64.whl"

    run(tree, sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "both"), ".", umask=0o077)
    (from_sdist,) = (tmp_path / "both").glob("*.whl")
    (sdist,) = (tmp_path / "both").glob("*.tar.gz")
    assert from_sdist.read_bytes() == reference.read_bytes()

    isolated = pip_wheel(tmp_path, tmp_path / "isolated", str(sdist), umask=0o077)
    assert isolated.read_bytes() == reference.read_bytes()

    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"PKG-INFO", "release.toml", "setup.py", "hsa/gfx942/lock.toml", "csrc/dispatch/lookup.cpp", "requirements/build.txt"} <= names
    assert {"csrc/emulator/isa/opcodes.def", "csrc/emulator/exec/mubuf.cpp", "csrc/emulator/machine/wave.hpp"} <= names
    assert {"build_tools/backend.py", "tests/unit/build/test_lock.py", "LICENSE", "NOTICE"} <= names
    assert not [name for name in names if name.endswith((".co", ".so", ".whl", ".pyc"))]
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_a_wheel_of_one_arch_holds_nothing_of_the_other(built_wheel: Path, make_tree: Callable[[str], Path], tmp_path: Path) -> None:
    assert built_wheel.is_file()
    tree = make_tree("tree")
    arguments = ("--no-build-isolation", "--config-settings", "arch=gfx942", ".")
    path = pip_wheel(tree, tmp_path / "single", *arguments)
    assert path.name == "aiter_mla_aot-0.1.0+gfx942-cp310-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path) as archive:
        assert [name for name in archive.namelist() if "gfx950" in name] == []
        extension = archive.read("aiter_mla_aot/_native.abi3.so")
        inventory = archive.read("aiter_mla_aot-0.1.0+gfx942.dist-info/sboms/aiter_mla_aot.cdx.json")
    others = lock.read(tree / "hsa", "gfx950").objects
    assert [item.file for item in others if bytes.fromhex(item.sha256) in extension] == []
    assert b"gfx950" not in inventory


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--config-settings", "arch=gfx90a"), "MLA569"),
        (("--config-settings", "colour=red"), "MLA569"),
        (("--config-settings", "aiter-source=/nowhere"), "MLA541"),
    ],
)
def test_a_bad_setting_reaches_the_user_of_pip_as_a_plain_error(
    make_tree: Callable[[str], Path], tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    tree = make_tree("tree")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(tmp_path / "out"),
        *arguments,
        ".",
    ]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"{expected}: " in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
