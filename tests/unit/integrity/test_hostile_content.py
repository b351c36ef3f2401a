"""Content of any form gives findings, never another error: wheels from anywhere may be checked."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiter_mla_aot.integrity import verify_installed, verify_wheel
from build_tools.errors import WheelNotComparable
from build_tools.wheels.diff import diff
from tests.synthetic_wheel import Wheel, record_of

JUNK: tuple[Any, ...] = (None, True, -1, 0, 3.5, 10**30, "", "../x", "x" * 10, "\ud800", [], {}, [1], {"a": 1}, [[]], [None])
DEEP = b"[" * 200_000


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of every value inside a JSON value; of long lists only the first few."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value[:6]) if isinstance(value, list) else ()
    for key, child in items:
        found += places(child, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    result = copy.deepcopy(value)
    target = result
    for key in path[:-1]:
        target = target[key]
    if path:
        target[path[-1]] = copy.deepcopy(junk)
        return result
    return junk


def check(wheel: Wheel, tmp_path: Path, contents: dict[str, bytes] | None = None) -> None:
    path = wheel.write(tmp_path, contents)
    verify_wheel(path).to_json()
    with contextlib.suppress(WheelNotComparable):
        diff(path, path)


def test_every_value_of_a_table_may_be_junk(tmp_path: Path) -> None:
    generator = random.Random(1)
    good = Wheel().tables["gfx942"]
    for path in places(good):
        wheel = Wheel()
        wheel.tables["gfx942"] = put(good, path, generator.choice(JUNK))
        check(wheel, tmp_path)


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_every_value_of_the_build_record_may_be_junk(tmp_path: Path, junk: Any) -> None:
    good = Wheel().build_info
    for path in places(good):
        wheel = Wheel()
        wheel.build_info = put(good, path, junk)
        report = verify_wheel(wheel.write(tmp_path))
        free_text = path in {("provider", "version"), ("provider", "sha256")} and isinstance(junk, str)
        assert not report.ok or free_text
        check(wheel, tmp_path)


BYTES: tuple[bytes, ...] = (
    b"",
    b"\xff\xfe\x00",
    DEEP,
    b'{"a":' * 100_000,
    b"Name: \xff\xfe\nVersion: \xc3\xbc\n",
    b"Name:\nVersion:\n",
    b'"unclosed',
    b"a,b\nc,d,e,f\n",
    b"1" * 5000,
    b"\n" * 1000,
    b"\0" * 100,
)


@pytest.mark.parametrize("data", BYTES, ids=lambda data: repr(data[:12]))
@pytest.mark.parametrize(
    "name", ["tables/gfx942.json", "build_info.json", "_native.abi3.so", "METADATA", "WHEEL", "RECORD", "kernels/gfx942/mla_alpha.co"]
)
def test_every_file_may_be_junk(tmp_path: Path, name: str, data: bytes) -> None:
    wheel = Wheel()
    contents = wheel.contents()
    path = f"{wheel.dist_info}/{name}" if name.isupper() else f"aiter_mla_aot/{name}"
    assert path in contents
    contents[path] = data
    record = f"{wheel.dist_info}/RECORD"
    if path != record:
        contents[record] = record_of({key: value for key, value in contents.items() if key != record}, record)
    report = verify_wheel(wheel.write(tmp_path, contents))
    assert not report.ok
    assert str(report.error())
    check(wheel, tmp_path, contents)
    for key, value in contents.items():
        (tmp_path / "site" / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / key).write_bytes(value)
    # Of an installed package nothing reads WHEEL any more.
    assert verify_installed(tmp_path / "site" / "aiter_mla_aot").ok == (name == "WHEEL")


def escape(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["kernels"][0]["file"] = "../../../secret.co"


def absolute(wheel: Wheel) -> None:
    wheel.tables["gfx942"]["kernels"][0]["file"] = "/etc/passwd"


@pytest.mark.parametrize("change", [escape, absolute])
def test_a_table_that_names_a_file_elsewhere_reads_nothing_there(tmp_path: Path, change: Callable[[Wheel], None]) -> None:
    wheel = Wheel()
    change(wheel)
    package = wheel.install(tmp_path / "a" / "b" / "site")
    (tmp_path / "secret.co").write_bytes(b"secret")
    assert "MLA206" in [item.code for item in verify_installed(package).findings]


def test_a_record_that_names_a_file_far_away_reads_no_device(tmp_path: Path) -> None:
    wheel = Wheel()
    package = wheel.install(tmp_path / "site")
    with (package.parent / wheel.dist_info / "RECORD").open("a") as record:
        record.write("/dev/zero,sha256=x,1\n../../../../../../../../dev/zero,sha256=x,1\nbad\0name,sha256=x,1\n")
    found = [item for item in verify_installed(package).findings if "zero" in item.path or "name" in item.path]
    assert len(found) == 3


def test_what_files_say_cannot_steer_a_terminal(tmp_path: Path) -> None:
    wheel = Wheel()
    wheel.build_info["version"] = "0.1.0\x1b[31m"
    wheel.metadata = wheel.metadata.replace("Version: 0.1.0", "Version: 0.1.0\x1b[2J")
    contents = wheel.contents()
    contents[f"{wheel.dist_info}/RECORD"] += b"gone\x1b[2J,sha256=x,1\n"
    report = verify_wheel(wheel.write(tmp_path, contents))
    assert len(report.findings) >= 3
    assert "\x1b" not in str(report.error()) + report.version
    assert "gone\\x1b[2J" in [item.path for item in report.findings]
    json.dumps(report.to_json()).encode("ascii")
