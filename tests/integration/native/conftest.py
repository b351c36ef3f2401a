"""The extension over the sample table and the HIP recorder; every test gets copies of its own, which share no state."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from aiter_mla_aot.native_errors import from_native
from aiter_mla_aot.native_types import Native
from tests.integration.native.native_build import build_extension, link_recorder, recorder_objects
from tests.integration.native.recorder import Recorder
from tests.integration.native.sample_table import FILES, sample_header

_numbers = itertools.count()


def load_copy(path: Path, directory: Path) -> Native:
    """Loads a copy of an extension as a library of its own: its HIP, modules and errors are not those of other copies."""
    copy = directory / f"copy{next(_numbers)}" / "_native.abi3.so"
    copy.parent.mkdir()
    shutil.copyfile(path, copy)
    spec = importlib.util.spec_from_file_location("_native", copy)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{copy} is not importable")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    native = cast("Native", module)
    native.error_factory = from_native
    return native


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_extension(sample_header(), tmp_path_factory.mktemp("extension"))


@pytest.fixture(scope="session")
def recorder_parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return recorder_objects(tmp_path_factory.mktemp("recorder"))


@pytest.fixture(scope="session")
def recorder_library(recorder_parts: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return link_recorder(recorder_parts, tmp_path_factory.mktemp("rocm") / "libamdhip64.so.7", "libamdhip64.so.7")


@pytest.fixture
def make_native(tmp_path: Path) -> Callable[[Path], Native]:
    return lambda path: load_copy(path, tmp_path)


@pytest.fixture
def recorder(recorder_library: Path, tmp_path: Path) -> Recorder:
    copy = tmp_path / "recorder.so"
    shutil.copyfile(recorder_library, copy)
    return Recorder(copy)


@pytest.fixture
def native(extension: Path, recorder: Recorder, make_native: Callable[[Path], Native]) -> Iterator[Native]:
    """The extension with the recorder as its HIP: two gfx942 devices, ROCm 7.0."""
    module = make_native(extension)
    module.hip_open(recorder.path, False)
    yield module
    recorder.set_current_device(0)


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """The sample table's code objects as an installed package keeps them."""
    root = tmp_path / "kernels"
    for name, image in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(image)
    return root
