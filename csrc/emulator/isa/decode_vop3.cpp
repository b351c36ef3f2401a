// VOP3, VOP3P and MAI: eight bytes, sixteen for a scaled MFMA.
#include "decoder.hpp"

namespace emulator {
namespace {

constexpr unsigned kLiteral = 255;
constexpr unsigned kLoadScale = 44; // v_mfma_ld_scale_b32, which leads a scaled MFMA

/// Dwords of A or B of an f8f6f4 MFMA: 32 elements a lane, of 8, 8, 6, 6 or 4 bits.
unsigned f8f6f4_dwords(unsigned format) {
    return format == 4 ? 4 : format == 2 || format == 3 ? 6 : 8;
}

constexpr int source_count(const OpcodeInfo& info) {
    return info.src[0] == Type::none ? 0 : info.src[1] == Type::none ? 1 : info.src[2] == Type::none ? 2 : 3;
}

} // namespace

bool Decoder::vop3() {
    const Opcode op = find_vop3(bits(w0, 25, 16));
    if (op == Opcode::count || !take(op, opcode_info(op).format)) {
        return fail(DecodeFailure::unknown_opcode);
    }
    i.encoding = Encoding::e64;
    const unsigned dst = bits(w0, 7, 0);
    if (info->format == Format::vopc) {
        if (!sgpr(dst, Type::b64, i.sdst)) {
            return false;
        }
    } else if (info->has(trait::scalar_dst)) {
        if (!sgpr(dst, info->dst, i.sdst)) {
            return false;
        }
    } else if (info->dst != Type::none && !vgpr(dst, info->dst, false, i.dst)) {
        return false;
    }
    if (info->has(trait::carry_out) && !sgpr(bits(w0, 14, 8), Type::b64, i.sdst)) {
        return false;
    }
    i.clamp = info->has(trait::clamp) && bits(w0, 15, 15) != 0;
    i.omod = info->has(trait::omod) ? static_cast<std::uint8_t>(bits(w1, 28, 27)) : 0;
    i.op_sel = info->has(trait::op_sel) || i.op == Opcode::v_permlane16_swap_b32 || i.op == Opcode::v_permlane32_swap_b32
                   ? static_cast<std::uint8_t>(bits(w0, 14, 11))
                   : 0;
    const int sources = source_count(*info);
    for (int n = 0; n < sources; ++n) {
        if (info->has_modifiers(n)) {
            i.neg |= static_cast<std::uint8_t>(bits(w1, 29 + n, 29 + n) << n);
            // Where a scalar result takes bits 14..8, there is no |x|.
            i.abs |= info->has(trait::carry_out) ? std::uint8_t{0} : static_cast<std::uint8_t>(bits(w0, 8 + n, 8 + n) << n);
        }
        const unsigned code = bits(w1, 9 * n + 8, 9 * n);
        if (code == kLiteral) {
            return fail(DecodeFailure::bad_operand);
        }
        if (!source(code, info->src[n], false, i.src[n])) {
            return false;
        }
    }
    if (info->has(trait::bitop3)) {
        i.imm = static_cast<std::int32_t>(bits(w1, 28, 27) << 6 | bits(w0, 10, 8) << 3 | bits(w1, 31, 29));
    }
    return true;
}

bool Decoder::vop3p() {
    const unsigned number = bits(w0, 22, 16);
    const Opcode packed = find_opcode(Format::vop3p, number);
    if (packed == Opcode::count) {
        return mai();
    }
    if (!take(packed, Format::vop3p) || !vgpr(bits(w0, 7, 0), info->dst, false, i.dst)) {
        return false;
    }
    i.encoding = Encoding::e64;
    i.clamp = bits(w0, 15, 15) != 0;
    const std::uint32_t neg = bits(w1, 31, 29), neg_hi = bits(w0, 10, 8);
    const std::uint32_t op_sel = bits(w0, 13, 11), op_sel_hi = bits(w1, 28, 27) | bits(w0, 14, 14) << 2;
    const int sources = source_count(*info);
    const std::uint32_t used = (1u << sources) - 1;
    i.neg = static_cast<std::uint8_t>(neg & used);
    (info->has(trait::mix) ? i.abs : i.neg_hi) = static_cast<std::uint8_t>(neg_hi & used);
    if (!info->has(trait::no_op_sel)) {
        i.op_sel = static_cast<std::uint8_t>(op_sel & used);
        i.op_sel_hi = static_cast<std::uint8_t>(op_sel_hi & used);
    }
    for (int n = 0; n < sources; ++n) {
        const unsigned code = bits(w1, 9 * n + 8, 9 * n);
        if (code == kLiteral) {
            return fail(DecodeFailure::bad_operand);
        }
        if (!source(code, info->src[n], false, i.src[n])) {
            return false;
        }
    }
    return true;
}

bool Decoder::mai() {
    if (bits(w0, 22, 16) == kLoadScale) {
        return scaled_mai();
    }
    if (!take(Format::mai, bits(w0, 22, 16))) {
        return false;
    }
    i.encoding = Encoding::e64;
    const unsigned first = bits(w1, 8, 0), second = bits(w1, 17, 9), third = bits(w1, 26, 18);
    if (info->has(trait::accvgpr_move)) {
        const bool reads = i.op == Opcode::v_accvgpr_read_b32;
        if (first == kLiteral || (reads && first < 256)) {
            return fail(DecodeFailure::bad_operand);
        }
        return vgpr(bits(w0, 7, 0), Type::b32, !reads, i.dst) && source(first, Type::b32, reads, i.src[0]);
    }
    i.cbsz = static_cast<std::uint8_t>(bits(w0, 10, 8));
    i.abid = static_cast<std::uint8_t>(bits(w0, 14, 11));
    const std::uint8_t blgp = static_cast<std::uint8_t>(bits(w1, 31, 29));
    // MFMA on doubles has signs of A, B and C in the place of blgp.
    (info->dst == Type::f64 || info->dst == Type::f64x4 ? i.neg : i.blgp) = blgp;

    const bool acc_cd = bits(w0, 15, 15) != 0;
    const unsigned a = info->has(trait::f8f6f4) ? f8f6f4_dwords(i.cbsz) : dwords_of(info->src[0]);
    const unsigned b = info->has(trait::f8f6f4) ? f8f6f4_dwords(i.blgp) : dwords_of(info->src[1]);
    if (first < 256 || second < 256 || third == kLiteral) {
        return fail(DecodeFailure::bad_operand);
    }
    // C may be a constant. The index of a sparse MFMA may not, and is an arch VGPR always.
    const bool sparse = info->has(trait::reads_dst);
    if (third < 256 && (sparse || !constant(third, info->src[2], i.src[2]))) {
        return fail(DecodeFailure::bad_operand);
    }
    return vgpr(bits(w0, 7, 0), info->dst, acc_cd, i.dst) && vgprs(first - 256, a, bits(w1, 27, 27) != 0, i.src[0]) &&
           vgprs(second - 256, b, bits(w1, 28, 28) != 0, i.src[1]) && source(third, info->src[2], acc_cd && !sparse, i.src[2]);
}

bool Decoder::scaled_mai() {
    const std::uint32_t s0 = w0, s1 = w1;
    if (!word(8, w0) || !word(12, w1)) {
        return false;
    }
    const unsigned number = bits(w0, 22, 16);
    constexpr unsigned kScaled16 = 45, kScaled32 = 46, kScaleBit = 1;
    if (bits(w0, 31, 23) != 0x1a7 || (number != kScaled16 && number != kScaled32) || (bits(w0, 14, 11) & kScaleBit) == 0) {
        return fail(DecodeFailure::unknown_opcode);
    }
    if (!mai() ||
        !take(number == kScaled16 ? Opcode::v_mfma_scale_f32_16x16x128_f8f6f4 : Opcode::v_mfma_scale_f32_32x32x64_f8f6f4, Format::mai)) {
        return false;
    }
    i.size = 16;
    i.abid = 0;
    i.op_sel = static_cast<std::uint8_t>(bits(s0, 12, 11));
    i.op_sel_hi = static_cast<std::uint8_t>(bits(s1, 28, 27));
    const unsigned first = bits(s1, 8, 0), second = bits(s1, 17, 9);
    if (first == kLiteral || second == kLiteral) {
        return fail(DecodeFailure::bad_operand);
    }
    return source(first, Type::b32, false, i.src[3]) && source(second, Type::b32, false, i.src[4]);
}

} // namespace emulator
