#include "disassemble.hpp"

#include "decoder.hpp"
#include "disassembler.hpp"

namespace emulator {
namespace {

void print_range(Text& out, char file, unsigned index, unsigned dwords) {
    if (dwords <= 1) {
        out << file;
        out.decimal(index);
        return;
    }
    out << file << '[';
    out.decimal(index) << ':';
    out.decimal(index + dwords - 1) << ']';
}

void print_scalar_register(Text& out, unsigned index, unsigned dwords) {
    constexpr unsigned kFirstSpecial = 102, kFirstTrap = 108, kM0 = 124;
    if (index < kFirstSpecial) {
        print_range(out, 's', index, dwords);
        return;
    }
    if (index >= kFirstTrap && index < kM0) {
        out << "ttm";
        print_range(out, 'p', index - kFirstTrap, dwords);
        return;
    }
    if (index == kM0) {
        out << "m0";
        return;
    }
    out << (index < 104 ? "flat_scratch" : index < 106 ? "xnack_mask" : index < kFirstTrap ? "vcc" : "exec");
    if (dwords == 1) {
        out << (index % 2 == 0 ? "_lo" : "_hi");
    }
}

const char* special_name(unsigned index) {
    switch (index) {
    case 235:
        return "src_shared_base";
    case 236:
        return "src_shared_limit";
    case 237:
        return "src_private_base";
    case 238:
        return "src_private_limit";
    case 239:
        return "src_pops_exiting_wave_id";
    case 251:
        return "src_vccz";
    case 252:
        return "src_execz";
    case 253:
        return "src_scc";
    default:
        return "src_lds_direct";
    }
}

constexpr const char* kFloatTexts[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"};

/// The literal of a double is its high half, printed as such unless the double has a short name.
void print_double_literal(Text& out, std::uint32_t high) {
    if (high == 0) {
        out << '0';
        return;
    }
    constexpr std::uint32_t kHighs[] = {0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000, 0xc0000000, 0x40100000, 0xc0100000};
    for (unsigned index = 0; index < sizeof kHighs / sizeof kHighs[0]; ++index) {
        if (high == kHighs[index]) {
            out << kFloatTexts[index];
            return;
        }
    }
    out.hex(high);
}

bool is_integer16(Type type) {
    return type == Type::b16 || type == Type::i16 || type == Type::u16;
}

bool is_half(Type type) {
    return is_integer16(type) || type == Type::f16 || type == Type::bf16;
}

std::uint32_t encoded_literal(const Operand& operand, Type type) {
    return is_half(type) ? operand.high : operand.value;
}

/// Whether a literal needs the mark that it is one. LLVM looks at all 32 bits of the literal of an integer of 16, at the low half of one
/// of 64.
bool looks_inline(const Operand& operand, Type type) {
    return is_integer16(type) ? is_inline(operand.high, Type::b32) : is_inline(operand.value, type);
}

} // namespace

void print_register(Text& out, const Operand& operand) {
    switch (operand.kind) {
    case Operand::Kind::sgpr:
        print_scalar_register(out, operand.index, operand.dwords);
        break;
    case Operand::Kind::vgpr:
        print_range(out, 'v', operand.index, operand.dwords);
        break;
    case Operand::Kind::agpr:
        print_range(out, 'a', operand.index, operand.dwords);
        break;
    case Operand::Kind::special:
        out << special_name(operand.index);
        break;
    default:
        break;
    }
}

void print_operand(Text& out, const Operand& operand, Type type) {
    if (operand.kind != Operand::Kind::constant) {
        print_register(out, operand);
        return;
    }
    constexpr unsigned kInlineZero = 128, kInline64 = 192, kInlineMinus16 = 208, kHalf = 240, kInverseTwoPi = 248, kLiteral = 255;
    const unsigned code = operand.index;
    if (code >= kInlineZero && code <= kInlineMinus16) {
        out.decimal(code <= kInline64 ? static_cast<int>(code) - static_cast<int>(kInlineZero)
                                      : static_cast<int>(kInline64) - static_cast<int>(code));
    } else if (code >= kHalf && code <= kInverseTwoPi && !is_integer16(type)) {
        const bool wide = dwords_of(type) == 2 && type != Type::pk_f32 && type != Type::pk_b32;
        out << (code == kInverseTwoPi && (wide || type == Type::f64x4) ? "0.15915494309189532" : kFloatTexts[code - kHalf]);
    } else if (code == kLiteral && type == Type::f64) {
        print_double_literal(out, operand.high);
    } else if (code == kLiteral && looks_inline(operand, type)) {
        out << "lit(";
        out.hex(encoded_literal(operand, type)) << ')';
    } else {
        out.hex(type == Type::bf16 ? operand.high : operand.value);
    }
}

void print_trailing_literal(Text& out, const Operand& operand, Type type) {
    out.hex(encoded_literal(operand, type));
}

void print_number(Text& out, std::uint32_t value) {
    constexpr std::uint32_t kFloats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                         0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    const auto integer = static_cast<std::int32_t>(value);
    if (integer >= -16 && integer <= 64) {
        out.decimal(integer);
        return;
    }
    for (unsigned index = 0; index < sizeof kFloats / sizeof kFloats[0]; ++index) {
        if (value == kFloats[index]) {
            out << kFloatTexts[index];
            return;
        }
    }
    out.hex(value);
}

void disassemble(const Instruction& i, char* text, std::size_t capacity) {
    Text out(text, capacity);
    if (i.op == Opcode::count) {
        return;
    }
    const OpcodeInfo& info = opcode_info(i.op);
    out << info.name;
    switch (i.format) {
    case Format::sop1:
    case Format::sop2:
    case Format::sopk:
    case Format::sopc:
    case Format::sopp:
        print_scalar(out, i, info);
        break;
    case Format::smem:
        print_smem(out, i);
        break;
    case Format::vop1:
    case Format::vop2:
    case Format::vop3:
    case Format::vopc:
        print_vector(out, i, info);
        break;
    case Format::vop3p:
        print_packed(out, i, info);
        break;
    case Format::mai:
        print_matrix(out, i, info);
        break;
    case Format::ds:
    case Format::mubuf:
    case Format::flat:
    case Format::global:
    case Format::scratch:
        print_memory(out, i, info);
        break;
    }
}

} // namespace emulator
