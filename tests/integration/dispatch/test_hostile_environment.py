"""Damaged files, closed and full streams: typed errors and exit codes, never a traceback and never a wrong answer."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aiter_mla_aot

PACKAGE = Path(aiter_mla_aot.__file__).parent
EXPLAIN = ("explain", "--arch", "gfx942", "--heads", "16", "--q-dtype", "fp8", "--kv-dtype", "fp8", "--q-len", "1", "--page-size", "1")
LINE = '{"arch": "gfx942", "mode": "split", "q_dtype": "fp8", "kv_dtype": "fp8", "heads": 16, "q_len": 1, "page_size": 1}\n'
ASKING = (EXPLAIN, ("coverage",), ("kernels",))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package that a test may damage."""
    shutil.copytree(PACKAGE, tmp_path / "aiter_mla_aot", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "aiter_mla_aot"


def run(package: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-B", "-m", "aiter_mla_aot", *arguments]
    environment = os.environ | {"PYTHONPATH": str(package.parent)} | options.pop("env", {})
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60, **options)


def rewrite(package: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a table, and the index so that it fits: what a hash alone does not find."""
    table, index = package / "tables/gfx942.json", package / "tables/index.json"
    data, hashes = json.loads(table.read_bytes()), json.loads(index.read_bytes())
    change(data)
    table.write_text(json.dumps(data), encoding="utf-8")
    hashes["tables"]["gfx942"] = hashlib.sha256(table.read_bytes()).hexdigest()
    index.write_text(json.dumps(hashes), encoding="utf-8")


def put_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "a table is missing": lambda p: (p / "tables/gfx942.json").unlink(),
    "all tables are missing": lambda p: shutil.rmtree(p / "tables"),
    "a byte of a table differs": lambda p: (p / "tables/gfx942.json").write_bytes(
        (p / "tables/gfx942.json").read_bytes().replace(b"16", b"17", 1)
    ),
    "a table is nested without end": lambda p: (p / "tables/gfx942.json").write_text("[" * 200_000),
    "a FIFO lies in a table's place": lambda p: put_fifo(p / "tables/gfx942.json"),
    "the index is nested without end": lambda p: (p / "tables/index.json").write_text("[" * 200_000),
    "the index is no object": lambda p: (p / "tables/index.json").write_text("3"),
    "the index names no table": lambda p: (p / "tables/index.json").write_text('{"schema": 1, "tables": {}}'),
    "a table of another schema": lambda p: rewrite(p, lambda data: data.update(schema=2)),
    "a table without kernels": lambda p: rewrite(p, lambda data: data.pop("kernels")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_tables_are_an_error_of_the_package(copy: Path, damage: str) -> None:
    DAMAGE[damage](copy)
    for arguments in ASKING:
        done = run(copy, *arguments, "--json")
        assert done.returncode == 4, done.stdout
        assert json.loads(done.stdout)["error"]["code"] in ("MLA201", "MLA202")
        assert done.stderr == ""


@pytest.mark.parametrize("content", ["[" * 200_000, "3", '{"schema": 1, "version": "1", "archs": 3}'])
def test_a_damaged_build_record_is_an_error_of_the_package(copy: Path, content: str) -> None:
    (copy / "build_info.json").write_text(content)
    done = run(copy, "--version")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("MLA202")
    assert run(copy, "doctor").returncode == 4


@pytest.mark.parametrize("change", [lambda data: data["plans"][0].update(single=True), lambda data: data.update(gates=[])])
def test_a_changed_table_does_not_fit_the_extension(copy: Path, change: Callable[[dict[str, Any]], None]) -> None:
    rewrite(copy, change)
    done = run(copy, "verify", "--json")
    assert done.returncode == 4
    assert any("another table" in finding["text"] for finding in json.loads(done.stdout)["findings"])


@pytest.mark.parametrize("arguments", [*ASKING, ("doctor",)])
def test_an_answer_that_cannot_be_written_is_an_error(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-P", "-m", "aiter_mla_aot", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 6
    assert done.stderr.startswith("MLA103")
    assert "Traceback" not in done.stderr


def test_closed_standard_output_is_an_error() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -P -m aiter_mla_aot kernels >&-', sys.executable], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[0]) == (6, "MLA103: the answer cannot be written")


def test_closed_standard_input_is_an_error() -> None:
    command = ["/bin/sh", "-c", '"$0" -P -m aiter_mla_aot resolve --batch - <&-', sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "MLA101: standard input cannot be read")


def test_standard_input_is_read_as_a_file_is() -> None:
    command = [sys.executable, "-P", "-m", "aiter_mla_aot", "resolve", "--batch", "-", "--json"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii:strict"}
    done = subprocess.run(command, input=b"\xff\n" + LINE.encode(), stdout=subprocess.PIPE, env=environment, check=False)
    assert [json.loads(line)["outcome"] for line in done.stdout.splitlines()] == ["error", "served"]


def test_a_field_given_twice_is_an_error() -> None:
    command = [sys.executable, "-P", "-m", "aiter_mla_aot", "resolve", "--batch", "-", "--json"]
    done = subprocess.run(command, input=LINE.replace("}", ', "heads": 17}'), stdout=subprocess.PIPE, text=True, check=False)
    assert json.loads(done.stdout)["error"]["fact"] == "a field is given twice"


@pytest.mark.parametrize("text", ["1_6", "٣", "0x10", "1" * 40, ""])
def test_only_plain_integers_are_integers(text: str) -> None:
    assert run(PACKAGE, *EXPLAIN, "--heads", text).returncode == 2


def test_special_files_are_no_wheels(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.whl")
    for path in (tmp_path / "pipe.whl", Path("/dev/zero")):
        assert run(PACKAGE, "verify", str(path)).returncode == 4
    assert run(PACKAGE, "verify", str(tmp_path / "none.whl")).returncode == 2
