// Register and constant fields.
#include "decoder.hpp"

namespace emulator {
namespace {

constexpr unsigned kInlineZero = 128, kInline64 = 192, kInlineMinus16 = 208, kHalf = 240, kInverseTwoPi = 248, kLiteral = 255,
                   kFirstVgpr = 256;

// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) in each width.
constexpr std::uint16_t kFloat16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr std::uint16_t kBfloat16[] = {0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22};
constexpr std::uint32_t kFloat32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr std::uint64_t kFloat64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000,
                                      0xc000000000000000, 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

/// An inline float has the width of its operand, integer or not; a packed integer takes it as 32 bits.
std::uint64_t inline_float(unsigned index, Type type) {
    switch (type) {
    case Type::b16:
    case Type::i16:
    case Type::u16:
    case Type::f16:
    case Type::pk_f16:
        return kFloat16[index];
    case Type::bf16:
    case Type::pk_bf16:
        return kBfloat16[index];
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64:
    case Type::f64x4:
        return kFloat64[index];
    default:
        return kFloat32[index];
    }
}

bool is_half(Type type) {
    return type == Type::b16 || type == Type::i16 || type == Type::u16 || type == Type::f16 || type == Type::bf16;
}

void set(Operand& out, unsigned code, Type type, std::uint64_t value) {
    out.kind = Operand::Kind::constant;
    out.dwords = dwords_of(type);
    out.index = static_cast<std::uint16_t>(code);
    out.value = static_cast<std::uint32_t>(value);
    out.high = static_cast<std::uint32_t>(value >> 32);
}

} // namespace

bool is_inline(std::uint64_t value, Type type) {
    const unsigned dwords = dwords_of(type);
    const std::int64_t integer = is_half(type) ? static_cast<std::int16_t>(value)
                                 : dwords == 1 ? static_cast<std::int32_t>(value)
                                               : static_cast<std::int64_t>(value);
    if (integer >= -16 && integer <= 64) {
        return true;
    }
    for (unsigned index = 0; index <= kInverseTwoPi - kHalf; ++index) {
        if (value == inline_float(index, type)) {
            return true;
        }
    }
    return false;
}

bool Decoder::sgpr(unsigned code, Type type, Operand& out) {
    constexpr unsigned kFirstSpecial = 102, kFirstTrap = 108, kM0 = 124, kNoRegister = 125, kExec = 126;
    const unsigned dwords = dwords_of(type);
    // Hardware takes tuples at even registers, those of four and more at multiples of four.
    const unsigned index = dwords == 1 ? code : dwords == 2 ? code & ~1u : code & ~3u;
    const unsigned end = code < kFirstSpecial ? kFirstSpecial
                         : code < kFirstTrap  ? kFirstTrap
                         : code < kM0         ? kM0
                         : code == kM0        ? kM0 + 1
                                              : kExec + 2;
    const bool special_tuple = code >= kFirstSpecial && code < kFirstTrap && dwords > 2;
    if (code > kExec + 1 || code == kNoRegister || index + dwords > end || special_tuple) {
        return fail(DecodeFailure::bad_operand);
    }
    out = {.kind = Operand::Kind::sgpr, .dwords = static_cast<std::uint8_t>(dwords), .index = static_cast<std::uint16_t>(index)};
    return true;
}

bool Decoder::vgprs(unsigned index, unsigned dwords, bool acc, Operand& out) {
    if (index + dwords > 256) {
        return fail(DecodeFailure::bad_operand);
    }
    out = {.kind = acc ? Operand::Kind::agpr : Operand::Kind::vgpr,
           .dwords = static_cast<std::uint8_t>(dwords),
           .index = static_cast<std::uint16_t>(index)};
    return true;
}

bool Decoder::literal(Type type, Operand& out) {
    std::uint32_t value = 0;
    if (!word(literal_offset, value)) {
        return false;
    }
    if (!has_literal) {
        has_literal = true;
        i.size = static_cast<std::uint8_t>(i.size + 4);
    }
    // Thirty-two bits are the high half of a double and hold a value of sixteen bits in their low half.
    if (type == Type::f64) {
        set(out, kLiteral, type, std::uint64_t{value} << 32);
    } else if (type == Type::i64) {
        set(out, kLiteral, type, static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value))));
    } else if (is_half(type)) {
        set(out, kLiteral, type, (value & 0xffff) | std::uint64_t{value} << 32);
    } else {
        set(out, kLiteral, type, value);
    }
    return true;
}

bool Decoder::constant(unsigned code, Type type, Operand& out) {
    if (code >= kInlineZero && code <= kInline64) {
        set(out, code, type, code - kInlineZero);
    } else if (code > kInline64 && code <= kInlineMinus16) {
        const auto value = static_cast<std::int64_t>(kInline64) - static_cast<std::int64_t>(code);
        set(out, code, type, type == Type::pk_f32 ? static_cast<std::uint32_t>(value) : static_cast<std::uint64_t>(value));
        if (dwords_of(type) == 1) {
            out.high = 0;
        }
    } else if (code >= kHalf && code <= kInverseTwoPi) {
        set(out, code, type, inline_float(code - kHalf, type));
    } else {
        return fail(DecodeFailure::bad_operand);
    }
    return true;
}

bool Decoder::scalar_source(unsigned code, Type type, Operand& out) {
    if (code < kInlineZero) {
        return sgpr(code, type, out);
    }
    if (code == kLiteral) {
        return literal(type, out);
    }
    if ((code >= 235 && code <= 239) || (code >= 251 && code <= 254)) {
        out = {.kind = Operand::Kind::special, .dwords = dwords_of(type), .index = static_cast<std::uint16_t>(code)};
        return true;
    }
    return constant(code, type, out);
}

bool Decoder::source(unsigned code, Type type, bool acc, Operand& out) {
    return code >= kFirstVgpr ? vgpr(code - kFirstVgpr, type, acc, out) : scalar_source(code, type, out);
}

} // namespace emulator
