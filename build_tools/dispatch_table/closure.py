"""Closes the problem domain of one arch: every problem gets exactly one plan or one refusal, stored as a decision diagram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from aiter_mla_aot.problem import DTYPE_PAIRS, MAX_HEADS, MAX_Q_LEN, MODES, PAGE_SIZES
from aiter_mla_aot.rules import FAILURE_ORDER, Claim, Flags, Fold, Gate, HardwareRule, failures, layout, one_token_items, rank
from build_tools.errors import ShadowedKey

_BOOLEAN: Final = (False, True)
FLAG_VALUES: Final[tuple[tuple[Any, ...], ...]] = (_BOOLEAN, PAGE_SIZES, _BOOLEAN, _BOOLEAN, _BOOLEAN, _BOOLEAN, _BOOLEAN)
_ALL_FLAGS: Final = tuple(Flags(*values) for values in product(*FLAG_VALUES))
_NO_FLAGS: Final = Flags(False, 1, True, False, False, False, False)

Leaf = tuple[int, bool] | str
"""Index of the kernel and whether its items hold one token each, or a refusal code."""

Verdict = tuple[tuple[str, ...], bool]
"""The codes a candidate fails with, none if it may serve, and whether its items hold one token each."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel with a claim, as the closure needs it."""

    index: int
    name: str
    claim: Claim
    gates: tuple[Gate, ...]
    lifts: tuple[HardwareRule, ...] = ()


@dataclass(slots=True)
class Diagram:
    """A decision diagram under construction: equal nodes are stored once."""

    leaf_number: Mapping[Leaf, int] | None = None
    nodes: list[Any] = field(default_factory=list)
    _places: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def node(self, entries: Sequence[Any]) -> int:
        """The place of a node with these entries."""
        key = tuple(entries)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.nodes)
            self.nodes.extend(key)
        return place


@dataclass(slots=True)
class Closure:
    """The closed domain of one catalog."""

    root: int
    nodes: list[Any]
    """Entries: places of nodes, and on the last axis leaves."""
    winners: set[int]
    """Indices of the kernels that serve at least one problem."""
    counts: Counter[tuple[str, str, str]]
    """Problems by (mode, dtypes, route or refusal code)."""


def close(candidates: Sequence[Candidate], folds: Mapping[str, Fold], catalogued_pairs: frozenset[tuple[str, str, str]]) -> Closure:
    """Enumerate the whole domain for one catalog.

    catalogued_pairs: (mode, q_dtype, kv_dtype) of every claimed kernel of the arch, in this catalog or not.
    Raises ``ShadowedKey`` where two kernels are equally good for one problem.
    """
    diagram = Diagram()
    result = Closure(0, diagram.nodes, set(), Counter())
    modes = []
    for mode in MODES:
        pairs = []
        for q_dtype, kv_dtype in DTYPE_PAIRS:
            fitting = [c for c in candidates if (c.claim.mode, c.claim.q_dtype, c.claim.kv_dtype) == (mode, q_dtype, kv_dtype)]
            empty = _code_without_candidates(mode, q_dtype, kv_dtype, catalogued_pairs)
            pairs.append(_close_pair(diagram, result, f"{q_dtype}/{kv_dtype}", mode, fitting, folds, empty))
        modes.append(diagram.node(pairs))
    result.root = diagram.node(modes)
    return result


def _code_without_candidates(mode: str, q_dtype: str, kv_dtype: str, catalogued: frozenset[tuple[str, str, str]]) -> str:
    if (mode, q_dtype, kv_dtype) in catalogued:
        return "not_in_wheel"
    return "mode" if any((other, q_dtype, kv_dtype) in catalogued for other in MODES) else "dtypes"


