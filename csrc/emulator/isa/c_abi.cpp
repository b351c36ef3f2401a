// The decoder and the disassembler for callers of other languages.
#include "decode.hpp"
#include "disassemble.hpp"

extern "C" {

/// Writes the text of the instruction at `code`, or why there is none, and gives its bytes, or 0. `arch` is 942 or 950.
__attribute__((visibility("default"))) int emulator_disassemble(const unsigned char* code, std::size_t size, std::uint32_t pc, int arch,
                                                                char* text, std::size_t capacity) {
    emulator::Instruction instruction;
    emulator::DecodeError error;
    if (!emulator::decode(code, size, pc, arch == 942 ? emulator::Arch::gfx942 : emulator::Arch::gfx950, instruction, error)) {
        const char* reason = emulator::describe(error.failure);
        std::size_t length = 0;
        while (length + 1 < capacity && reason[length] != 0) {
            text[length] = reason[length];
            ++length;
        }
        if (capacity != 0) {
            text[length] = 0;
        }
        return 0;
    }
    emulator::disassemble(instruction, text, capacity);
    return instruction.size;
}
}
