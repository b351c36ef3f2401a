"""What the repository may hold, and what its pages must say about the code beside them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).resolve().parents[2]
CODE_SUFFIXES = {".py", ".cpp", ".hpp", ".h", ".c", ".hip", ".sh"}
BINARY_SUFFIXES = {".co", ".so", ".o", ".a", ".hsaco", ".whl", ".gz", ".zip", ".pyc"}
MAX_BYTES = 400_000
MAX_LINES = 400
LONG_FILES = re.compile(r"csrc/emulator/.*decode.*")
"""Decoder tables: one row an opcode, better read as one list."""

MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:root|work|home/(?!someone/)\w+|Users/\w+)/")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def files() -> list[Path]:
    return tracked()


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_repository_holds_no_binary_file(files: list[Path]) -> None:
    assert [name(path) for path in files if path.suffix in BINARY_SUFFIXES or b"\0" in path.read_bytes()] == []


def test_every_file_is_utf8_with_unix_line_ends_and_a_final_newline(files: list[Path]) -> None:
    def regular(content: bytes) -> bool:
        content.decode("utf-8")
        return b"\r" not in content and (not content or content.endswith(b"\n"))

    assert [name(path) for path in files if not regular(path.read_bytes())] == []


def test_no_file_names_a_path_of_the_machine_it_was_written_on(files: list[Path]) -> None:
    assert [name(path) for path in files if MACHINE_PATH.search(path.read_text(encoding="utf-8"))] == []


def test_no_file_is_large(files: list[Path]) -> None:
    assert {name(path): path.stat().st_size for path in files if path.stat().st_size > MAX_BYTES} == {}


def test_no_code_file_is_long(files: list[Path]) -> None:
    code = [path for path in files if path.suffix in CODE_SUFFIXES and not LONG_FILES.fullmatch(name(path))]
    lengths = {name(path): path.read_text(encoding="utf-8").count("\n") for path in code}
    assert {path: lines for path, lines in lengths.items() if lines > MAX_LINES} == {}


def test_the_changelog_has_the_version_and_date_of_the_release() -> None:
    release = tomllib.loads((ROOT / "release.toml").read_text(encoding="utf-8"))
    heading = f"## [{release['version']}] - {release['source_date']:%Y-%m-%d}"
    assert heading in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()


def test_the_notice_names_the_source_that_the_locks_name() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for path in sorted((ROOT / "hsa").glob("*/lock.toml")):
        provider = tomllib.loads(path.read_text(encoding="utf-8"))["provider"]
        assert f"{provider['name']} {provider['version']}" in notice
        assert provider["sha256"] in notice


def test_the_wheel_configuration_asks_for_one_abi3_wheel_and_audits_it() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    assert settings["build"] == "cp310-manylinux_x86_64"
    assert settings["archs"] == ["x86_64"]
    assert settings["manylinux-x86_64-image"] == "manylinux_2_28"
    assert settings["audit-command"] == "abi3audit --strict --report {abi3_wheel}"
    assert "auditwheel repair" not in settings["repair-wheel-command"]


def test_the_hooks_use_the_locked_tools_only() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"- repo: (.+)", text) == ["local"]
    entries = re.findall(r"entry: (.+)", text)
    assert len(entries) == text.count("- id: ")
    assert all(entry.startswith(".env/bin/") for entry in entries)
    assert set(re.findall(r"language: (.+)", text)) == {"system"}
