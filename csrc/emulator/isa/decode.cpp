#include "decode.hpp"

#include "decoder.hpp"

namespace emulator {

const char* describe(DecodeFailure failure) {
    switch (failure) {
    case DecodeFailure::none:
        return "none";
    case DecodeFailure::truncated:
        return "the code ends inside the instruction";
    case DecodeFailure::unknown_encoding:
        return "no format begins like this";
    case DecodeFailure::unknown_opcode:
        return "the format has no such opcode on this architecture";
    case DecodeFailure::bad_operand:
        return "a field names no register";
    }
    return "unknown";
}

bool decode(const std::uint8_t* code, std::size_t size, std::uint32_t pc, Arch arch, Instruction& out, DecodeError& error) {
    out = Instruction{};
    out.pc = pc;
    error.pc = pc;
    error.failure = Decoder(code, size, arch, out).run();
    error.op = out.op;
    error.word = 0;
    for (std::size_t byte = 0; byte < 4 && byte < size; ++byte) {
        error.word |= std::uint32_t{code[byte]} << (8 * byte);
    }
    return error.failure == DecodeFailure::none;
}

bool Decoder::word(unsigned offset, std::uint32_t& value) {
    if (size < offset + 4) {
        return fail(DecodeFailure::truncated);
    }
    value = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
        value |= std::uint32_t{code[offset + byte]} << (8 * byte);
    }
    return true;
}

bool Decoder::take(Opcode op, Format format) {
    if (op == Opcode::count || !opcode_info(op).on(arch)) {
        return fail(DecodeFailure::unknown_opcode);
    }
    i.op = op;
    i.format = format;
    info = &opcode_info(op);
    return true;
}

DecodeFailure Decoder::run() {
    if (!word(0, w0)) {
        return failure;
    }
    if (bits(w0, 31, 31) == 0) {
        vector32();
        return failure;
    }
    if (bits(w0, 31, 30) == 2) {
        scalar();
        return failure;
    }
    // Every other format is at least eight bytes.
    if (!word(4, w1)) {
        return failure;
    }
    i.size = 8;
    switch (bits(w0, 31, 26)) {
    case 0x30:
        smem();
        break;
    case 0x34:
        if (bits(w0, 31, 23) == 0x1a7) {
            vop3p();
        } else {
            vop3();
        }
        break;
    case 0x36:
        ds();
        break;
    case 0x37:
        flat();
        break;
    case 0x38:
        mubuf();
        break;
    default:
        fail(DecodeFailure::unknown_encoding);
    }
    return failure;
}

} // namespace emulator
