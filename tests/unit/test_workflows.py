"""The workflows keep to least permissions and pinned actions. That they parse is zizmor's to say, in strict mode, in the test command.

Read by line, not by a YAML parser: the workflows are written in one regular form, which the first test holds them to.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

USES = re.compile(r"^\s+(?:- )?uses: (?P<action>\S+?)(?:@(?P<ref>\S+))?(?: # (?P<version>.+))?$")
SOURCE = re.compile(r"^\s+# source: [\w.-]+/[\w.-]+ \.github/\S+\.ya?ml at [0-9a-f]{40}$")
JOB = re.compile(r"^  (?P<name>\w+):$")
WRITES = {
    ("release.yml", "attest"): {"attestations", "id-token"},
    ("release.yml", "publish"): {"id-token"},
    ("release.yml", "record"): {"contents"},
}
"""The only jobs that may write anything, and what."""


def jobs(workflow: Path) -> dict[str, list[str]]:
    """The lines of each job of a workflow."""
    found: dict[str, list[str]] = {}
    lines = workflow.read_text(encoding="utf-8").splitlines()
    for line in lines[lines.index("jobs:") + 1 :]:
        match = JOB.match(line)
        if match:
            found[match["name"]] = []
        else:
            found[next(reversed(found))].append(line)
    return found


def all_jobs() -> list[tuple[Path, str]]:
    return [(workflow, name) for workflow in WORKFLOWS for name in jobs(workflow)]


def permissions(lines: list[str]) -> dict[str, str]:
    """The permissions block of a job."""
    if "    permissions: {}" in lines:
        return {}
    start = lines.index("    permissions:") + 1
    found = {}
    for line in lines[start:]:
        match = re.fullmatch(r"      ([\w-]+): (read|write) # \S.*", line)
        if not match:
            break
        found[match[1]] = match[2]
    return found


def test_the_three_workflows_exist_in_the_form_these_tests_read() -> None:
    assert [workflow.name for workflow in WORKFLOWS] == ["release.yml", "test.yml", "wheels.yml"]
    for workflow in WORKFLOWS:
        text = workflow.read_text(encoding="utf-8")
        assert "\t" not in text
        assert text.count("\njobs:\n") == 1
        assert jobs(workflow)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_grants_nothing_by_default_and_limits_concurrency(workflow: Path) -> None:
    lines = workflow.read_text(encoding="utf-8").splitlines()
    assert "permissions: {}" in lines
    assert "concurrency:" in lines


@pytest.mark.parametrize(("workflow", "job"), all_jobs(), ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_job_states_its_permissions_with_a_reason_and_writes_only_what_is_listed(workflow: Path, job: str) -> None:
    granted = permissions(jobs(workflow)[job])
    assert {name for name, level in granted.items() if level == "write"} == WRITES.get((workflow.name, job), set())
    assert all(name == "contents" for name, level in granted.items() if level == "read")


@pytest.mark.parametrize(("workflow", "job"), all_jobs(), ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_job_that_runs_steps_has_a_timeout(workflow: Path, job: str) -> None:
    lines = jobs(workflow)[job]
    if "    steps:" in lines:
        assert any(re.fullmatch(r"    timeout-minutes: \d+", line) for line in lines)


def test_every_action_is_a_commit_with_its_version_and_a_public_source() -> None:
    hashes: dict[str, set[str]] = {}
    for workflow in WORKFLOWS:
        lines = workflow.read_text(encoding="utf-8").splitlines()
        for above, line in zip(["", *lines], lines, strict=False):
            if "uses:" not in line:
                continue
            match = USES.match(line)
            assert match, line
            if match["action"].startswith("$/"):
                assert match["ref"] is None, line
                continue
            assert re.fullmatch(r"[0-9a-f]{40}", match["ref"] or ""), line
            assert re.fullmatch(r"v\d+\.\d+\.\d+", match["version"] or ""), line
            assert SOURCE.match(above), f"{workflow.name}: no source above {line.strip()}"
            hashes.setdefault(match["action"], set()).add(match["ref"])
    assert hashes
    assert all(len(found) == 1 for found in hashes.values()), hashes


def test_a_checkout_leaves_no_credential_behind() -> None:
    for workflow in WORKFLOWS:
        text = workflow.read_text(encoding="utf-8")
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_the_test_workflow_runs_the_one_test_command() -> None:
    assert "bash .ci/run\n" in (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert "python3 -m build_tools test" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_no_workflow_takes_a_stored_secret_or_runs_for_strangers_with_rights() -> None:
    for workflow in WORKFLOWS:
        text = workflow.read_text(encoding="utf-8")
        assert "secrets." not in text
        assert "pull_request_target" not in text
        assert "workflow_run" not in text


def test_the_wheel_workflow_asks_for_exactly_one_identifier() -> None:
    assert "= cp310-manylinux_x86_64\n" in (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
