"""Proofs as text for people: a table, and the error over the number of keys as text and as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from .battery import Proof
from .case import Recipe
from .kernels import ObjectProof

_BARS: Final = " .:-=+*#%@"
_FLOOR: Final = 1e-4


def describe(recipe: Recipe) -> str:
    """A recipe in one line."""
    parts = [recipe.recipe, f"q {recipe.q_dtype} kv {recipe.kv_dtype}", f"{recipe.heads} heads x {recipe.tokens} tokens", f"mask {recipe.mask}"]
    if recipe.min_tokens > 1:
        parts.append(f"items of {recipe.min_tokens} tokens or more")
    if recipe.kv_in_tokens:
        parts.append("items count keys")
    if recipe.out_scale_missing:
        parts.append("kv_scale of values left to the host")
    if recipe.lse:
        parts.append("writes the LSE")
    if not recipe.persistent:
        parts.append(f"sub_q {recipe.sub_q}, one split: {recipe.single}")
    return ", ".join(parts)


def summary(proof: Proof) -> list[str]:
    """What a proof found, in a few lines."""
    right = proof.right
    if not right:
        return ["  right for no class"] + _causes(proof)
    pages = sorted({member.page_size for member in right})
    masks = [name for name, value in (("causal", True), ("full", False)) if any(member.causal is value for member in right)]
    spans = [span for span in ("small", "span_2g", "span_4g") if any(member.span == span for member in right)]
    worst = max(result.output for result in proof.classes if result.status == "right")
    timing = proof.timing
    line = timing.kind
    if timing.kind == "dependent":
        line += f" ({', '.join(timing.models)}; memory {timing.memory or '-'}, LDS {timing.lds or '-'})"
    return [
        f"  right for {len(right)} of {len(proof.classes)} classes, {proof.ran} members; worst output error {worst:.2e}",
        f"  pages {', '.join(map(str, pages))}; {', '.join(masks)}; items {', '.join(sorted({member.item for member in right}))};"
        f" groups {', '.join(map(str, sorted({member.groups for member in right})))}; spans {', '.join(spans)}",
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
        lines.append(f"{found.wanted.subject.arch} {found.wanted.file}")
        if not found.proofs:
            lines.append("  no recipe is right")
        for proof in found.proofs:
            lines += [f"  {describe(proof.recipe)}", *summary(proof)]
    return "\n".join(lines)


def curve_text(proof: Proof) -> str:
    """Error over the number of keys, a mark for each length, darker for larger errors."""
    marks = "".join(_BARS[_level(error)] for _, error in proof.curve)
    lengths = ", ".join(str(length) for length, _ in proof.curve)
    return f"  error at {lengths} keys: [{marks}]"


def _level(error: float) -> int:
    if error <= _FLOOR:
        return 0
    return min(len(_BARS) - 1, 1 + int((math.log10(error) + 4) * 3))


def curve_svg(found: Sequence[ObjectProof]) -> str:
    """Error over the number of keys of every proof, both axes logarithmic."""
    width, height, left = 900, 520, 60
    lines = []
    names = []
    proofs = [(one.wanted.file, proof) for one in found for proof in one.proofs if proof.curve]
    for number, (file, proof) in enumerate(proofs):
        colour = f"hsl({number * 137 % 360} 70% 40%)"
        points = " ".join(f"{left + _x(length) * (width - left - 20):.1f},{_y(error) * (height - 60) + 20:.1f}" for length, error in proof.curve)
        lines.append(f'<polyline fill="none" stroke="{colour}" points="{points}"><title>{file}</title></polyline>')
        names.append(f'<text x="{left + 10}" y="{height + 14 * number}" fill="{colour}" font-size="11">{file} ({proof.recipe.recipe})</text>')
    ticks = [
        f'<text x="5" y="{_y(10.0**power) * (height - 60) + 24:.1f}" font-size="11">1e{power}</text>' for power in (-4, -3, -2, -1, 0)
    ]
    ticks += [f'<text x="{left + _x(keys) * (width - left - 20):.1f}" y="{height - 25}" font-size="11">{keys}</text>' for keys in (1, 16, 128, 1024, 4096)]
    total = height + 14 * len(names) + 10
    body = "\n".join([*ticks, *lines, *names])
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" font-family="sans-serif">\n{body}\n</svg>\n'


def _x(length: int) -> float:
    return math.log2(max(1, length)) / 13.0


def _y(error: float) -> float:
    return min(1.0, max(0.0, -math.log10(max(error, _FLOOR)) / 4.0))
