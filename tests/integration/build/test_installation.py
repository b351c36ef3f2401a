"""The wheel installed: beside a ROCm build of torch, read-only, without torch, and without starting or writing anything."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from email.parser import BytesParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from build_tools import settings
from build_tools.wheels import smoke
from build_tools.wheels.smoke import Installation

ROOT = Path(__file__).resolve().parents[3]
ASK = ["explain", "--arch", "gfx942", *smoke.REQUEST, "--json"]


def test_the_trial_installation_answers_every_command(built_wheel: Path, tmp_path: Path) -> None:
    archs = settings.known_archs(ROOT / "hsa")
    answers = smoke.smoke(built_wheel, archs, tmp_path, lambda _: None)
    assert len(answers) == 2 * len(archs) + 5
    assert not list(tmp_path.iterdir())


def test_the_package_works_without_torch_and_says_what_it_is(installed: Installation) -> None:
    code = "import importlib.util, sys, aiter_mla_aot as package; "
    code += "print(importlib.util.find_spec('torch'), package.__file__.startswith(sys.prefix))"
    done = subprocess.run([str(installed.python), "-I", "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.split() == ["None", "True"]


def test_the_command_is_installed_under_its_name(installed: Installation) -> None:
    done = subprocess.run([str(installed.command), *ASK], env=installed.environment(), capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    assert '"outcome"' in done.stdout


def test_installing_beside_a_rocm_torch_leaves_it_untouched(built_wheel: Path, tmp_path: Path) -> None:
    env = tmp_path / "env"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(env)], check=True)
    (site,) = env.glob("lib/python3.*/site-packages")
    info = site / "torch-2.9.1+rocm7.1.dist-info"
    for path, text in (
        (site / "torch" / "__init__.py", '__version__ = "2.9.1+rocm7.1"\n'),
        (info / "METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1+rocm7.1\n"),
        (info / "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        (info / "RECORD", "torch/__init__.py,,\n"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def torch() -> dict[str, str]:
        files = [path for folder in (site / "torch", info) for path in folder.rglob("*") if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = torch()
    command = [sys.executable, "-m", "pip", "--python", str(env / "bin/python"), "install", "--quiet", "--no-index"]
    subprocess.run([*command, "--upgrade", "--upgrade-strategy", "eager", str(built_wheel)], check=True)
    assert torch() == before
    assert (site / "aiter_mla_aot" / "_native.abi3.so").is_file()
    with ZipFile(built_wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        assert BytesParser().parsebytes(archive.read(name)).get_all("Requires-Dist") is None


@pytest.mark.strace
@pytest.mark.parametrize("arguments", [ASK, ["verify", "--json"], ["doctor", "--json"]], ids=["explain", "verify", "doctor"])
def test_a_command_starts_no_process_and_writes_no_file(installed: Installation, tmp_path: Path, arguments: list[str]) -> None:
    log = tmp_path / "calls"
    calls = (
        "execve,execveat,fork,vfork,clone,clone3,open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,connect"
    )
    command = [
        "/usr/bin/env",
        "strace",
        "-f",
        "-qq",
        "-o",
        str(log),
        "-e",
        f"trace={calls}",
        str(installed.python),
        "-I",
        # Root writes where write permission was taken away; the cache of byte code is Python's, not the package's.
        "-B",
        "-m",
        "aiter_mla_aot",
    ]
    environment = installed.environment() | {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    lines = [re.sub(r"^\d+ +", "", line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert sum(line.startswith("execve(") for line in lines) == 1
    assert any(line.startswith("openat(") for line in lines)
    # glibc asks its name service cache, where there is one, for the home directory that this environment does not name.
    harmless = re.compile(r"connect\(.*/nscd/socket|execve\(|open(at)?\(.*O_RDONLY(?!.*O_CREAT)|openat\(.*O_PATH|\+\+\+|---")
    assert [line for line in lines if not harmless.match(line)] == []
