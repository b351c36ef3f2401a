"""Proofs as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from .battery import Proof
from .case import Recipe
from .kernels import ObjectProof


def describe(recipe: Recipe) -> str:
    """A recipe in one line."""
    parts = [
        recipe.recipe,
        f"q {recipe.q_dtype} kv {recipe.kv_dtype}",
        f"{recipe.heads} heads x {recipe.tokens} tokens",
        f"mask {recipe.mask}",
    ]
    if recipe.min_tokens > 1:
        parts.append(f"items of {recipe.min_tokens} tokens or more")
    if recipe.kv_in_tokens:
        parts.append("items count keys")
    if recipe.out_scale_missing:
        parts.append("kv_scale of values left to the host")
    if recipe.lse:
        parts.append("writes the LSE")
    if recipe.context_parallel:
        parts.append("one rank's keys, lengths of all ranks")
    if recipe.heads_as_rows:
        parts.append("told the heads alone")
    if not recipe.persistent:
        parts.append(f"sub_q {recipe.sub_q}, one split: {recipe.single}")
    return ", ".join(parts)


def summary(proof: Proof) -> list[str]:
    """What a proof found, in a few lines."""
    right = proof.right
    if not right:
        return ["  right for no class", *_causes(proof)]
    pages = sorted({member.page_size for member in right})
    masks = [name for name, value in (("causal", True), ("full", False)) if any(member.causal is value for member in right)]
    spans = [span for span in ("small", "span_2g", "span_4g") if any(member.span == span for member in right)]
    worst = max(result.output for result in proof.classes if result.status == "right")
    timing = proof.timing
    line = timing.kind
    if timing.kind == "dependent":
        line += f" ({', '.join(timing.models)}; memory {timing.memory or '-'}, LDS {timing.lds or '-'})"
    items = ", ".join(sorted({member.item for member in right}))
    groups = ", ".join(map(str, sorted({member.groups for member in right})))
    splits = ", ".join(sorted({member.split for member in right} - {""}))
    return [
        f"  right for {len(right)} of {len(proof.classes)} classes, {proof.ran} members; worst output error {worst:.2e}",
        f"  pages {', '.join(map(str, pages))}; {', '.join(masks)}; items {items}; groups {groups}; spans {', '.join(spans)}"
        + (f"; splits {splits}" if splits else ""),
        f"  timing {line}; NaN poison {_word(proof.poison['nan'])}, large poison {_word(proof.poison['large'])}",
        *_causes(proof),
    ]


def _word(safe: bool) -> str:
    return "safe" if safe else "spreads"


def _causes(proof: Proof) -> list[str]:
    counts: dict[str, int] = {}
    for result in proof.classes:
        if result.status != "right":
            text = result.cause if result.cause.startswith(result.status) else f"{result.status}: {result.cause}"
            counts[text] = counts.get(text, 0) + 1
    most = sorted(counts.items(), key=lambda item: -item[1])[:8]
    return [f"    {count} classes {text}" for text, count in most]


def table(proofs: Sequence[ObjectProof]) -> str:
    """Every object and recipe."""
    lines = []
    for found in proofs:
        subject = found.wanted.subject
        several = sum(other.wanted.subject.sha256 == subject.sha256 for other in proofs) > 1
        lines.append(f"{subject.arch} {found.wanted.file}" + (f" {subject.symbol}" if several else ""))
        if not found.proofs:
            lines.append("  no recipe is right")
        for proof in found.proofs:
            lines += [f"  {describe(proof.recipe)}", *summary(proof)]
    return "\n".join(lines)
