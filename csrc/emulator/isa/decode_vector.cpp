// VOP1, VOP2 and VOPC in their 32-bit encoding, with DPP or SDWA behind it or without.
#include "decoder.hpp"

namespace emulator {
namespace {

constexpr unsigned kSdwa = 0xf9, kDpp = 0xfa;
constexpr unsigned kFirstVgpr = 256;
constexpr unsigned kRowNewbcast = 0x150;

bool is_dpp_control(unsigned control) {
    const bool counted = control > 0x100 && control < 0x130 && (control & 15) != 0; // row_shl, row_shr, row_ror
    const bool whole_wave = control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c;
    const bool mirror_or_broadcast = control >= 0x140 && control <= 0x143;
    const bool newbcast = control >= kRowNewbcast && control <= kRowNewbcast + 15;
    return control < 0x100 || counted || whole_wave || mirror_or_broadcast || newbcast;
}

} // namespace

bool Decoder::vector32() {
    const unsigned number = bits(w0, 30, 25);
    const bool known = number == 0x3f   ? take(Format::vop1, bits(w0, 16, 9))
                       : number == 0x3e ? take(Format::vopc, bits(w0, 24, 17))
                                        : take(Format::vop2, number);
    if (!known) {
        return false;
    }
    // Without a source the field says nothing, unless it asks for DPP and there is one.
    const bool has_source = info->src[0] != Type::none || (info->forms & form::dpp) != 0;
    const unsigned first = has_source ? bits(w0, 8, 0) : 0;
    i.encoding = first == kSdwa ? Encoding::sdwa : first == kDpp ? Encoding::dpp : Encoding::e32;
    const std::uint8_t wanted = i.encoding == Encoding::sdwa ? form::sdwa : i.encoding == Encoding::dpp ? form::dpp : form::e32;
    if ((info->forms & wanted) == 0) {
        return fail(DecodeFailure::unknown_opcode);
    }
    if (i.encoding != Encoding::e32) {
        if (!word(4, w1)) {
            return false;
        }
        i.size = 8;
        literal_offset = 8;
    }
    // The results come first, so that the encodings below only differ in their sources.
    const unsigned dst = bits(w0, 24, 17);
    if (info->has(trait::scalar_dst)) {
        if (!sgpr(dst, info->dst, i.sdst)) {
            return false;
        }
    } else if (info->dst != Type::none && !vgpr(dst, info->dst, info->has(trait::acc), i.dst)) {
        return false;
    }
    if ((info->format == Format::vopc || info->has(trait::carry_out)) && !vcc(i.sdst)) {
        return false;
    }
    if (info->has(trait::carry_in) && !vcc(i.src[2])) {
        return false;
    }
    if (info->src[0] == Type::none) {
        return i.encoding != Encoding::dpp || vector32_dpp();
    }
    switch (i.encoding) {
    case Encoding::sdwa:
        return vector32_sdwa();
    case Encoding::dpp:
        return vector32_dpp();
    default:
        return vector32_plain();
    }
}

bool Decoder::vector32_plain() {
    const bool has_constant = info->has(trait::literal_src1 | trait::literal_src2);
    const unsigned second = bits(w0, 16, 9);
    if (!source(bits(w0, 8, 0), info->src[0], info->has(trait::acc), i.src[0])) {
        return false;
    }
    if (info->format == Format::vop1) {
        return true;
    }
    const int at = info->has(trait::literal_src1) ? 2 : 1;
    return vgpr(second, info->src[1], false, i.src[at]) && (!has_constant || literal(info->src[1], i.src[3 - at]));
}

bool Decoder::vector32_dpp() {
    i.dpp = {.control = static_cast<std::uint16_t>(bits(w1, 16, 8)),
             .row_mask = static_cast<std::uint8_t>(bits(w1, 31, 28)),
             .bank_mask = static_cast<std::uint8_t>(bits(w1, 27, 24)),
             .bound_ctrl = bits(w1, 19, 19) != 0};
    // Where an operand has 64 bits, row_newbcast is all there is.
    const bool wide = dwords_of(info->dst) > 1 || dwords_of(info->src[0]) > 1;
    if (!is_dpp_control(i.dpp.control) || (wide && i.dpp.control < kRowNewbcast)) {
        return fail(DecodeFailure::bad_operand);
    }
    if (info->src[0] == Type::none) {
        return true;
    }
    for (int source = 0; source < 2; ++source) {
        if (info->has_modifiers(source)) {
            i.neg |= static_cast<std::uint8_t>(bits(w1, 20 + 2 * source, 20 + 2 * source) << source);
            i.abs |= static_cast<std::uint8_t>(bits(w1, 21 + 2 * source, 21 + 2 * source) << source);
        }
    }
    return vgpr(bits(w1, 7, 0), info->src[0], false, i.src[0]) &&
           (info->format == Format::vop1 || vgpr(bits(w0, 16, 9), info->src[1], false, i.src[1]));
}

bool Decoder::vector32_sdwa() {
    const bool compares = info->format == Format::vopc;
    i.sdwa.src0_sel = static_cast<std::uint8_t>(bits(w1, 18, 16));
    i.sdwa.src1_sel = static_cast<std::uint8_t>(bits(w1, 26, 24));
    for (int source = 0; source < 2; ++source) {
        const int sext = source == 0 ? 19 : 27;
        if (info->src[source] == Type::pk_f16) {
            continue;
        }
        if (info->has_modifiers(source)) {
            i.neg |= static_cast<std::uint8_t>(bits(w1, sext + 1, sext + 1) << source);
            i.abs |= static_cast<std::uint8_t>(bits(w1, sext + 2, sext + 2) << source);
        } else if (info->src[source] != Type::none) {
            (source == 0 ? i.sdwa.src0_sext : i.sdwa.src1_sext) = bits(w1, sext, sext) != 0;
        }
    }
    if (compares) {
        if (bits(w1, 15, 15) != 0 && !sgpr(bits(w1, 14, 8), Type::b64, i.sdst)) {
            return false;
        }
    } else {
        i.sdwa.dst_sel = static_cast<std::uint8_t>(bits(w1, 10, 8));
        i.sdwa.dst_unused = static_cast<std::uint8_t>(bits(w1, 12, 11));
        i.clamp = bits(w1, 13, 13) != 0;
        i.omod = info->has(trait::omod) ? static_cast<std::uint8_t>(bits(w1, 15, 14)) : 0;
    }
    const auto operand = [&](unsigned index, bool scalar, Type type, Operand& out) {
        return scalar ? scalar_source(index, type, out) : source(kFirstVgpr + index, type, false, out);
    };
    if (!operand(bits(w1, 7, 0), bits(w1, 23, 23) != 0, info->src[0], i.src[0]) ||
        (info->format != Format::vop1 && !operand(bits(w0, 16, 9), bits(w1, 31, 31) != 0, info->src[1], i.src[1]))) {
        return false;
    }
    // A literal would have to follow, and nothing does; selections stop at dword (6) and preserve (2).
    const bool reserved = i.sdwa.dst_sel == 7 || i.sdwa.src0_sel == 7 || i.sdwa.src1_sel == 7 || i.sdwa.dst_unused == 3;
    return (!has_literal && !reserved) || fail(DecodeFailure::bad_operand);
}

} // namespace emulator
