"""The bill of materials is valid CycloneDX, lists what the wheel holds, and is the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from build_tools.data import catalog
from build_tools.providers import lock
from build_tools.wheels.sbom import sbom_bytes

HSA = Path(__file__).resolve().parents[2] / "hsa"
ARCHS = ("gfx942", "gfx950")
LIBRARIES = {"aiter_mla_aot/_native.abi3.so": "5" * 64, "aiter_mla_aot/emulator/libaiter_mla_emulator.so": "6" * 64}
EPOCH = 1796000000


def bom(archs: tuple[str, ...] = ARCHS) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(sbom_bytes(HSA, archs, "0.1.0", EPOCH, LIBRARIES))
    return result


def test_it_is_valid_cyclonedx() -> None:
    data = sbom_bytes(HSA, ARCHS, "0.1.0+dirty", EPOCH, LIBRARIES).decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(data) is None


def test_it_lists_every_shipped_object_with_hash_arch_supplier_licence_and_source() -> None:
    components = {item["name"]: item for item in bom()["components"]}
    expected = {*LIBRARIES, "amd-aiter"}
    for arch in ARCHS:
        shipped = catalog.load(HSA, arch).shipped()
        for item in lock.read(HSA, arch).objects:
            if item.sha256 not in shipped:
                continue
            name = f"aiter_mla_aot/kernels/{arch}/{item.file}"
            expected.add(name)
            part = components[name]
            assert part["hashes"] == [{"alg": "SHA-256", "content": item.sha256}]
            assert {"name": "aiter-mla-aot:arch", "value": arch} in part["properties"]
            assert part["supplier"]["name"] == "Advanced Micro Devices, Inc."
            assert part["licenses"] == [{"license": {"id": "MIT"}}]
            assert part["purl"] == f"pkg:pypi/amd-aiter@0.1.7.post2.dev18#aiter_meta/hsa/{arch}/mla/{item.file}"
    assert components.keys() == expected
    assert not any("mla_pfl" in name for name in components)


def test_it_names_the_compiled_libraries_and_the_toolchain() -> None:
    data = bom()
    hashes = {item["name"]: item["hashes"] for item in data["components"] if item["name"] in LIBRARIES}
    assert hashes == {name: [{"alg": "SHA-256", "content": digest}] for name, digest in LIBRARIES.items()}
    assert "ziglang" in {item["name"] for item in data["metadata"]["tools"]["components"]}
    assert data["metadata"]["component"]["version"] == "0.1.0"


def test_a_single_arch_lists_nothing_of_the_other() -> None:
    assert "gfx950" not in json.dumps(bom(("gfx942",)))


def test_the_order_of_archs_changes_nothing() -> None:
    assert sbom_bytes(HSA, ("gfx950", "gfx942"), "0.1.0", EPOCH, LIBRARIES) == sbom_bytes(HSA, ARCHS, "0.1.0", EPOCH, LIBRARIES)


def test_time_and_serial_number_come_from_the_inputs() -> None:
    first, second = bom(), json.loads(sbom_bytes(HSA, ARCHS, "0.1.1", EPOCH, LIBRARIES))
    assert first["metadata"]["timestamp"].startswith("2026-11-30T")
    assert first["serialNumber"] != second["serialNumber"]
    assert first["serialNumber"] == bom()["serialNumber"]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_hash_seed_and_time_zone_change_nothing(seed: str) -> None:
    code = (
        "import sys; from pathlib import Path; from build_tools.wheels.sbom import sbom_bytes;"
        f"sys.stdout.buffer.write(sbom_bytes(Path({str(HSA)!r}), {ARCHS!r}, '0.1.0', {EPOCH}, {LIBRARIES!r}))"
    )
    environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": "Pacific/Auckland", "PYTHONPATH": str(HSA.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert done.stdout == sbom_bytes(HSA, ARCHS, "0.1.0", EPOCH, LIBRARIES)
