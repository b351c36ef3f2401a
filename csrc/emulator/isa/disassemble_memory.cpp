// DS, MUBUF, FLAT, GLOBAL and SCRATCH.
#include "disassembler.hpp"

namespace emulator {
namespace {

void print_offset(Text& out, const char* name, std::int32_t value) {
    if (value != 0) {
        out << ' ' << name << ':';
        out.decimal(value);
    }
}

void print_if_present(Text& out, const Operand& operand) {
    if (operand.kind != Operand::Kind::none) {
        print_register(out.separate(), operand);
    }
}

void print_or_off(Text& out, const Operand& operand) {
    out.separate();
    if (operand.kind == Operand::Kind::none) {
        out << "off";
    } else {
        print_register(out, operand);
    }
}

void print_policy(Text& out, const Instruction& i) {
    out << (i.sc0 ? " sc0" : "") << (i.nt ? " nt" : "") << (i.sc1 ? " sc1" : "");
}

bool is_power_of_two(unsigned value) {
    return value != 0 && (value & (value - 1)) == 0;
}

void print_numbers(Text& out, const char* name, unsigned first, unsigned second) {
    out << name << ',';
    out.decimal(first) << ',';
    out.decimal(second);
}

/// Each character tells what a lane's bit becomes: 0, 1, itself (p) or its opposite (i).
void print_bit_mask(Text& out, unsigned and_mask, unsigned or_mask, unsigned xor_mask) {
    const unsigned from_zero = or_mask ^ xor_mask, from_one = (and_mask | or_mask) ^ xor_mask;
    out << "BITMASK_PERM,\"";
    for (int bit = 4; bit >= 0; --bit) {
        out << "0ip1"[(from_zero >> bit & 1) + 2 * (from_one >> bit & 1)];
    }
    out << '"';
}

void print_swizzle(Text& out, unsigned imm) {
    constexpr unsigned kFft = 0xe000, kRotate = 0xc000, kQuad = 0x8000, kLanes = 32;
    if (imm == 0) {
        return;
    }
    const unsigned and_mask = imm & 31, or_mask = imm >> 5 & 31, xor_mask = imm >> 10 & 31;
    out << " offset:";
    if (imm >= kFft) {
        out << "swizzle(FFT,";
        out.decimal(and_mask) << ')';
    } else if (imm >= kRotate) {
        out << "swizzle(";
        print_numbers(out, "ROTATE", imm >> 10 & 1, or_mask);
        out << ')';
    } else if ((imm & 0xff00) == kQuad) {
        out << "swizzle(QUAD_PERM";
        for (int n = 0; n < 4; ++n) {
            out << ',' << static_cast<char>('0' + (imm >> (2 * n) & 3));
        }
        out << ')';
    } else if (imm >= kQuad) {
        out.decimal(imm);
    } else {
        const unsigned group = kLanes - and_mask;
        out << "swizzle(";
        if (and_mask == 31 && or_mask == 0 && is_power_of_two(xor_mask)) {
            out << "SWAP,";
            out.decimal(xor_mask);
        } else if (and_mask == 31 && or_mask == 0 && xor_mask > 0 && is_power_of_two(xor_mask + 1)) {
            out << "REVERSE,";
            out.decimal(xor_mask + 1);
        } else if (group > 1 && is_power_of_two(group) && or_mask < group && xor_mask == 0) {
            print_numbers(out, "BROADCAST", group, or_mask);
        } else {
            print_bit_mask(out, and_mask, or_mask, xor_mask);
        }
        out << ')';
    }
}

void print_ds(Text& out, const Instruction& i, const OpcodeInfo& info) {
    print_if_present(out, i.dst);
    for (int n = 0; n < 3; ++n) {
        print_if_present(out, i.src[n]);
    }
    if (info.has(trait::two_offsets)) {
        print_offset(out, "offset0", i.imm & 255);
        print_offset(out, "offset1", i.imm >> 8);
    } else if (i.op == Opcode::ds_swizzle_b32) {
        print_swizzle(out, static_cast<unsigned>(i.imm));
    } else {
        print_offset(out, "offset", i.imm);
    }
    out << (i.gds ? " gds" : "");
}

void print_mubuf(Text& out, const Instruction& i, const OpcodeInfo& info) {
    if (info.src[0] != Type::none) {
        print_if_present(out, i.src[3].kind != Operand::Kind::none ? i.src[3] : i.dst);
        print_or_off(out, i.src[0]);
        print_register(out.separate(), i.src[1]);
        print_operand(out.separate(), i.src[2], Type::b32);
        out << (i.idxen ? " idxen" : "") << (i.offen ? " offen" : "");
        print_offset(out, "offset", i.imm);
    }
    print_policy(out, i);
    out << (i.lds ? " lds" : "");
}

void print_flat(Text& out, const Instruction& i) {
    print_if_present(out, i.dst);
    if (i.format == Format::scratch) {
        print_or_off(out, i.src[0]);
    } else {
        print_register(out.separate(), i.src[0]);
    }
    print_if_present(out, i.src[1]);
    if (i.format != Format::flat) {
        print_or_off(out, i.src[2]);
    }
    print_offset(out, "offset", i.imm);
    print_policy(out, i);
}

} // namespace

void print_memory(Text& out, const Instruction& i, const OpcodeInfo& info) {
    switch (i.format) {
    case Format::ds:
        print_ds(out, i, info);
        break;
    case Format::mubuf:
        print_mubuf(out, i, info);
        break;
    default:
        print_flat(out, i);
    }
}

} // namespace emulator
