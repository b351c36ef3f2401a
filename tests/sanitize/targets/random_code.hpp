// Machine code from the bytes of a fuzzer: opcodes that exist, with any bits in the other fields.
#pragma once

#include "input.hpp"

#include "isa/decode.hpp"
#include "isa/opcode_info.hpp"

namespace fuzz {

/// Code under construction.
class Text {
public:
    static constexpr std::size_t kCapacity = 4096;

    void put(std::uint32_t word) {
        if (bytes_ + 4 <= kCapacity) {
            std::memcpy(data_ + bytes_, &word, 4);
            bytes_ += 4;
        }
    }

    const std::uint8_t* data() const {
        return data_;
    }

    std::size_t size() const {
        return bytes_;
    }

private:
    std::uint8_t data_[kCapacity];
    std::size_t bytes_ = 0;
};

struct Fixed {
    std::uint32_t mask, value;
};

/// The bits of the first dword that make it the format, and those that make it the opcode.
inline Fixed fixed_bits(const emulator::OpcodeInfo& info, unsigned form) {
    using emulator::Format;
    const auto fields = [&info](unsigned format_bits, unsigned format, unsigned at, unsigned width) {
        const std::uint32_t high = ~std::uint32_t{0} << (32 - format_bits);
        const std::uint32_t low = ((1U << width) - 1) << at;
        return Fixed{high | low, format << (32 - format_bits) | (info.number << at & low)};
    };
    // The opcodes of VOPC, VOP2 and VOP1 have numbers in VOP3 too.
    const auto as_vop3 = [&info](unsigned first) { return Fixed{0xffff0000U, 0xd0000000U | (first + info.number) << 16}; };
    switch (info.format) {
    case Format::sop2:
        return fields(2, 2, 23, 7);
    case Format::sopk:
        return fields(4, 11, 23, 5);
    case Format::sop1:
        return fields(9, 0x17d, 8, 8);
    case Format::sopc:
        return fields(9, 0x17e, 16, 7);
    case Format::sopp:
        return fields(9, 0x17f, 16, 7);
    case Format::smem:
        return fields(6, 0x30, 18, 8);
    case Format::vop2:
        return form == 1 ? as_vop3(0x100) : fields(1, 0, 25, 6);
    case Format::vop1:
        return form == 1 ? as_vop3(0x140) : fields(7, 0x3f, 9, 8);
    case Format::vopc:
        return form == 1 ? as_vop3(0) : fields(7, 0x3e, 17, 8);
    case Format::vop3:
        return fields(6, 0x34, 16, 10);
    case Format::vop3p:
    case Format::mai:
        return fields(9, 0x1a7, 16, 7);
    case Format::ds:
        return fields(6, 0x36, 17, 8);
    case Format::mubuf:
        return fields(6, 0x38, 18, 7);
    default: {
        const unsigned segment = info.format == Format::flat ? 0 : info.format == Format::scratch ? 1 : 2;
        const Fixed fixed = fields(6, 0x37, 18, 7);
        return {fixed.mask | 3U << 14, fixed.value | segment << 14};
    }
    }
}

/// Appends one instruction; what the decoder refuses is left out now and then only, for it ends the program.
inline void put_instruction(Input& input, Text& text, emulator::Arch arch) {
    const auto& info = emulator::opcode_info(static_cast<emulator::Opcode>(input.below(static_cast<unsigned>(emulator::Opcode::count))));
    const unsigned choice = input.take<std::uint8_t>();
    const unsigned form = choice & 3;
    std::uint32_t words[4];
    for (std::uint32_t& word : words) {
        word = input.take<std::uint32_t>();
    }
    const Fixed fixed = fixed_bits(info, form);
    words[0] = (words[0] & ~fixed.mask) | fixed.value;
    if (form >= 2 &&
        (info.format == emulator::Format::vop1 || info.format == emulator::Format::vop2 || info.format == emulator::Format::vopc)) {
        words[0] = (words[0] & ~0x1ffU) | (form == 2 ? 0xfaU : 0xf9U);
    }
    if (info.format == emulator::Format::sopp && (choice & 4) == 0) { // a branch that stays near
        words[0] = (words[0] & 0xffff0000U) | ((words[0] & 15) - 8 & 0xffffU);
    }
    emulator::Instruction instruction;
    emulator::DecodeError error;
    const bool decoded = emulator::decode(reinterpret_cast<const std::uint8_t*>(words), sizeof(words), 0, arch, instruction, error);
    if (!decoded && choice < 250) {
        return;
    }
    for (unsigned word = 0; word < (decoded ? instruction.size / 4U : 1U); ++word) {
        text.put(words[word]);
    }
}

} // namespace fuzz
