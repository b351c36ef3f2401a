"""Audits read a real library, and outside tools that are absent are named."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from build_tools.wheels import audits

LIBRARIES = ["aiter_mla_aot/_native.abi3.so", "aiter_mla_aot/emulator/libaiter_mla_emulator.so"]


def texts(data: bytes, path: str = LIBRARIES[0]) -> list[str]:
    return [item.text for item in audits.check_libraries({path: data})]


def foreign() -> bytes:
    """A library that links more than either of ours may."""
    spec = importlib.util.find_spec("_ctypes")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_bytes()


@pytest.mark.parametrize("path", LIBRARIES)
def test_a_library_that_links_more_than_it_may_is_found(path: str) -> None:
    assert "the library links other libraries" in texts(foreign(), path)


def test_a_library_that_is_none_of_the_package_is_found() -> None:
    assert texts(foreign(), "aiter_mla_aot/libhelper.so") == ["the wheel holds a library that is none of this package"]


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(57)])
def test_a_file_that_is_no_library_is_found(data: bytes) -> None:
    assert len(texts(data)) == 1


def test_a_wheel_without_libraries_is_left_to_the_integrity_check() -> None:
    assert audits.check_libraries({}) == []


def answer(monkeypatch: pytest.MonkeyPatch, code: int, output: str) -> None:
    def run(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, code, output if "auditwheel" in command else "", "")

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.parametrize(
    ("code", "output", "outcome"),
    [
        (0, '{"overall_tag": "manylinux_2_17_x86_64", "external_libs": {}}', "passed"),
        (0, '{"overall_tag": "manylinux_2_34_x86_64", "external_libs": {}}', "failed"),
        (0, '{"overall_tag": "linux_x86_64", "external_libs": {}}', "failed"),
        (0, '{"overall_tag": "manylinux_2_28_x86_64", "external_libs": {"manylinux_2_28_x86_64": {"libtorch.so": null}}}', "failed"),
        (0, "text", "failed"),
        (1, "", "failed"),
    ],
)
def test_the_answer_of_auditwheel_is_judged(monkeypatch: pytest.MonkeyPatch, code: int, output: str, outcome: str) -> None:
    answer(monkeypatch, code, output)
    outcomes, found = audits.run(Path("a.whl"))
    assert outcomes["auditwheel"] == outcome
    assert bool(found) == (outcome == "failed")


def test_a_tool_that_is_absent_is_not_run_and_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert audits.run(Path("a.whl")) == ({"auditwheel": "not run", "abi3audit": "not run"}, [])
