"""Evidence files: what was proven of the exact bytes of one object, compact and the same from every run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.problem import DTYPE_PAIRS, MAX_HEADS, MAX_Q_LEN
from build_tools.environment.pip_run import report_os_errors
from build_tools.providers.aiter import write as write_file

from .case import MASKS, RECIPES, SINGLES, Recipe
from .classes import CLASS_FIELDS, ProblemClass, axes
from .errors import EvidenceInvalid
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
    """The class that a row of evidence names. Raises ``ValueError`` or ``TypeError`` if there is none."""
    member = ProblemClass(**dict(zip(CLASS_FIELDS, row, strict=True)))
    for name in CLASS_FIELDS:
        value, known = getattr(member, name), ("", *axes()[name].values) if name == "split" else axes()[name].values
        if not any(type(value) is type(other) and value == other for other in known):
            raise ValueError(f"{name} is {value!a:.40}")
    return member


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
    """Writes the file. Raises ``NotWritable``."""
    path = path_of(hsa, evidence.arch, evidence.file, evidence.sha256)
    with report_os_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text_of(evidence).encode())
    return path


def read(path: Path) -> Evidence:
    """The evidence in a file. Raises ``EvidenceInvalid`` if it is damaged or of another version."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EvidenceInvalid(
            f"{path} cannot be read", cause=error.strerror or str(error), remedy="restore it, or run build_tools prove again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise EvidenceInvalid(f"{path}: {error}", cause="not readable as JSON", remedy="run build_tools prove again") from error
    versions = [data.get("schema"), data.get("semantics")] if isinstance(data, dict) else []
    if versions != [SCHEMA, SEMANTICS_VERSION] or any(type(version) is not int for version in versions):
        raise EvidenceInvalid(
            f"{path}: schema or semantics version differs", cause="made by another version", remedy="run build_tools prove again"
        )
    try:
        arch, sha256, file, level = (_typed(data[name], str) for name in ("arch", "sha256", "file", "level"))
        made = Evidence(arch, sha256, file, level, tuple(_typed(data["findings"], list)))
        same = path == path_of(path.parents[2], made.arch, made.file, made.sha256)
        for finding in made.findings:
            check_finding(finding)
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceInvalid(
            f"{path}: {error!r}", cause="a field is missing, of another type or impossible", remedy="run build_tools prove again"
        ) from error
    if not same:
        raise EvidenceInvalid(
            f"{path}: the name is not that of its object", cause="renamed or copied", remedy="run build_tools prove again"
        )
    return made


def check_finding(finding: Mapping[str, Any]) -> None:
    """Raise ``KeyError``, ``TypeError`` or ``ValueError`` unless everything that is read of a finding later is there and possible."""
    _check_recipe(Recipe.from_json(finding["recipe"]))
    for row in _typed(finding["right"], list):
        class_of(row[:-1])
        _typed(row[-1], str)
    for group in finding["wrong"]:
        _typed(group["status"], str)
        _typed(group["cause"], str)
        for row in group["classes"]:
            class_of(row)
    worst, properties = finding["worst"], finding["properties"]
    for value in (worst["output"], worst["row"], *([] if worst["lse"] is None else [worst["lse"]])):
        if not 0.0 <= _typed(value, float) < math.inf:
            raise ValueError(f"an error is {value}")
    _typed(properties["nan_safe"], bool)
    _typed(properties["large_safe"], bool)
    timing = properties["timing"]
    if timing["kind"] not in ("strict", "dependent", "unknown"):
        raise ValueError(f"timing is {timing['kind']!a:.40}")
    for value in (finding["members"], *(timing[name] for name in ("memory", "lds") if timing[name] is not None)):
        if _typed(value, int) < 0:
            raise ValueError(f"a count is {value}")


def _check_recipe(recipe: Recipe) -> None:
    for field in fields(Recipe):
        # Annotations are texts here: those of a recipe are str, int and bool.
        if type(getattr(recipe, field.name)).__name__ != field.type:
            raise TypeError(f"recipe: {field.name} is {getattr(recipe, field.name)!a:.40}")
    known = recipe.recipe in RECIPES and recipe.mask in MASKS and recipe.single in SINGLES
    if not known or (recipe.q_dtype, recipe.kv_dtype) not in DTYPE_PAIRS:
        raise ValueError("recipe: a word or a pair of formats is unknown")
    if not 1 <= recipe.min_tokens <= recipe.tokens <= MAX_Q_LEN or not 1 <= recipe.heads <= MAX_HEADS:
        raise ValueError("recipe: heads or tokens are out of range")
    if not (recipe.persistent or 1 <= recipe.sub_q <= MAX_HEADS * MAX_Q_LEN):
        raise ValueError(f"recipe: sub_q is {recipe.sub_q}")


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!a:.40} is no {kind.__name__}")
    return value
