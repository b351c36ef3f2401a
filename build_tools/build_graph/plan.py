"""Plans a build: from settings and the files of the tree to the steps of the graph."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from aiter_mla_aot.table import INDEX
from build_tools.build_graph import emulator_build, extension, layout
from build_tools.build_graph.graph import Step
from build_tools.build_graph.imports import sources
from build_tools.build_graph.layout import CACHE, EMULATOR, EMULATOR_NAME, EMULATOR_OBJECTS, EXTENSION_NAME, OBJECTS, Layout
from build_tools.data import catalog
from build_tools.providers import lock
from build_tools.providers.aiter import LICENCE
from build_tools.settings import Settings, known_archs
from build_tools.wheels import release

PACKAGE: Final = "aiter_mla_aot"


def steps(root: Path, settings: Settings) -> tuple[Step, ...]:
    """The steps of a build. Raises ``DataError`` kinds for what is wrong under ``hsa/``, before anything runs."""
    where = layout.of(root, settings.archs)
    hsa = root / "hsa"
    data = tuple(path for arch in settings.archs for path in _files(root, f"hsa/{arch}", "*.toml"))
    shown = tuple(path for arch in settings.archs for path in _files(root, f"hsa/{arch}/evidence", "*.json"))
    locked = {item.arch: [f"{OBJECTS}/{item.arch}/{row.file}" for row in item.objects] for item in lock.read_all(hsa, settings.archs)}
    shipped = {arch: _shipped(hsa, arch) for arch in settings.archs}
    objects = tuple(path for arch in settings.archs for path in locked[arch])
    locks = tuple(f"hsa/{arch}/lock.toml" for arch in settings.archs)
    source = str(settings.aiter_source) if settings.aiter_source else None
    header = f"{where.generated}/{extension.GENERATED_HEADER}"
    tables = {f"{where.generated}/tables/{name}": f"tables/{name}" for name in (INDEX, *(f"{arch}.json" for arch in settings.archs))}
    checked = tuple(f"{where.base}/checked/{arch}.json" for arch in settings.archs)

    found = [
        Step(
            "fetch",
            "fetch",
            (*locks, *sources(root, "build_tools.providers.aiter")),
            (*objects, f"{OBJECTS}/{LICENCE}"),
            {"archs": list(settings.archs), "source": source, "cache": CACHE, "out": OBJECTS},
            always=source is not None,
        )
    ]
    readers = tuple(sorted({*sources(root, "build_tools.code_object"), *sources(root, "build_tools.data.catalog")}))
    for arch, output in zip(settings.archs, checked, strict=True):
        inputs = (*locked[arch], *_files(root, f"hsa/{arch}", "*.toml"), *readers)
        found.append(Step(f"compare-{arch}", "compare", inputs, (output,), {"arch": arch, "objects": OBJECTS}))
    outputs = (header, *tables)
    found.append(
        Step(
            "table",
            "table",
            (*data, *shown, "build_tools/prove/classes.toml", *sources(root, "build_tools.dispatch_table.table")),
            outputs,
            {"archs": list(settings.archs), "out": where.generated, "allow_unproven": settings.allow_unproven},
        )
    )
    found += _extension_steps(root, where, header)
    found += _emulator_steps(root)
    package = {path: path.removeprefix(f"{PACKAGE}/") for path in (*_files(root, PACKAGE, "*.py"), f"{PACKAGE}/py.typed")}
    package |= tables | {where.extension: EXTENSION_NAME, EMULATOR: f"emulator/{EMULATOR_NAME}"}
    package |= {f"{OBJECTS}/{arch}/{file}": f"kernels/{arch}/{file}" for arch in settings.archs for file in shipped[arch]}
    staged = [f"{where.stage}/{PACKAGE}/{path}" for path in (*package.values(), "build_info.json")]
    parameters = {"stage": f"{where.stage}/{PACKAGE}", "files": package, "build_info": build_info(root, settings)}
    found.append(Step("stage", "stage", (*package, *checked), tuple(staged), parameters))
    return tuple(found)


def build_info(root: Path, settings: Settings) -> str:
    """The text of ``build_info.json``."""
    provider = lock.read_all(root / "hsa", settings.archs)[0].provider
    values = {
        "schema": 1,
        "version": release.version(root, settings),
        "archs": list(settings.archs),
        "known_archs": list(known_archs(root / "hsa")),
        "source_date": release.read(root).source_date_text,
        "provider": {"name": provider.name, "version": provider.version, "sha256": provider.sha256 or ""},
        "lock_sha256": lock.digest(root / "hsa", settings.archs),
    }
    return json.dumps(values, indent=2) + "\n"


def _extension_steps(root: Path, where: Layout, header: str) -> Iterable[Step]:
    folder = extension.SOURCE_DIR.relative_to(extension.SOURCE_DIR.parents[1]).as_posix()
    headers = tuple(f"{folder}/{path.name}" for path in extension.headers(root / folder))
    zig = {"zig": metadata.version("ziglang")}
    objects = []
    for name in extension.SOURCES:
        output = f"{where.base}/obj/{Path(name).stem}.o"
        objects.append(output)
        inputs = (f"{folder}/{name}", header, *headers, "build_tools/build_graph/extension.py")
        yield Step(
            f"compile-{Path(name).stem}", "compile", inputs, (output,), {**zig, "source": f"{folder}/{name}", "generated": where.generated}
        )
    yield Step("link", "link", (*objects, "build_tools/build_graph/extension.py"), (where.extension,), {**zig, "objects": objects})


def _emulator_steps(root: Path) -> Iterable[Step]:
    folder = emulator_build.SOURCE_DIR.relative_to(emulator_build.SOURCE_DIR.parents[1]).as_posix()
    headers = tuple(path.relative_to(root).as_posix() for path in emulator_build.headers(root / folder))
    recipe = "build_tools/build_graph/emulator_build.py"
    zig = {"zig": metadata.version("ziglang")}
    for path in emulator_build.sources(root / folder):
        source = path.relative_to(root).as_posix()
        outputs = tuple(f"{EMULATOR_OBJECTS}/{unit.object_name()}" for unit in emulator_build.units_of(path))
        parameters = {**zig, "source": source, "folder": folder}
        name = f"compile-emulator-{path.parent.name}-{path.stem}"
        yield Step(name, "compile-emulator", (source, *headers, recipe), outputs, parameters, shared=True)
    objects = [f"{EMULATOR_OBJECTS}/{unit.object_name()}" for unit in emulator_build.units(root / folder)]
    yield Step("link-emulator", "link-emulator", (*objects, recipe), (EMULATOR,), {**zig, "objects": objects}, shared=True)


def _shipped(hsa: Path, arch: str) -> tuple[str, ...]:
    data = catalog.load(hsa, arch)
    hashes = data.shipped()
    return tuple(sorted(row.file for row in data.kernels if row.sha256 in hashes))


def _files(root: Path, folder: str, pattern: str) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob(pattern)))
