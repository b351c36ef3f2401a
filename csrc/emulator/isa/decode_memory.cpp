// DS, MUBUF, FLAT, GLOBAL and SCRATCH.
#include "decoder.hpp"

namespace emulator {

bool Decoder::ds() {
    if (!take(Format::ds, bits(w0, 24, 17))) {
        return false;
    }
    const bool acc = bits(w0, 25, 25) != 0;
    i.imm = static_cast<std::int32_t>(bits(w0, 15, 0));
    i.gds = bits(w0, 16, 16) != 0;
    return (info->dst == Type::none || vgpr(bits(w1, 31, 24), info->dst, acc, i.dst)) &&
           (info->src[0] == Type::none || vgpr(bits(w1, 7, 0), info->src[0], false, i.src[0])) &&
           (info->src[1] == Type::none || vgpr(bits(w1, 15, 8), info->src[1], acc, i.src[1])) &&
           (info->src[2] == Type::none || vgpr(bits(w1, 23, 16), info->src[2], acc, i.src[2]));
}

bool Decoder::mubuf() {
    if (!take(Format::mubuf, bits(w0, 24, 18))) {
        return false;
    }
    i.sc0 = bits(w0, 14, 14) != 0;
    i.sc1 = bits(w0, 15, 15) != 0;
    i.nt = bits(w0, 17, 17) != 0;
    if (info->src[0] == Type::none) {
        return true;
    }
    i.imm = static_cast<std::int32_t>(bits(w0, 11, 0));
    i.offen = bits(w0, 12, 12) != 0;
    i.idxen = bits(w0, 13, 13) != 0;
    i.lds = bits(w0, 16, 16) != 0;
    // Loads of three and four dwords to LDS are new with CDNA4.
    const bool wide = dwords_of(info->dst) > 1 && arch == Arch::gfx942;
    if (i.lds && (!info->has(trait::lds_form) || wide)) {
        return fail(DecodeFailure::unknown_opcode);
    }
    const bool acc = bits(w1, 23, 23) != 0;
    const unsigned data = bits(w1, 15, 8);
    const bool atomic = info->dst != Type::none && info->src[1] != Type::none;
    const unsigned address_dwords = (i.offen ? 1u : 0u) + (i.idxen ? 1u : 0u);
    if (info->dst != Type::none && !i.lds && (!atomic || i.sc0) && !vgpr(data, info->dst, acc, i.dst)) {
        return false;
    }
    if ((address_dwords != 0 && !vgprs(bits(w1, 7, 0), address_dwords, false, i.src[0])) ||
        (info->src[1] != Type::none && !vgpr(data, info->src[1], acc, i.src[3]))) {
        return false;
    }
    constexpr unsigned kLiteral = 255;
    const unsigned offset = bits(w1, 31, 24);
    if (offset == kLiteral) {
        return fail(DecodeFailure::bad_operand);
    }
    return sgpr(bits(w1, 20, 16) * 4, Type::b128, i.src[1]) && scalar_source(offset, Type::b32, i.src[2]);
}

bool Decoder::flat() {
    constexpr Format kSegments[] = {Format::flat, Format::scratch, Format::global};
    constexpr unsigned kNoSaddr = 0x7f;
    const unsigned segment = bits(w0, 15, 14);
    if (segment == 3) {
        return fail(DecodeFailure::unknown_encoding);
    }
    const Format format = kSegments[segment];
    if (!take(format, bits(w0, 24, 18))) {
        return false;
    }
    i.sc0 = bits(w0, 16, 16) != 0;
    i.nt = bits(w0, 17, 17) != 0;
    i.sc1 = bits(w0, 25, 25) != 0;
    i.lds = info->has(trait::lds_form);
    i.imm = format == Format::flat ? static_cast<std::int32_t>(bits(w0, 11, 0)) : sign_extend(bits(w0, 12, 0), 13);

    const bool acc = bits(w1, 23, 23) != 0;
    const bool atomic = info->dst != Type::none && info->src[1] != Type::none;
    const unsigned address = bits(w1, 7, 0), saddr = bits(w1, 22, 16);
    const bool has_saddr = format != Format::flat && saddr != kNoSaddr;
    if ((info->dst != Type::none && (!atomic || i.sc0) && !vgpr(bits(w1, 31, 24), info->dst, acc, i.dst)) ||
        (info->src[1] != Type::none && !vgpr(bits(w1, 15, 8), info->src[1], acc, i.src[1]))) {
        return false;
    }
    if (format == Format::scratch) {
        const bool has_vaddr = bits(w0, 13, 13) != 0;
        return (!has_vaddr || vgpr(address, Type::b32, false, i.src[0])) && (!has_saddr || sgpr(saddr, Type::b32, i.src[2]));
    }
    // With a scalar base the vector address is a 32-bit offset.
    return vgpr(address, has_saddr ? Type::b32 : Type::b64, false, i.src[0]) && (!has_saddr || sgpr(saddr, Type::b64, i.src[2]));
}

} // namespace emulator
