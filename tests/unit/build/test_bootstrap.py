"""The private environment: made once, repaired, never shared by accident, and typed errors for what goes wrong.

pip and venv are replaced: the real thing is what runs these tests.
"""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
import tomllib

from build_tools.environment import bootstrap, pip_run, pip_settings
from build_tools.errors import BootstrapFailed, DiskFull, DownloadHashMismatch, NetworkUnavailable, NotWritable, VenvModuleMissing

ROOT = Path(__file__).resolve().parents[3]
PIP = "pip==26.3 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n    # via x\n"
LOCK = f"ninja==1 \\\n    --hash=sha256:aa\n{PIP}wheel==2 \\\n    --hash=sha256:dd\n"


class Pip:
    """Stands for pip: notes what it is asked for, and fails when told to."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.files: list[str] = []
        self.fail_at = -1

    def __call__(self, python: str, arguments: list[str], environment: Mapping[str, str], report: object) -> None:
        assert Path(python).exists()
        self.calls.append(arguments)
        path = Path(arguments[arguments.index("-r") + 1])
        self.files.append(path.read_text(encoding="utf-8"))
        if len(self.calls) == self.fail_at:
            raise NetworkUnavailable("pip install failed")


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    fake = Pip()
    monkeypatch.setattr(bootstrap, "run_pip", fake)
    monkeypatch.setattr(pip_settings, "environment", lambda *_, **__: {})
    monkeypatch.setattr(bootstrap, "_create_venv", create_venv)
    return fake


def create_venv(env: Path, report: bootstrap.Report) -> None:
    (env / "bin").mkdir(parents=True, exist_ok=True)
    (env / "bin" / "python").write_text("", encoding="utf-8")
    report("created")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "a tree with spaces"
    (folder / "requirements").mkdir(parents=True)
    for name, text in (("build.txt", LOCK), ("test.txt", LOCK), ("torch.txt", "torch==2.13.0\n")):
        (folder / "requirements" / name).write_text(text, encoding="utf-8")
    return folder


def silent(_: str) -> None:
    pass


def test_the_pinned_pip_is_installed_first_and_everything_but_torch_under_hashes(root: Path, pip: Pip) -> None:
    assert bootstrap.ensure(root, "test", silent) == root / ".env" / "bin" / "python"
    assert pip.files[0] == PIP
    assert pip.files[1:] == [LOCK, LOCK, "torch==2.13.0\n"]
    assert ["--require-hashes" in call for call in pip.calls] == [True, True, True, False]
    assert all("--only-binary=:all:" in call for call in pip.calls)


def test_a_second_call_does_nothing(root: Path, pip: Pip) -> None:
    bootstrap.ensure(root, "test", silent)
    count = len(pip.calls)
    bootstrap.ensure(root, "test", silent)
    bootstrap.ensure(root, "build", silent)
    assert len(pip.calls) == count


def test_the_test_set_goes_on_top_of_the_build_set(root: Path, pip: Pip) -> None:
    bootstrap.ensure(root, "build", silent)
    assert len(pip.calls) == 2
    bootstrap.ensure(root, "test", silent)
    assert len(pip.calls) == 4


@pytest.mark.parametrize("name", ["build.txt", "test.txt", "torch.txt"])
def test_a_changed_lock_makes_the_environment_anew(root: Path, pip: Pip, name: str) -> None:
    bootstrap.ensure(root, "test", silent)
    (root / ".env" / "left over").write_text("", encoding="utf-8")
    path = root / "requirements" / name
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    bootstrap.ensure(root, "test", silent)
    assert len(pip.calls) == 8
    assert not (root / ".env" / "left over").exists()


def test_a_tree_that_was_moved_makes_its_environment_anew(root: Path, pip: Pip) -> None:
    bootstrap.ensure(root, "build", silent)
    moved = root.rename(root.parent / "moved")
    bootstrap.ensure(moved, "build", silent)
    assert len(pip.calls) == 4


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_an_interrupted_creation_is_seen_and_redone(root: Path, pip: Pip, step: int) -> None:
    pip.fail_at = step
    with pytest.raises(NetworkUnavailable):
        bootstrap.ensure(root, "test", silent)
    lines: list[str] = []
    bootstrap.ensure(root, "test", lines.append)
    assert "removing an outdated or interrupted environment" in lines
    assert len(pip.calls) == step + 4


def test_a_marker_without_an_interpreter_is_not_believed(root: Path, pip: Pip) -> None:
    bootstrap.ensure(root, "build", silent)
    (root / ".env" / "bin" / "python").unlink()
    bootstrap.ensure(root, "build", silent)
    assert len(pip.calls) == 4


def test_a_damaged_marker_is_not_believed(root: Path, pip: Pip) -> None:
    bootstrap.ensure(root, "build", silent)
    (root / ".env" / "build.json").write_text("[", encoding="utf-8")
    bootstrap.ensure(root, "build", silent)
    assert len(pip.calls) == 4


def test_a_second_process_waits_for_the_first(root: Path, pip: Pip) -> None:
    (root / ".env").mkdir()
    waiting = threading.Event()
    with (root / ".env" / "lock").open("w", encoding="utf-8") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        thread = threading.Thread(target=bootstrap.ensure, args=(root, "build", lambda line: waiting.set() if "waiting" in line else None))
        thread.start()
        assert waiting.wait(30)
        assert pip.calls == []
        fcntl.flock(first, fcntl.LOCK_UN)
    thread.join(30)
    assert len(pip.calls) == 2


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_an_interpreter_without_venv_names_the_debian_package(root: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else real(name))
    with pytest.raises(VenvModuleMissing, match="no virtual environment") as caught:
        bootstrap.ensure(root, "build", silent)
    assert f"python{sys.version_info[0]}.{sys.version_info[1]}-venv" in caught.value.remedy


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EROFS, NotWritable), (errno.EACCES, NotWritable)],
)
def test_what_the_file_system_refuses_is_a_typed_error(tmp_path: Path, number: int, kind: type[BootstrapFailed]) -> None:
    with pytest.raises(kind), pip_run.report_os_errors(tmp_path):
        raise OSError(number, os.strerror(number))
    with pytest.raises(BlockingIOError), pip_run.report_os_errors(tmp_path):
        raise OSError(errno.EAGAIN, "not ours")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", DownloadHashMismatch),
        (
            "WARNING: Retrying ... NewConnectionError('... [Errno 111] Connection refused')\nERROR: No matching distribution",
            NetworkUnavailable,
        ),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", DiskFull),
        ("ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system", NotWritable),
        ("ERROR: No matching distribution found for ninja==9", BootstrapFailed),
    ],
)
def test_what_pip_prints_decides_the_error(text: str, kind: type[BootstrapFailed]) -> None:
    error = pip_run.failure("install", text)
    assert type(error) is kind
    assert text.splitlines()[-1] in error.cause


def test_an_old_python_is_told_so_before_anything_is_imported() -> None:
    code = "import sys; sys.version_info = (3, 9, 0); import runpy; runpy.run_module('build_tools', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 17
    assert done.stderr.startswith("MLA561: Python 3.9 cannot run build_tools")
    assert "remedy" in done.stderr


def test_the_build_requirements_are_the_locked_versions() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    asked = [
        line for line in (ROOT / "requirements/build.in").read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")
    ]
    assert sorted(required) == sorted(asked)
    lock = (ROOT / "requirements/build.txt").read_text(encoding="utf-8")
    for item in required:
        assert f"\n{item} \\\n" in lock, item


@pytest.mark.parametrize("name", ["build.txt", "test.txt"])
def test_every_locked_package_has_a_hash_and_one_version(name: str) -> None:
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    pins = [(number, line) for number, line in enumerate(lines) if line and not line.startswith((" ", "#"))]
    assert pins
    assert not [line for number, line in pins if "==" not in line or "--hash=sha256:" not in lines[number + 1]]


def test_both_locks_agree_on_every_package_of_the_build() -> None:
    def pins(name: str) -> dict[str, str]:
        lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
        found = [line.split(" ")[0].partition("==") for line in lines if "==" in line and not line.startswith((" ", "#"))]
        return {package: version for package, _, version in found}

    build, test = pins("build.txt"), pins("test.txt")
    assert {package: test[package] for package in build} == build
