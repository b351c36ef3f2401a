// What the decoders of the formats share: the words of the instruction and how register fields become operands.
#pragma once

#include "decode.hpp"
#include "opcode_info.hpp"

namespace emulator {

class Decoder {
public:
    Decoder(const std::uint8_t* code, std::size_t size, Arch arch, Instruction& out) : code(code), size(size), arch(arch), i(out) {}

    DecodeFailure run();

private:
    // One function per group of formats; each returns false after fail().
    bool scalar();
    bool sopk();
    bool sopp();
    bool smem();
    bool vector32();
    bool vector32_dpp();
    bool vector32_sdwa();
    bool vector32_plain();
    bool vop3();
    bool vop3p();
    bool mai();
    bool scaled_mai();
    bool ds();
    bool mubuf();
    bool flat();

    bool fail(DecodeFailure why) {
        failure = why;
        return false;
    }

    /// Reads a further dword at this byte offset.
    bool word(unsigned offset, std::uint32_t& value);
    /// Takes the opcode of a format, if the arch has it.
    bool take(Opcode op, Format format);

    bool take(Format format, unsigned number) {
        return take(find_opcode(format, number), format);
    }

    bool sgpr(unsigned code, Type type, Operand& out);

    bool vgpr(unsigned index, Type type, bool acc, Operand& out) {
        return vgprs(index, dwords_of(type), acc, out);
    }

    bool vgprs(unsigned index, unsigned dwords, bool acc, Operand& out);
    bool constant(unsigned code, Type type, Operand& out);
    /// A scalar source: a register, a constant or the literal that follows.
    bool scalar_source(unsigned code, Type type, Operand& out);
    /// A nine-bit vector source; `acc` for AccVGPRs.
    bool source(unsigned code, Type type, bool acc, Operand& out);
    bool literal(Type type, Operand& out);

    bool vcc(Operand& out) {
        return sgpr(106, Type::b64, out);
    }

    const std::uint8_t* code;
    std::size_t size;
    Arch arch;
    Instruction& i;
    const OpcodeInfo* info = nullptr;
    std::uint32_t w0 = 0, w1 = 0;
    unsigned literal_offset = 4; // where a literal would be
    bool has_literal = false;
    DecodeFailure failure = DecodeFailure::none;
};

/// Whether a source field could hold this value of this type without a literal.
bool is_inline(std::uint64_t value, Type type);

/// Bits high..low of a word.
constexpr std::uint32_t bits(std::uint32_t word, int high, int low) {
    return word >> low & ((2u << (high - low)) - 1);
}

/// A field of `width` bits as a signed number.
constexpr std::int32_t sign_extend(std::uint32_t value, int width) {
    return static_cast<std::int32_t>(value << (32 - width)) >> (32 - width);
}

} // namespace emulator
