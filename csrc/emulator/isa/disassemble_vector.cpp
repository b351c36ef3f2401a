// VOP1, VOP2, VOP3 and VOPC in every encoding, VOP3P and MAI.
#include "disassembler.hpp"

namespace emulator {
namespace {

bool bit(std::uint8_t bits, int index) {
    return (bits >> index & 1) != 0;
}

const char* suffix(const Instruction& i, const OpcodeInfo& info) {
    if (info.has(trait::plain)) {
        return "";
    }
    switch (i.encoding) {
    case Encoding::dpp:
        return "_dpp";
    case Encoding::sdwa:
        return "_sdwa";
    default:
        break;
    }
    const std::uint8_t both = form::e32 | form::e64;
    if ((info.forms & both) != both) {
        return "";
    }
    return i.encoding == Encoding::e64 ? "_e64" : "_e32";
}

void print_source(Text& out, const Instruction& i, const OpcodeInfo& info, int n) {
    const bool neg = bit(i.neg, n), abs = bit(i.abs, n);
    const bool sext = i.encoding == Encoding::sdwa && (n == 0 ? i.sdwa.src0_sext : n == 1 && i.sdwa.src1_sext);
    // A minus before a number would read as another number.
    const bool neg_call = neg && !abs && i.src[n].kind == Operand::Kind::constant;
    out << (neg_call ? "neg(" : neg ? "-" : "") << (abs ? "|" : "") << (sext ? "sext(" : "");
    print_operand(out, i.src[n], n < 3 ? info.src[n] : Type::b32);
    out << (sext ? ")" : "") << (abs ? "|" : "") << (neg_call ? ")" : "");
}

void print_bits(Text& out, const char* name, unsigned value, int count) {
    out << ' ' << name << ":[";
    for (int n = 0; n < count; ++n) {
        out << (n == 0 ? "" : ",") << ((value >> n & 1) != 0 ? '1' : '0');
    }
    out << ']';
}

void print_dpp(Text& out, const Dpp& dpp) {
    const unsigned control = dpp.control, lanes = control & 15;
    const auto numbered = [&](const char* name, unsigned value) {
        out << ' ' << name << ':';
        out.decimal(value);
    };
    if (control < 0x100) {
        out << " quad_perm:[";
        for (int n = 0; n < 4; ++n) {
            out << (n == 0 ? "" : ",") << static_cast<char>('0' + (control >> (2 * n) & 3));
        }
        out << ']';
    } else if (control < 0x130) {
        numbered(control < 0x110 ? "row_shl" : control < 0x120 ? "row_shr" : "row_ror", lanes);
    } else if (control < 0x140) {
        numbered(control == 0x130 ? "wave_shl" : control == 0x134 ? "wave_rol" : control == 0x138 ? "wave_shr" : "wave_ror", 1);
    } else if (control < 0x150) {
        switch (control) {
        case 0x140:
            out << " row_mirror";
            break;
        case 0x141:
            out << " row_half_mirror";
            break;
        default:
            numbered("row_bcast", control == 0x142 ? 15 : 31);
        }
    } else {
        numbered("row_newbcast", lanes);
    }
    out << " row_mask:";
    out.hex(dpp.row_mask) << " bank_mask:";
    out.hex(dpp.bank_mask) << (dpp.bound_ctrl ? " bound_ctrl:1" : "");
}

void print_sdwa(Text& out, const Instruction& i, const OpcodeInfo& info) {
    constexpr const char* kSelect[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
    constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
    if (i.format != Format::vopc && !info.has(trait::whole_dst)) {
        out << " dst_sel:" << kSelect[i.sdwa.dst_sel] << " dst_unused:" << kUnused[i.sdwa.dst_unused];
    }
    out << " src0_sel:" << kSelect[i.sdwa.src0_sel];
    if (i.format != Format::vop1) {
        out << " src1_sel:" << kSelect[i.sdwa.src1_sel];
    }
}

int source_count(const Instruction& i) {
    int count = 0;
    while (count < 5 && i.src[count].kind != Operand::Kind::none) {
        ++count;
    }
    return count;
}

void print_results(Text& out, const Instruction& i) {
    if (i.dst.kind != Operand::Kind::none) {
        print_register(out.separate(), i.dst);
    }
    if (i.sdst.kind != Operand::Kind::none) {
        print_register(out.separate(), i.sdst);
    }
}

} // namespace

void print_vector(Text& out, const Instruction& i, const OpcodeInfo& info) {
    out << suffix(i, info);
    print_results(out, i);
    const int sources = source_count(i);
    const int literal = info.has(trait::literal_src1) ? 1 : info.has(trait::literal_src2) ? 2 : -1;
    for (int n = 0; n < sources; ++n) {
        if (n == literal) {
            print_trailing_literal(out.separate(), i.src[n], info.src[n]);
        } else {
            print_source(out.separate(), i, info, n);
        }
    }
    if (info.has(trait::bitop3) && i.imm != 0) {
        constexpr std::int32_t kLastDecimal = 10;
        out << " bitop3:";
        i.imm <= kLastDecimal ? out.decimal(i.imm) : out.hex(static_cast<std::uint64_t>(i.imm));
    }
    if (i.op == Opcode::v_permlane16_swap_b32 || i.op == Opcode::v_permlane32_swap_b32) {
        out << (bit(i.op_sel, 1) ? " bound_ctrl:1" : "") << (bit(i.op_sel, 0) ? " fi:1" : "");
    } else if (i.op_sel != 0) {
        const int bits = info.has(trait::op_sel_src2) ? 3 : sources;
        const unsigned used = (1u << bits) - 1;
        print_bits(out, "op_sel", (i.op_sel & used) | static_cast<unsigned>(bit(i.op_sel, 3)) << bits, bits + 1);
    }
    out << (i.clamp ? " clamp" : "");
    constexpr const char* kMultipliers[] = {"", " mul:2", " mul:4", " div:2"};
    out << kMultipliers[i.omod];
    if (i.encoding == Encoding::dpp) {
        print_dpp(out, i.dpp);
    } else if (i.encoding == Encoding::sdwa) {
        print_sdwa(out, i, info);
    }
}

void print_packed(Text& out, const Instruction& i, const OpcodeInfo& info) {
    print_results(out, i);
    const int sources = source_count(i);
    const bool mix = info.has(trait::mix);
    for (int n = 0; n < sources; ++n) {
        if (mix) {
            print_source(out.separate(), i, info, n);
        } else {
            print_operand(out.separate(), i.src[n], info.src[n]);
        }
    }
    if (i.op_sel != 0) {
        print_bits(out, "op_sel", i.op_sel, sources);
    }
    const unsigned usual_high = mix ? 0 : (1u << sources) - 1;
    if (!info.has(trait::no_op_sel) && i.op_sel_hi != usual_high) {
        print_bits(out, "op_sel_hi", i.op_sel_hi, sources);
    }
    if (i.neg != 0 && !mix) {
        print_bits(out, "neg_lo", i.neg, sources);
    }
    if (i.neg_hi != 0) {
        print_bits(out, "neg_hi", i.neg_hi, sources);
    }
    out << (i.clamp ? " clamp" : "");
}

void print_matrix(Text& out, const Instruction& i, const OpcodeInfo& info) {
    print_results(out, i);
    const int sources = source_count(i);
    for (int n = 0; n < sources; ++n) {
        print_operand(out.separate(), i.src[n], n < 3 ? info.src[n] : Type::b32);
    }
    if (info.has(trait::scaled)) {
        if (i.op_sel != 0) {
            print_bits(out, "op_sel", i.op_sel, 3);
        }
        print_bits(out, "op_sel_hi", i.op_sel_hi, 3);
    }
    const auto modifier = [&](const char* name, unsigned value) {
        if (value != 0) {
            out << ' ' << name << ':';
            out.decimal(value);
        }
    };
    modifier("cbsz", i.cbsz);
    modifier("abid", i.abid);
    modifier("blgp", i.blgp);
    if (i.neg != 0) {
        print_bits(out, "neg", i.neg, 3);
    }
}

} // namespace emulator
