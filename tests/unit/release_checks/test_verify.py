"""Each rule of a release is checked, on a wheel that breaks it alone."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from build_tools.commands.verify import describe
from build_tools.entry import dispatch
from build_tools.errors import WheelCheckFailed
from build_tools.wheels import audits, release, verify
from build_tools.wheels.verify import SIZE_LIMIT
from tests.synthetic_wheel import Wheel, code_object, digest_hex

ROOT = Path(__file__).resolve().parents[3]
Change = Callable[["ReleaseWheel"], None]
NOISE = random.Random(1).randbytes(SIZE_LIMIT)


class ReleaseWheel(Wheel):
    """A synthetic wheel that keeps every rule."""

    def __init__(self) -> None:
        info = release.read(ROOT)
        super().__init__(version=info.version, provider={"name": "amd-aiter", "version": "x", "sha256": info.aiter_sha256})
        self.build_info["source_date"] = info.source_date_text
        self.metadata = (
            f"Metadata-Version: 2.4\nName: aiter-mla-aot\nVersion: {info.version}\nSummary: Prebuilt decode for two archs\n"
            "Requires-Python: >=3.10\nLicense-Expression: MIT\nDescription-Content-Type: text/markdown\n"
            "License-File: LICENSE\nLicense-File: NOTICE\nLicense-File: AMD-AITER-LICENSE\n\n# Readme\n"
        )
        for name in ("LICENSE", "NOTICE", "AMD-AITER-LICENSE"):
            self.files[f"{self.dist_info}/licenses/{name}"] = b"Copyright Advanced Micro Devices\n"
        self.files[f"{self.dist_info}/entry_points.txt"] = b"[console_scripts]\naiter-mla-aot = aiter_mla_aot.cli:main\n"
        self.bom_changes: dict[str, str] = {}

    def contents(self) -> dict[str, bytes]:
        """The files, with a bill of materials of the binaries."""
        binaries = {
            name: digest_hex(data) for name, data in self.package_files().items() if name.endswith((".co", ".so"))
        } | self.bom_changes
        components = [
            {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": value}]} for name, value in binaries.items() if value
        ]
        bom: dict[str, Any] = {"bomFormat": "CycloneDX", "specVersion": "1.6", "components": components}
        path = f"{self.dist_info}/sboms/aiter_mla_aot.cdx.json"
        if path not in self.files:
            self.files[path] = json.dumps(bom).encode()
        return super().contents()


@pytest.fixture(autouse=True)
def real_elf_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The synthetic libraries are headers and hashes; audits of real ones are tested apart.
    monkeypatch.setattr(audits, "check_libraries", lambda files: [])


def findings(path: Path) -> list[str]:
    report = verify.verify(path, ROOT, outside_tools=False)
    return [f"{item.code} {item.path}: {item.text}" for item in report.findings]


def test_a_wheel_that_keeps_every_rule_may_be_published(tmp_path: Path) -> None:
    path = ReleaseWheel().write(tmp_path)
    assert findings(path) == []
    assert verify.require(path, ROOT).ok


def metadata(old: str, new: str) -> Change:
    def change(wheel: ReleaseWheel) -> None:
        assert old in wheel.metadata
        wheel.metadata = wheel.metadata.replace(old, new)

    return change


def put(name: str, data: bytes) -> Change:
    def change(wheel: ReleaseWheel) -> None:
        wheel.files[name.replace("INFO", wheel.dist_info)] = data

    return change


def drop(name: str) -> Change:
    def change(wheel: ReleaseWheel) -> None:
        del wheel.files[name.replace("INFO", wheel.dist_info)]

    return change


def bom(name: str, value: str) -> Change:
    def change(wheel: ReleaseWheel) -> None:
        wheel.bom_changes[name] = value

    return change


def info(name: str, value: object) -> Change:
    def change(wheel: ReleaseWheel) -> None:
        wheel.build_info[name] = value

    return change


def tag(wheel: ReleaseWheel) -> None:
    wheel.file_name = wheel.file_name.replace("cp310-abi3", "cp311-cp311")


def prefill(wheel: ReleaseWheel) -> None:
    wheel.files["aiter_mla_aot/mla_pfl_gamma.co"] = code_object("gfx942", b"gamma")


OBJECT = "aiter_mla_aot/kernels/gfx942/mla_alpha.co"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (metadata("License-Expression: MIT", "License-Expression: MIT\nRequires-Dist: torch"), "depends on nothing"),
        (metadata("License-Expression: MIT", "License-Expression: MIT\nProvides-Extra: gpu"), "depends on nothing"),
        (metadata("License-Expression: MIT", "License-Expression: Apache-2.0"), "a field of the metadata is wrong"),
        (metadata("Requires-Python: >=3.10\n", ""), "a field of the metadata is wrong"),
        (metadata("Summary: Prebuilt decode for two archs\n", ""), "a field of the metadata is wrong"),
        (metadata("License-File: NOTICE\n", ""), "licence files listed"),
        (metadata("# Readme\n", ""), "no description"),
        (drop("INFO/licenses/NOTICE"), "a licence is missing"),
        (put("INFO/licenses/AMD-AITER-LICENSE", b"ours"), "must travel with them"),
        (drop("INFO/entry_points.txt"), "the command is missing"),
        (put("INFO/sboms/aiter_mla_aot.cdx.json", b"not json"), "of another format"),
        (bom(OBJECT, ""), "lacks a binary"),
        (bom(OBJECT, "0" * 64), "lacks a binary"),
        (bom("aiter_mla_aot/kernels/gfx942/mla_more.co", "0" * 64), "lists what the wheel does not hold"),
        (info("source_date", "2020-01-01T00:00:00Z"), "the date is not that of release.toml"),
        (info("provider", {"name": "amd-aiter", "sha256": "0" * 64}), "need a version label"),
        (prefill, "not shipped"),
        (put("aiter_mla_aot/extra.py", b"PATH = '/home/someone/checkout'\n"), "path of the build machine"),
        (put("aiter_mla_aot/extra.py", b"# made in /tmp/build-x1/src\n"), "path of the build machine"),
        (put("aiter_mla_aot/extra.py", b"# made in " + str(ROOT).encode() + b"\n"), "path of the build machine"),
        (put("aiter_mla_aot/noise.bin", NOISE), "too large"),
        (tag, "tagged for other platforms"),
    ],
)
def test_a_broken_rule_is_found(tmp_path: Path, change: Change, text: str) -> None:
    wheel = ReleaseWheel()
    change(wheel)
    path = wheel.write(tmp_path)
    assert any(line.startswith("MLA570") and text in line for line in findings(path))
    with pytest.raises(WheelCheckFailed, match="not as a published wheel must be"):
        verify.require(path, ROOT)


def test_facts_of_the_users_machine_are_no_machine_paths(tmp_path: Path) -> None:
    wheel = ReleaseWheel()
    wheel.files["aiter_mla_aot/extra.py"] = (
        b"# /dev/kfd, /opt/rocm/lib, /usr/lib64, /proc/self/maps, docs/home/page, https://x.example/home/y\n"
    )
    assert findings(wheel.write(tmp_path)) == []


def test_times_that_are_not_the_releases_are_found(tmp_path: Path) -> None:
    path = ReleaseWheel().write(tmp_path)
    stamp = struct.pack("<HH", 0, (2026 - 1980) << 9 | 11 << 5 | 30)
    data = path.read_bytes()
    assert stamp in data
    path.write_bytes(data.replace(stamp, struct.pack("<HH", 1 << 5, (2026 - 1980) << 9 | 11 << 5 | 30)))
    assert any("the time is not the release's" in line for line in findings(path))


def test_a_file_that_is_no_wheel_is_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    path.write_bytes(b"no wheel")
    assert [line[:6] for line in findings(path)] == ["MLA208"]


def test_integrity_findings_are_listed_first(tmp_path: Path) -> None:
    wheel = ReleaseWheel()
    wheel.files[OBJECT] += b"!"
    lines = findings(wheel.write(tmp_path))
    assert lines[0].startswith("MLA205")


def test_the_command_says_what_may_be_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "run", lambda path: ({"auditwheel": "passed", "abi3audit": "not run"}, []))
    good = ReleaseWheel().write(tmp_path)
    bad = tmp_path / "bad.whl"
    bad.write_bytes(b"no wheel")
    monkeypatch.delenv("CI", raising=False)
    assert dispatch(["verify", str(good)]) == 0
    out = capsys.readouterr().out
    assert "may be published" in out
    assert "not run: abi3audit" in out
    monkeypatch.setenv("CI", "true")
    assert dispatch(["verify", str(good)]) == 1
    capsys.readouterr()
    assert dispatch(["verify", "--json", str(good), str(bad)]) == 19
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["ok"], answer["not_run"]) == (1, False, ["abi3audit"])
    assert [row["ok"] for row in answer["wheels"]] == [True, False]
    assert answer["error"]["code"] == "MLA570"


def test_a_local_version_is_said_to_be_for_no_public_index(tmp_path: Path) -> None:
    wheel = ReleaseWheel()
    report = verify.verify(wheel.write(tmp_path), ROOT, outside_tools=False)
    local = replace(report, integrity=replace(report.integrity, version="0.1.0+dirty"))
    assert "local label" in describe(local)[-1]
