"""The answers printed in the README are the ones that the command gives."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
SHOWN = re.findall(r"```console\n\$ aiter-mla-aot (.+)\n((?:.+\n)+)```", README.read_text(encoding="utf-8"))


def test_the_readme_shows_answers() -> None:
    assert len(SHOWN) >= 3


@pytest.mark.parametrize(("arguments", "expected"), SHOWN, ids=[arguments for arguments, _ in SHOWN])
def test_an_answer_of_the_readme_is_what_the_command_prints(arguments: str, expected: str) -> None:
    command = [sys.executable, "-P", "-m", "aiter_mla_aot", *shlex.split(arguments)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line for line in expected.splitlines() if line not in printed] == []