def _close_pair(
    diagram: Diagram, result: Closure, dtypes: str, mode: str, candidates: Sequence[Candidate], folds: Mapping[str, Fold], empty: str
) -> int:
    memo: dict[Any, tuple[int, Counter[Leaf]]] = {}
    known: dict[Any, tuple[Verdict, ...]] = {}
    by_heads = []
    for heads in range(1, MAX_HEADS + 1):
        by_q_len = []
        for q_len in range(1, MAX_Q_LEN + 1):
            order = _order(candidates, heads, q_len)
            signatures = tuple((c.index, _signature(c, heads, q_len)) for c in candidates)
            whole = (signatures, tuple(order.values()))
            if whole not in memo:
                for c, signature in zip(candidates, signatures, strict=True):
                    if signature not in known:
                        known[signature] = _verdicts(c, folds, heads, q_len)
                columns = [known[signature] for signature in signatures]
                leaves = [_answer(candidates, [column[i] for column in columns], order, empty) for i in range(len(_ALL_FLAGS))]
                result.winners.update(leaf[0] for leaf in leaves if not isinstance(leaf, str))
                memo[whole] = (_flag_nodes(diagram, leaves), Counter(leaves))
            place, leaf_counts = memo[whole]
            by_q_len.append(place)
            for leaf, count in leaf_counts.items():
                result.counts[mode, dtypes, _outcome(candidates, leaf, heads, q_len)] += count
        by_heads.append(diagram.node(by_q_len))
    return diagram.node(by_heads)


def _signature(candidate: Candidate, heads: int, q_len: int) -> tuple[Any, ...]:
    """Everything of (heads, q_len) that the candidate's failures depend on: equal signatures fail alike on all other axes."""
    claim = candidate.claim
    parts: list[Any] = []
    for single in _BOOLEAN:
        shape = layout(claim, heads, q_len, single)
        parts += [shape.folds, shape.tokens_per_item >= claim.min_tokens]
    for causal, sparse in product(_BOOLEAN, _BOOLEAN):
        parts.append(one_token_items(claim, heads, q_len, _NO_FLAGS._replace(causal=causal, sparse=sparse)))
    for when in (rule.when for rules in (candidate.gates, candidate.lifts) for rule in rules):
        parts.append(heads in when.get("heads", (heads,)) and q_len in when.get("q_len", (q_len,)))
    return tuple(parts)


def _order(candidates: Sequence[Candidate], heads: int, q_len: int) -> dict[tuple[int, bool], int]:
    """Each (candidate, one-token items or not) with its place in the order of preference; equally good ones share a place."""
    ranks = {(c.index, single): rank(c.claim, heads, q_len, single) for c in candidates for single in _BOOLEAN}
    places = {value: number for number, value in enumerate(sorted(set(ranks.values())))}
    return {key: places[value] for key, value in ranks.items()}


def _verdicts(candidate: Candidate, folds: Mapping[str, Fold], heads: int, q_len: int) -> tuple[Verdict, ...]:
    """For every value of the flags: the codes that the candidate fails with, and whether its items hold one token each."""
    result = []
    for flags in _ALL_FLAGS:
        found = failures(candidate.claim, candidate.gates, folds, heads, q_len, flags, candidate.lifts)
        codes = tuple(dict.fromkeys(failure.code for failure in found))
        result.append((codes, one_token_items(candidate.claim, heads, q_len, flags)))
    return tuple(result)


def _answer(candidates: Sequence[Candidate], verdicts: Sequence[Verdict], order: Mapping[tuple[int, bool], int], empty: str) -> Leaf:
    served = [(order[c.index, single], c.index, single) for c, (codes, single) in zip(candidates, verdicts, strict=True) if not codes]
    if not served:
        # The closest candidate speaks: fewest failures, and among those the one whose shape fits best.
        refused = [(len(codes), [-FAILURE_ORDER.index(code) for code in codes], codes[0]) for codes, _ in verdicts]
        return min(refused)[2] if refused else empty
    served.sort()
    if len(served) > 1 and served[0][0] == served[1][0]:
        first, second = (next(c.name for c in candidates if c.index == index) for _, index, _ in served[:2])
        raise ShadowedKey(
            f"{first} and {second} serve one problem equally well",
            cause="the answer would depend on the order of rows",
            remedy="narrow one claim, or let the newer object supersede the older",
        )
    return served[0][1:]


def _flag_nodes(diagram: Diagram, leaves: Sequence[Leaf]) -> int:
    level: list[Any] = list(leaves)
    for values in reversed(FLAG_VALUES):
        width = len(values)
        level = [diagram.node(level[start : start + width]) for start in range(0, len(level), width)]
    return int(level[0])


def _outcome(candidates: Sequence[Candidate], leaf: Leaf, heads: int, q_len: int) -> str:
    if isinstance(leaf, str):
        return f"refused: {leaf}"
    claim = next(c.claim for c in candidates if c.index == leaf[0])
    return layout(claim, heads, q_len, leaf[1]).route
