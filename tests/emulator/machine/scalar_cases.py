"""Scalar instructions written as functions of Python integers: the oracle of ``test_scalar``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


@dataclass(frozen=True)
class Result:
    """Destination and SCC afterwards; ``None`` leaves it as it was."""

    value: int | None
    scc: bool | None = None


Function = Callable[[int, int, int, bool], Result]
"""Of both 64-bit sources, the old destination and SCC."""


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _lo(function: Callable[[int, int], int], *, flag: bool = True) -> Function:
    def run(a: int, b: int, old: int, scc: bool) -> Result:
        value = function(a & M32, b & M32) & M32
        return Result(value, value != 0 if flag else None)

    return run


def _wide(function: Callable[[int, int], int], *, flag: bool = True) -> Function:
    def run(a: int, b: int, old: int, scc: bool) -> Result:
        value = function(a, b) & M64
        return Result(value, value != 0 if flag else None)

    return run


def _carry(function: Callable[[int, int, int], int]) -> Function:
    def run(a: int, b: int, old: int, scc: bool) -> Result:
        value = function(a & M32, b & M32, int(scc))
        return Result(value & M32, not 0 <= value <= M32)

    return run


def _overflow(function: Callable[[int, int], int]) -> Function:
    def run(a: int, b: int, old: int, scc: bool) -> Result:
        value = function(signed(a), signed(b))
        return Result(value & M32, not -(1 << 31) <= value < 1 << 31)

    return run


def _choice(first: Callable[[int, int], bool], *, sign: bool) -> Function:
    def run(a: int, b: int, old: int, scc: bool) -> Result:
        x, y = (signed(a), signed(b)) if sign else (a & M32, b & M32)
        took = first(x, y)
        return Result((a if took else b) & M32, took)

    return run


def _compare(test: Callable[[int, int], bool], *, sign: bool) -> Function:
    def run(a: int, b: int, old: int, scc: bool) -> Result:
        x, y = (signed(a), signed(b)) if sign else (a & M32, b & M32)
        return Result(None, test(x, y))

    return run


def _field(bits: int, *, sign: bool) -> Callable[[int, int], int]:
    def run(a: int, b: int) -> int:
        offset, width = b & (bits - 1), b >> 16 & 127
        if width == 0:
            return 0
        value = (signed(a, bits) if sign else a) >> offset & ((1 << min(width, bits)) - 1)
        return signed(value, min(width, bits)) if sign else value

    return run


def _first(bits: int, wanted: int) -> Callable[[int, int], int]:
    return lambda a, _: next((i for i in range(bits) if a >> i & 1 == wanted), M32)


def _leading(bits: int) -> Callable[[int, int], int]:
    return lambda a, _: next((i for i in range(bits) if a >> (bits - 1 - i) & 1), M32)


def _unlike(bits: int) -> Callable[[int, int], int]:
    return lambda a, _: next((i for i in range(1, bits) if a >> (bits - 1 - i) & 1 != a >> (bits - 1)), M32)


def _quads(bits: int, each: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, _: sum(each(i, int(a >> (4 * i) & 15 != 0)) for i in range(bits // 4))


def _bits(value: int, bits: int) -> str:
    return format(value & ((1 << bits) - 1), f"0{bits}b")


TWO_SOURCES: dict[str, tuple[Function, int, int, int]] = {}
"""Mnemonic to function and the registers of destination, first and second source (0: no destination)."""


def _two(name: str, function: Function, registers: tuple[int, int, int] = (1, 1, 1)) -> None:
    TWO_SOURCES[name] = (function, *registers)


_two("s_add_u32", _carry(lambda a, b, c: a + b))
_two("s_sub_u32", _carry(lambda a, b, c: a - b))
_two("s_addc_u32", _carry(lambda a, b, c: a + b + c))
_two("s_subb_u32", _carry(lambda a, b, c: a - b - c))
_two("s_add_i32", _overflow(lambda a, b: a + b))
_two("s_sub_i32", _overflow(lambda a, b: a - b))
_two("s_lshl1_add_u32", _carry(lambda a, b, c: (a << 1) + b))
_two("s_lshl2_add_u32", _carry(lambda a, b, c: (a << 2) + b))
_two("s_lshl3_add_u32", _carry(lambda a, b, c: (a << 3) + b))
_two("s_lshl4_add_u32", _carry(lambda a, b, c: (a << 4) + b))
_two("s_min_i32", _choice(lambda a, b: a < b, sign=True))
_two("s_min_u32", _choice(lambda a, b: a < b, sign=False))
_two("s_max_i32", _choice(lambda a, b: a >= b, sign=True))
_two("s_max_u32", _choice(lambda a, b: a >= b, sign=False))
_two("s_cselect_b32", lambda a, b, old, scc: Result((a if scc else b) & M32))
_two("s_cselect_b64", lambda a, b, old, scc: Result(a if scc else b), (2, 2, 2))
_LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}
for _name, _logic in _LOGIC.items():
    _two(f"s_{_name}_b32", _lo(_logic))
    _two(f"s_{_name}_b64", _wide(_logic), (2, 2, 2))
_two("s_lshl_b32", _lo(lambda a, b: a << (b & 31)))
_two("s_lshr_b32", _lo(lambda a, b: a >> (b & 31)))
_two("s_ashr_i32", _lo(lambda a, b: signed(a) >> (b & 31)))
_two("s_lshl_b64", _wide(lambda a, b: a << (b & 63)), (2, 2, 1))
_two("s_lshr_b64", _wide(lambda a, b: a >> (b & 63)), (2, 2, 1))
_two("s_ashr_i64", _wide(lambda a, b: signed(a, 64) >> (b & 63)), (2, 2, 1))
_two("s_bfm_b32", _lo(lambda a, b: ((1 << (a & 31)) - 1) << (b & 31), flag=False))
_two("s_bfm_b64", _wide(lambda a, b: ((1 << (a & 63)) - 1) << (b & 63), flag=False), (2, 1, 1))
_two("s_mul_i32", _lo(lambda a, b: a * b, flag=False))
_two("s_mul_hi_u32", _lo(lambda a, b: a * b >> 32, flag=False))
_two("s_mul_hi_i32", _lo(lambda a, b: signed(a) * signed(b) >> 32, flag=False))
_two("s_bfe_u32", _lo(_field(32, sign=False)))
_two("s_bfe_i32", _lo(_field(32, sign=True)))
_two("s_bfe_u64", _wide(_field(64, sign=False)), (2, 2, 1))
_two("s_bfe_i64", _wide(_field(64, sign=True)), (2, 2, 1))
_two("s_absdiff_i32", _lo(lambda a, b: abs(signed(a - b))))
_two("s_pack_ll_b32_b16", _lo(lambda a, b: (a & 0xFFFF) | b << 16, flag=False))
_two("s_pack_lh_b32_b16", _lo(lambda a, b: (a & 0xFFFF) | (b & 0xFFFF0000), flag=False))
_two("s_pack_hh_b32_b16", _lo(lambda a, b: a >> 16 | (b & 0xFFFF0000), flag=False))
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}
for _name, _test in _TESTS.items():
    _two(f"s_cmp_{_name}_i32", _compare(_test, sign=True), (0, 1, 1))
    _two(f"s_cmp_{_name}_u32", _compare(_test, sign=False), (0, 1, 1))
_two("s_cmp_eq_u64", lambda a, b, old, scc: Result(None, a == b), (0, 2, 2))
_two("s_cmp_lg_u64", lambda a, b, old, scc: Result(None, a != b), (0, 2, 2))
_two("s_bitcmp0_b32", lambda a, b, old, scc: Result(None, a >> (b & 31) & 1 == 0), (0, 1, 1))
_two("s_bitcmp1_b32", lambda a, b, old, scc: Result(None, a >> (b & 31) & 1 == 1), (0, 1, 1))
_two("s_bitcmp0_b64", lambda a, b, old, scc: Result(None, a >> (b & 63) & 1 == 0), (0, 2, 1))
_two("s_bitcmp1_b64", lambda a, b, old, scc: Result(None, a >> (b & 63) & 1 == 1), (0, 2, 1))

ONE_SOURCE: dict[str, tuple[Function, int, int]] = {}
"""Mnemonic to function and the registers of destination and source."""


def _one(name: str, function: Function, registers: tuple[int, int] = (1, 1)) -> None:
    ONE_SOURCE[name] = (function, *registers)


_one("s_mov_b32", _lo(lambda a, b: a, flag=False))
_one("s_mov_b64", _wide(lambda a, b: a, flag=False), (2, 2))
_one("s_cmov_b32", lambda a, b, old, scc: Result(a & M32 if scc else None))
_one("s_cmov_b64", lambda a, b, old, scc: Result(a if scc else None), (2, 2))
_one("s_not_b32", _lo(lambda a, b: ~a))
_one("s_not_b64", _wide(lambda a, b: ~a), (2, 2))
_one("s_wqm_b32", _lo(_quads(32, lambda i, any_bit: any_bit * 15 << 4 * i)))
_one("s_wqm_b64", _wide(_quads(64, lambda i, any_bit: any_bit * 15 << 4 * i)), (2, 2))
_one("s_quadmask_b32", _lo(_quads(32, lambda i, any_bit: any_bit << i)))
_one("s_quadmask_b64", _wide(_quads(64, lambda i, any_bit: any_bit << i)), (2, 2))
_one("s_brev_b32", _lo(lambda a, b: int(_bits(a, 32)[::-1], 2), flag=False))
_one("s_brev_b64", _wide(lambda a, b: int(_bits(a, 64)[::-1], 2), flag=False), (2, 2))
_one("s_bcnt0_i32_b32", _lo(lambda a, b: _bits(a, 32).count("0")))
_one("s_bcnt0_i32_b64", _wide(lambda a, b: _bits(a, 64).count("0")), (1, 2))
_one("s_bcnt1_i32_b32", _lo(lambda a, b: _bits(a, 32).count("1")))
_one("s_bcnt1_i32_b64", _wide(lambda a, b: _bits(a, 64).count("1")), (1, 2))
_one("s_ff0_i32_b32", _lo(_first(32, 0), flag=False))
_one("s_ff0_i32_b64", _wide(_first(64, 0), flag=False), (1, 2))
_one("s_ff1_i32_b32", _lo(_first(32, 1), flag=False))
_one("s_ff1_i32_b64", _wide(_first(64, 1), flag=False), (1, 2))
_one("s_flbit_i32_b32", _lo(_leading(32), flag=False))
_one("s_flbit_i32_b64", _wide(_leading(64), flag=False), (1, 2))
_one("s_flbit_i32", _lo(_unlike(32), flag=False))
_one("s_flbit_i32_i64", _wide(_unlike(64), flag=False), (1, 2))
_one("s_sext_i32_i8", _lo(lambda a, b: signed(a, 8), flag=False))
_one("s_sext_i32_i16", _lo(lambda a, b: signed(a, 16), flag=False))
_one("s_bitset0_b32", lambda a, b, old, scc: Result(old & M32 & ~(1 << (a & 31))))
_one("s_bitset1_b32", lambda a, b, old, scc: Result(old & M32 | 1 << (a & 31)))
_one("s_bitset0_b64", lambda a, b, old, scc: Result(old & ~(1 << (a & 63))), (2, 1))
_one("s_bitset1_b64", lambda a, b, old, scc: Result(old | 1 << (a & 63)), (2, 1))
_one("s_abs_i32", _lo(lambda a, b: abs(signed(a))))
_one("s_bitreplicate_b64_b32", _wide(lambda a, b: int("".join(bit * 2 for bit in _bits(a, 32)), 2), flag=False), (2, 1))
