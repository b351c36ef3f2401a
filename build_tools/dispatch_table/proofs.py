"""Evidence of one arch as the table needs it: which claims rest on it, which are unproven, and what is told of each kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiter_mla_aot.proof import Proof, Wrong
from aiter_mla_aot.rules import Claim, Gate
from build_tools.data.catalog import ArchCatalog, KernelRow, matches
from build_tools.errors import OrphanObject
from build_tools.prove import binding, evidence
from build_tools.prove.case import Recipe
from build_tools.prove.classes import ProblemClass
from build_tools.prove.evidence import Evidence
from build_tools.prove.semantics import SEMANTICS_VERSION

UNPROVEN: Final = "unproven"
"""Id and code of the gate of a kernel whose bytes have no evidence."""

FINITE_ROWS: Final = "every value of the KV buffer's row 0 and of page tails is finite: masked lanes may read them with weight 0"
ORDINARY_ROWS: Final = "KV rows that no request uses hold no values near the largest of their format: the kernel reads some with weight 0"


@dataclass(frozen=True, slots=True)
class Proofs:
    """Evidence by the SHA-256 of its object. allow_unproven: kernels without evidence are served too."""

    found: Mapping[str, Evidence]
    allow_unproven: bool = False

    def check(self, data: ArchCatalog) -> None:
        """Raise ``RuleOutsideEnvelope`` where a claim relies on what the evidence of its kernel does not show."""
        for row in data.kernels:
            if row.claim is not None and row.sha256 in self.found:
                binding.check(data.arch, row.file, str(row.recipe), row.claim, gates_of(data, row), self.found[row.sha256])

    def unproven(self, data: ArchCatalog) -> frozenset[str]:
        """SHA-256 of the kernels of the wheel that are not served because nothing was shown for them."""
        if self.allow_unproven:
            return frozenset()
        return frozenset(row.sha256 for row in data.kernels if row.claim and row.sha256 in data.shipped() and row.sha256 not in self.found)

    def of(self, row: KernelRow) -> Proof | None:
        """What was shown for a kernel as its claim feeds it; None without a claim or without evidence."""
        shown = self.found.get(row.sha256)
        if row.claim is None or shown is None:
            return None
        findings = binding.findings(row.claim, str(row.recipe), shown)
        return proof_of(findings[0]) if findings else None

    def preconditions(self, row: KernelRow) -> tuple[str, ...]:
        """What must hold for memory that no request uses; without evidence the kernel is taken to be as sensitive as any."""
        proof = self.of(row)
        if row.scope != "decode" or (proof is not None and proof.nan_safe):
            return ()
        return (FINITE_ROWS,) if proof is None or proof.large_safe else (FINITE_ROWS, ORDINARY_ROWS)


def load(hsa: Path, data: ArchCatalog, *, allow_unproven: bool = False) -> Proofs:
    """Read all evidence of an arch. Raises ``EvidenceInvalid``, and ``OrphanObject`` for evidence of an object that is not catalogued."""
    found = {}
    files = {row.sha256: row.file for row in data.kernels}
    for path in sorted((hsa / data.arch / "evidence").glob("*.json")):
        shown = evidence.read(path)
        if files.get(shown.sha256) != shown.file:
            raise OrphanObject(
                f"{path.name} is evidence of {shown.file}, {shown.sha256}",
                cause=f"hsa/{data.arch}/kernels.toml has no such object",
                remedy="remove the file, or add the object's row",
            )
        found[shown.sha256] = shown
    return Proofs(found, allow_unproven)


def gate(data: ArchCatalog, unproven: frozenset[str]) -> Gate:
    """The gate of kernels that nothing was shown for."""
    files = sorted(row.file for row in data.kernels if row.sha256 in unproven)
    cause = "these exact bytes have not been run: there is no evidence for them"
    return Gate(UNPROVEN, tuple(files), UNPROVEN, {}, cause, "docs/proving.md")


def gates_of(data: ArchCatalog, row: KernelRow) -> tuple[Gate, ...]:
    """The gates of the data that name a kernel."""
    return tuple(rule for rule in data.gates if matches(row.file, rule.kernels))


def proof_of(finding: Mapping[str, Any]) -> Proof:
    """A finding of an evidence file as the table holds it."""
    worst, properties = finding["worst"], finding["properties"]
    timing = properties["timing"]
    return Proof(
        semantics=SEMANTICS_VERSION,
        classes=len(finding["right"]),
        members=finding["members"],
        output_error=worst["output"],
        row_error=worst["row"],
        lse_error=worst["lse"],
        timing=timing["kind"],
        memory_clocks=timing["memory"],
        lds_clocks=timing["lds"],
        nan_safe=properties["nan_safe"],
        large_safe=properties["large_safe"],
        wrong=tuple(_wrong(row) for row in finding["wrong"]),
    )


def _wrong(row: Mapping[str, Any]) -> Wrong:
    members: Sequence[ProblemClass] = [evidence.class_of(values) for values in row["classes"]]
    return Wrong(row["status"], row["cause"], len(members), tuple(sorted({member.page_size for member in members})))


def recipe_of(row: KernelRow, claim: Claim) -> Recipe:
    """How a claim feeds its kernel, as far as the data states it."""
    return Recipe(
        str(row.recipe),
        claim.q_dtype,
        claim.kv_dtype,
        claim.heads,
        claim.tokens,
        mask=claim.mask,
        lse=claim.lse,
        context_parallel=claim.context_parallel,
        sub_q=row.sub_q or 0,
        # Where the result of one split goes is measured.
        single="out" if claim.mode == "persistent" else "none",
    )
