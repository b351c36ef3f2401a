"""The error over the number of keys, as text and as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from .battery import Proof
from .kernels import ObjectProof

_MARKS: Final = " .:-=+*#%@"
_FLOOR: Final = 1e-4
_WIDTH: Final = 900
_HEIGHT: Final = 520
_LEFT: Final = 60


def text(proof: Proof) -> str:
    """Error over the number of keys, a mark for each length, darker for larger errors."""
    marks = "".join(_MARKS[_level(error)] for _, error in proof.curve)
    lengths = ", ".join(str(length) for length, _ in proof.curve)
    return f"  error at {lengths} keys: [{marks}]"


def _level(error: float) -> int:
    if error <= _FLOOR:
        return 0
    return min(len(_MARKS) - 1, 1 + int((math.log10(error) + 4) * 3))


def svg(found: Sequence[ObjectProof]) -> str:
    """Error over the number of keys of every proof, both axes logarithmic."""
    body = [f'<text x="5" y="{_y(10.0**power) + 4:.1f}">1e{power}</text>' for power in (-4, -3, -2, -1, 0)]
    body += [f'<text x="{_x(keys):.1f}" y="{_HEIGHT - 25}">{keys}</text>' for keys in (1, 16, 128, 1024, 4096)]
    proofs = [(one.wanted.file, proof) for one in found for proof in one.proofs if proof.curve]
    for number, (file, proof) in enumerate(proofs):
        colour = f"hsl({number * 137 % 360} 70% 40%)"
        points = " ".join(f"{_x(length):.1f},{_y(error):.1f}" for length, error in proof.curve)
        body.append(f'<polyline fill="none" stroke="{colour}" points="{points}"><title>{file}</title></polyline>')
        body.append(f'<text x="{_LEFT + 10}" y="{_HEIGHT + 14 * number}" fill="{colour}">{file} ({proof.recipe.recipe})</text>')
    size = f'width="{_WIDTH}" height="{_HEIGHT + 14 * len(proofs) + 10}"'
    lines = "\n".join(body)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">\n{lines}\n</svg>\n'


def _x(length: int) -> float:
    return _LEFT + math.log2(max(1, length)) / 13.0 * (_WIDTH - _LEFT - 20)


def _y(error: float) -> float:
    share = -math.log10(max(error, _FLOOR)) / 4.0
    return 20 + min(1.0, max(0.0, share)) * (_HEIGHT - 60)
