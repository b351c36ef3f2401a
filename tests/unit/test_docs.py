"""The pages agree with the code: error codes, commands and links."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import pkgutil
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import aiter_mla_aot
import build_tools
from aiter_mla_aot import cli, rules
from aiter_mla_aot.dispatch import REFUSAL_TEXT
from aiter_mla_aot.errors import MlaError
from aiter_mla_aot.problem import FIELDS, REQUIRED
from build_tools import settings
from build_tools.code_object import targets
from build_tools.data import catalog, hardware
from build_tools.providers import lock

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")


def error_classes() -> list[type[MlaError]]:
    """Every error of the package and of the build, after importing all their modules."""
    for package in (aiter_mla_aot, build_tools):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            # The emulator is a library for HIP calls, not a module, though its name ends like one.
            if not module.name.endswith(("__main__", "libaiter_mla_emulator")):
                importlib.import_module(module.name)

    def below(cls: type[MlaError]) -> Iterator[type[MlaError]]:
        for child in cls.__subclasses__():
            yield child
            yield from below(child)

    return sorted(
        {cls for cls in below(MlaError) if cls.__module__.partition(".")[0] in {"aiter_mla_aot", "build_tools"}},
        key=lambda cls: cls.code,
    )


def row(cls: type[MlaError]) -> str:
    """The row of an error in docs/errors.md: made from the class, so that the page cannot say something else."""
    meaning = (cls.__doc__ or "").strip().partition("\n\n")[0]
    return f"| `{cls.code}` | `{cls.__name__}` | {cls.exit_code} | {' '.join(meaning.replace('``', '`').split())} |"


def commands(page: Path) -> list[list[str]]:
    """The commands in the page's shell blocks, as words; a comment and what is piped or chained after is left off."""
    found = []
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"\s(?:&&|\||>)\s", line.removeprefix("$ ")):
                if part.startswith(("aiter-mla-aot ", "python3 -m build_tools ")):
                    found.append(shlex.split(part, comments=True))
    return found


def _parser_of(package: str, command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"{package}.{command.replace('-', '_')}").add_parser(parser.add_subparsers(required=True))
    return parser


def test_every_error_has_a_code_of_its_own() -> None:
    classes = error_classes()
    assert {code: n for code, n in Counter(cls.code for cls in classes).items() if n > 1} == {}
    assert all(re.fullmatch(r"MLA[1-9]\d\d", cls.code) for cls in classes)


def test_run_time_and_build_errors_keep_to_their_ranges_of_codes() -> None:
    for cls in error_classes():
        assert cls.code.startswith("MLA5") == cls.__module__.startswith("build_tools"), cls
        assert 1 <= cls.exit_code < 126, cls


def test_the_page_of_errors_lists_every_error_and_no_other() -> None:
    lines = (ROOT / "docs/errors.md").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line.startswith("| `MLA")]
    assert listed == [row(cls) for cls in error_classes()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_a_page_exist(page: Path) -> None:
    for words in commands(page):
        if words[0] == "aiter-mla-aot":
            _parser_of("aiter_mla_aot.cli", words[1]).parse_args(words[1:])
        else:
            _parser_of("build_tools.commands", words[3]).parse_args(words[3:])


def test_the_readme_shows_both_build_commands_and_both_public_reports() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ["python3", "-m", "build_tools", "wheel"] in commands(ROOT / "README.md")
    assert ["python3", "-m", "build_tools", "test"] in commands(ROOT / "README.md")
    assert "ROCm/aiter#4363" in text
    assert "ROCm/aiter#4752" in text


def test_the_page_of_commands_lists_every_field_of_a_problem_with_its_default() -> None:
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    for field, default in FIELDS.items():
        shown = "required" if field in REQUIRED else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        assert re.search(rf"^\| `{field}` \|.*\| {re.escape(shown)} \|$", text, flags=re.MULTILINE), field


@pytest.mark.parametrize(
    "record",
    [
        catalog.KernelRow,
        rules.Claim,
        rules.Fold,
        rules.Gate,
        catalog.Precondition,
        catalog.Report,
        hardware.HardwareResult,
        lock.LockedObject,
        targets.Device,
    ],
    ids=lambda record: record.__name__,
)
def test_the_page_of_data_lists_every_field_of_a_row(record: type[DataclassInstance]) -> None:
    text = (ROOT / "docs/data.md").read_text(encoding="utf-8")
    tables = [re.findall(r"^\| `(\w+)` \|", block, flags=re.MULTILINE) for block in text.split("\n\n")]
    names = [field.name for field in dataclasses.fields(record)]
    assert any(sorted(table) == sorted(names) for table in tables), names


def test_the_page_of_commands_lists_every_refusal_code_with_its_text() -> None:
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    section = text.partition("## Refusal codes")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, flags=re.MULTILINE)) == REFUSAL_TEXT


def test_the_page_of_commands_names_every_command() -> None:
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+)` \|", text.partition("## Exit codes")[0], flags=re.MULTILINE)) == set(cli.COMMANDS)


def test_the_page_of_building_names_every_setting_and_variable() -> None:
    text = (ROOT / "docs/building.md").read_text(encoding="utf-8")
    for setting, variable in settings.VARIABLES.items():
        assert f"`{setting}=" in text
        assert f"`{variable}`" in text


def test_the_page_of_data_lists_every_file_of_an_arch() -> None:
    listed = re.findall(r"^\| `(\w+\.toml)` \|", (ROOT / "docs/data.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for folder in (ROOT / "hsa").iterdir():
        # Where no device gave a result there is no file of results.
        assert set(listed) == {hardware.NAME, *(path.name for path in folder.iterdir() if path.is_file())}, folder.name
        assert [f"{path.name}/" for path in folder.iterdir() if path.is_dir()] == ["evidence/"]
