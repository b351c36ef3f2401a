"""Evidence files: what was proven of the exact bytes of one object, compact and the same from every run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .case import Recipe
from .classes import CLASS_FIELDS, ProblemClass
from .errors import EvidenceInvalid
from .files import replace_text
from .semantics import SEMANTICS_VERSION

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Evidence:
    """An evidence file: the object it is about, and what was found under each recipe that is right for something."""

    arch: str
    sha256: str
    file: str
    level: str
    findings: tuple[Mapping[str, Any], ...]

    def envelope(self, recipe: Recipe) -> frozenset[ProblemClass]:
        """The classes that a recipe is right for; empty if the recipe was not proven."""
        for finding in self.findings:
            if finding["recipe"] == recipe.to_json():
                return frozenset(class_of(row[:-1]) for row in finding["right"])
        return frozenset()


def class_of(row: Sequence[Any]) -> ProblemClass:
    """The class that a row of evidence names."""
    return ProblemClass(**dict(zip(CLASS_FIELDS, row, strict=True)))


def path_of(hsa: Path, arch: str, file: str, sha256: str) -> Path:
    """Where the evidence of an object lies."""
    return hsa / arch / "evidence" / f"{Path(file).stem}-{sha256[:12]}.json"


def text_of(evidence: Evidence) -> str:
    """The file's text: a line for each class list and finding, keys sorted."""
    head = {
        "schema": SCHEMA,
        "semantics": SEMANTICS_VERSION,
        "arch": evidence.arch,
        "sha256": evidence.sha256,
        "file": evidence.file,
        "level": evidence.level,
    }
    lines = [f" {json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    blocks = []
    for finding in evidence.findings:
        rows = [f"   {json.dumps(name)}: {json.dumps(finding[name], sort_keys=True, separators=(',', ':'))}" for name in sorted(finding)]
        blocks.append("  {\n" + ",\n".join(rows) + "\n  }")
    return "{\n" + "\n".join(lines) + '\n "findings": [\n' + ",\n".join(blocks) + "\n ]\n}\n"


def write(hsa: Path, evidence: Evidence) -> Path:
    """Writes the file."""
    path = path_of(hsa, evidence.arch, evidence.file, evidence.sha256)
    replace_text(path, text_of(evidence))
    return path


def read(path: Path) -> Evidence:
    """The evidence in a file. Raises ``EvidenceInvalid`` if it is damaged or of another version."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise EvidenceInvalid(f"{path}: {error}", cause="not readable as JSON", remedy="run build_tools prove again") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or data.get("semantics") != SEMANTICS_VERSION:
        raise EvidenceInvalid(
            f"{path}: schema or semantics version differs", cause="made by another version", remedy="run build_tools prove again"
        )
    try:
        made = Evidence(data["arch"], data["sha256"], data["file"], data["level"], tuple(data["findings"]))
        for finding in made.findings:
            made.envelope(Recipe.from_json(finding["recipe"]))
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceInvalid(
            f"{path}: {error!r}", cause="a field is missing or of another type", remedy="run build_tools prove again"
        ) from error
    if path != path_of(path.parents[2], made.arch, made.file, made.sha256):
        raise EvidenceInvalid(
            f"{path}: the name is not that of its object", cause="renamed or copied", remedy="run build_tools prove again"
        )
    if not all(math.isfinite(finding["worst"]["output"]) for finding in made.findings):
        raise EvidenceInvalid(f"{path}: an error is not finite", cause="edited", remedy="run build_tools prove again")
    return made
