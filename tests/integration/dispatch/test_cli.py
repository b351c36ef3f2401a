"""The command line: answers, JSON, exit codes and what bad input gets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXPLAIN = ("--arch", "gfx942", "--heads", "64", "--q-dtype", "fp8", "--kv-dtype", "fp8", "--q-len", "1", "--page-size", "1")
PROBLEM: dict[str, Any] = {
    "arch": "gfx942",
    "mode": "persistent",
    "q_dtype": "fp8",
    "kv_dtype": "fp8",
    "heads": 64,
    "q_len": 1,
    "page_size": 1,
}


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "aiter_mla_aot", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def answer(*arguments: str, text: str = "") -> dict[str, Any]:
    done = run(*arguments, text=text)
    assert done.stderr == ""
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def test_explain_gives_every_documented_key() -> None:
    told = answer("explain", *EXPLAIN, "--batch-size", "16", "--json")
    assert (told["schema"], told["command"], told["outcome"], told["evidence"]) == (1, "explain", "served", "proven on the emulator")
    assert told["proof"]["timing"] == "strict"
    assert told["proof"]["members"] > told["proof"]["classes"] > 10
    assert told["kernel"] == "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"
    assert told["object"] == told["kernel"] + ".co"
    assert told["sha256"] == "b86601b4f18315c09e74fe5182d7959a60105d43c7f9f270e19e064a2e46ad12"
    assert (told["route"], told["fold"]["head_groups"], told["fold"]["heads_launched"]) == ("head_fold", 4, 16)
    assert [gate["id"] for gate in told["gates"] if gate["active"]] == ["qh64-native-page-64-only"]
    assert told["preconditions"]


def test_a_refusal_is_an_answer_with_the_same_keys() -> None:
    served, refused = answer("explain", *EXPLAIN, "--json"), answer("explain", *EXPLAIN, "--lse", "--json")
    assert (refused["outcome"], refused["refusal"]) == ("refused", "lse")
    assert refused.keys() == served.keys()


@pytest.mark.parametrize("catalog", ["shipped", "full"])
def test_catalog_reaches_explain_and_resolve(catalog: str) -> None:
    at_64 = [*EXPLAIN[:-1], "64", "--catalog", catalog, "--json"]
    outcome = "served" if catalog == "full" else "refused"
    assert answer("explain", *at_64)["outcome"] == outcome
    line = json.dumps(PROBLEM | {"page_size": 64})
    assert answer("resolve", "--batch", "-", "--catalog", catalog, "--json", text=line)["outcome"] == outcome


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", *EXPLAIN, "--nheads", "64"),
        ("explain", *EXPLAIN[:-1], "3"),
        ("explain", *EXPLAIN, "--heads", "0"),
        ("explain", *EXPLAIN, "--heads", "many"),
        ("explain", *EXPLAIN, "--mode", "fast"),
        ("explain", *EXPLAIN[2:]),
        ("resolve",),
        ("resolve", "--batch", "/nowhere/problems.jsonl"),
        ("kernels", "--arch", "gfx900"),
        ("sing",),
        (),
    ],
)
def test_bad_command_lines_get_a_plain_error_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("MLA101: ")
    assert "Traceback" not in done.stderr
    if arguments:
        told = json.loads(run(*arguments, "--json").stdout)
        assert told["error"]["code"] == "MLA101"


def test_resolve_answers_line_by_line_and_goes_on_after_a_bad_line() -> None:
    lines = [
        json.dumps(PROBLEM),
        "",
        "{",
        "[1]",
        json.dumps(PROBLEM | {"heads": 0}),
        json.dumps(PROBLEM | {"extra": 1}),
        json.dumps(PROBLEM | {"lse": True}),
    ]
    done = run("resolve", "--batch", "-", "--json", text="\n".join(lines))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [(row["line"], row["outcome"]) for row in told] == [
        (1, "served"),
        (3, "error"),
        (4, "error"),
        (5, "error"),
        (6, "error"),
        (7, "refused"),
    ]
    assert told[0]["kernel"] == "mla_a8w8_qh16_qseqlen1_gqaratio16_ps"


def test_resolve_reads_a_file_and_prints_text(tmp_path: Path) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(PROBLEM) + "\n", encoding="utf-8")
    done = run("resolve", "--batch", str(path))
    assert (done.returncode, done.stdout) == (0, "1: served by mla_a8w8_qh16_qseqlen1_gqaratio16_ps, head_fold\n")


def test_resolve_survives_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_bytes(b"\xff\xfe{}\n" + json.dumps(PROBLEM).encode() + b"\n")
    done = run("resolve", "--batch", str(path), "--json")
    assert [json.loads(line)["outcome"] for line in done.stdout.splitlines()] == ["error", "served"]


def test_coverage_and_kernels_count_the_same_wheel() -> None:
    counted = answer("coverage", "--json")["archs"]
    assert all(rows["total"] == 9_437_184 for rows in counted.values())
    for rows in counted.values():
        parts = [*rows["served"].values(), *rows["refused"].values()]
        assert sum(sum(part.values()) for part in parts) == rows["total"]
    shipped, full = (answer("kernels", "--catalog", name, "--json")["kernels"] for name in ("shipped", "full"))
    assert all(row["in_wheel"] and row["scope"] == "decode" for row in shipped)
    assert len(shipped) == 32
    assert {row["sha256"] for row in full} >= {row["sha256"] for row in shipped if not row["superseded"]}


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-P", "-m", "aiter_mla_aot", "kernels"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
