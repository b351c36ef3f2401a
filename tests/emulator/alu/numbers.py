"""Floating point formats in exact arithmetic: what their bits stand for, and the bits nearest to a number."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Number = Fraction | str  # "nan", "inf", "-inf"; zeros carry no sign here


@dataclass(frozen=True)
class Format:
    """A binary format: `top` says what the highest codes are ("ieee", "nan", "fnuz", "none")."""

    exponent_bits: int
    mantissa_bits: int
    bias: int
    top: str = "ieee"

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def greatest(self) -> int:
        return {"ieee": self.infinity - 1, "nan": self.sign - 2, "fnuz": self.sign - 1, "none": self.sign - 1}[self.top]

    def is_nan(self, bits: int) -> bool:
        magnitude = bits & (self.sign - 1)
        return {
            "ieee": magnitude > self.infinity,
            "nan": magnitude == self.sign - 1,
            "fnuz": bits & (2 * self.sign - 1) == self.sign,
            "none": False,
        }[self.top]

    def value(self, bits: int) -> Number:
        magnitude = bits & (self.sign - 1)
        if self.is_nan(bits):
            return "nan"
        negative = bits & self.sign != 0
        if self.top == "ieee" and magnitude == self.infinity:
            return "-inf" if negative else "inf"
        exponent, fraction = magnitude >> self.mantissa_bits, magnitude & ((1 << self.mantissa_bits) - 1)
        significand = fraction | (1 << self.mantissa_bits) if exponent else fraction
        number = significand * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa_bits)
        return -number if negative else number

    def round(self, number: Fraction, negative_zero: bool = False) -> int:
        """Bits of the nearest value, ties to even; beyond the greatest value, the code after it."""
        sign = self.sign if number < 0 or (number == 0 and negative_zero) else 0
        magnitude = abs(number)
        if magnitude == 0:
            return sign
        exponent = max(floor_log2(magnitude), 1 - self.bias)
        quantum = Fraction(2) ** (exponent - self.mantissa_bits)
        steps = round(magnitude / quantum)  # Python rounds halves to even
        code = steps + ((exponent + self.bias - 1) << self.mantissa_bits) if exponent > 1 - self.bias else steps
        return sign | min(code, self.greatest + 1)


def floor_log2(number: Fraction) -> int:
    """Greatest e with 2^e <= number."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


F16 = Format(5, 10, 15)
BF16 = Format(8, 7, 127)
F32 = Format(8, 23, 127)
F64 = Format(11, 52, 1023)
FP8 = {942: Format(4, 3, 8, "fnuz"), 950: Format(4, 3, 7, "nan")}
BF8 = {942: Format(5, 2, 16, "fnuz"), 950: Format(5, 2, 15, "ieee")}
FP6, BF6, FP4 = Format(2, 3, 1, "none"), Format(3, 2, 3, "none"), Format(2, 1, 1, "none")
QUIET = {16: 0x200, 32: 0x400000, 64: 1 << 51}
DEFAULT_NAN = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8 << 48}


def edges(fmt: Format) -> list[int]:
    """Zeros, denormals, the ends of the range, infinities and NaNs, of both signs."""
    least = 1 << fmt.mantissa_bits
    one = fmt.bias << fmt.mantissa_bits
    positive = [0, 1, least - 1, least, least + 1, one, one + 1, one - 1, one + (least >> 1), fmt.greatest - 1, fmt.greatest, fmt.infinity]
    positive += [fmt.infinity + 1, fmt.infinity + (least >> 1), fmt.sign - 1]
    return [bits | sign for bits in positive for sign in (0, fmt.sign)]


def samples(fmt: Format, rng: np.random.Generator, count: int) -> list[int]:
    """Edges and random bits, mixed, some of them near one."""
    pool = edges(fmt)
    picks = rng.integers(0, 4, count)
    result = []
    for pick in picks:
        if pick == 0:
            result.append(pool[int(rng.integers(len(pool)))])
        elif pick == 1:
            result.append(
                int(rng.integers(0, 1 << fmt.width, dtype=np.uint64))
                if fmt.width < 64
                else int(rng.integers(0, 1 << 63, dtype=np.uint64)) * 2 + 1
            )
        else:
            value = Fraction(float(rng.standard_normal() * 4.0 ** float(rng.integers(-3, 4))))
            result.append(fmt.round(value))
    return result


def flush(fmt: Format, bits: int, keep: bool) -> int:
    """A denormal becomes a zero of its sign unless it is kept."""
    magnitude = bits & (fmt.sign - 1)
    return bits if keep or magnitude >= 1 << fmt.mantissa_bits else bits & fmt.sign


def to_words(bits: list[int]) -> NDArray[np.uint32]:
    return np.array(bits, dtype=np.uint32)
