"""The compiled extension: what it needs, what it exports, and that a build elsewhere gives the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from build_tools.build_graph.extension import SOURCE_DIR, SOURCES, compile_extension, headers
from build_tools.errors import ExtensionCompileFailed
from tests.integration.native.native_build import ZIG, build_extension
from tests.integration.native.sample_table import sample_header

OWN_EXPORTS = {"PyInit__native", "amla_abi_version", "amla_arch_number", "amla_struct_size", "amla_lookup", "amla_refusal_text"}


def test_it_needs_libc_and_libdl_only(extension: Path) -> None:
    with extension.open("rb") as stream:
        dynamic = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        needed = {str(vars(tag)["needed"]) for tag in dynamic.iter_tags("DT_NEEDED")}
    assert needed <= {"libc.so.6", "libdl.so.2"}


def test_it_exports_its_interfaces_and_asks_for_python_and_libc_only(extension: Path) -> None:
    with extension.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)
        symbols = [symbol for symbol in table.iter_symbols() if symbol.name]
        exported = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}
        wanted = {symbol.name for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF"}
    assert exported == OWN_EXPORTS
    assert not {name for name in wanted if name.startswith(("hip", "_Z", "__cxa", "aoti", "_Unwind"))}


def test_another_directory_gives_the_same_bytes(extension: Path, tmp_path: Path) -> None:
    moved = tmp_path / "a much longer place" / "csrc"
    shutil.copytree(SOURCE_DIR, moved)
    generated = tmp_path / "elsewhere"
    generated.mkdir()
    (generated / "dispatch_table.hpp").write_text(sample_header())
    compile_extension(generated, tmp_path / "out" / "_native.abi3.so", ZIG, jobs=1, source_dir=moved)
    assert (tmp_path / "out" / "_native.abi3.so").read_bytes() == extension.read_bytes()


def test_every_source_and_header_in_the_directory_is_listed() -> None:
    assert sorted(SOURCES) == sorted(path.name for path in SOURCE_DIR.glob("*.cpp"))
    assert {path.name for path in headers()} == {path.name for path in SOURCE_DIR.glob("*.h*")}


def test_a_table_that_does_not_compile_is_an_error_with_the_compilers_words_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ExtensionCompileFailed, match="kKernels"):
        build_extension("#pragma once\n#include <cstdint>\n", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["generated"]


def test_a_missing_compiler_is_an_error_that_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ExtensionCompileFailed, match="nowhere/zig"):
        compile_extension(tmp_path, tmp_path / "out.so", ["/nowhere/zig"])
