"""The dynamic symbols: those by which the HSA loader finds kernels (a stripped object has no others)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from . import limits
from .errors import InconsistentLayout, LimitExceeded, SymbolAbsent, TruncatedObject
from .layout import Layout, Section

ENTRY_BYTES: Final = 24


@dataclass(frozen=True, slots=True)
class Symbol:
    """A defined dynamic symbol."""

    kind: str | int
    binding: str | int
    address: int
    size: int


def read(layout: Layout) -> dict[bytes, Symbol]:
    """The defined dynamic symbols by name; raises for a table that cannot be trusted."""
    tables = [section for section in layout.sections if section.kind == "SHT_DYNSYM"]
    if len(tables) != 1:
        raise SymbolAbsent(layout.name, f"{len(tables)} dynamic symbol tables", cause="the loader finds kernels by exactly one")
    table = tables[0]
    if table.entry_size != ENTRY_BYTES or table.size % ENTRY_BYTES:
        raise InconsistentLayout(
            layout.name,
            f"the symbol table has {table.size} bytes in entries of {table.entry_size}",
            cause=f"an entry has {ENTRY_BYTES} bytes",
        )
    if table.size // ENTRY_BYTES > limits.SYMBOLS:
        raise LimitExceeded(layout.name, f"{table.size // ENTRY_BYTES} dynamic symbols", cause=f"at most {limits.SYMBOLS} are read")
    names = _names(layout, table)
    if not layout.is_loaded(table) or not layout.is_loaded(names):
        raise InconsistentLayout(
            layout.name, "the symbols that sections show are not the loaded ones", cause="section and segment disagree on offset or address"
        )
    return _symbols(layout, table, layout.data[names.offset : names.offset + names.size])


def _names(layout: Layout, table: Section) -> Section:
    if table.link < len(layout.sections) and layout.sections[table.link].kind == "SHT_STRTAB":
        return layout.sections[table.link]
    raise InconsistentLayout(layout.name, f"section {table.link} is no string table", cause="the symbol table links to it for its names")


def _symbols(layout: Layout, table: Section, names: bytes) -> dict[bytes, Symbol]:
    found: dict[bytes, Symbol] = {}
    for offset in range(table.offset, table.offset + table.size, ENTRY_BYTES):
        row = layout.parse(layout.structs.Elf_Sym, offset)
        end = names.find(b"\0", row.st_name, row.st_name + limits.NAME_BYTES)
        if end < 0:
            raise TruncatedObject(
                layout.name, "a symbol's name has no end", cause=f"it starts at {row.st_name} of {len(names)} bytes of names"
            )
        name = names[row.st_name : end]
        if not name or row.st_shndx == "SHN_UNDEF":
            continue
        if name in found:
            raise InconsistentLayout(layout.name, f"symbol {name!r:.200} is defined twice", cause="a name must mean one address")
        found[name] = Symbol(row.st_info.type, row.st_info.bind, row.st_value, row.st_size)
    return found
