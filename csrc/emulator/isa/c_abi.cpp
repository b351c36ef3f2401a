// The decoder and the disassembler for callers of other languages.
#include "decode.hpp"
#include "disassemble.hpp"
#include "text.hpp"

namespace {

emulator::Arch arch_of(int number) {
    return number == 942 ? emulator::Arch::gfx942 : emulator::Arch::gfx950;
}

} // namespace

extern "C" {

/// Writes the text of the instruction at `code`, or why there is none, and gives its bytes, or 0. `arch` is 942 or 950.
__attribute__((visibility("default"))) int emulator_disassemble(const unsigned char* code, std::size_t size, std::uint32_t pc, int arch,
                                                                char* text, std::size_t capacity) {
    emulator::Instruction instruction;
    emulator::DecodeError error;
    if (!emulator::decode(code, size, pc, arch_of(arch), instruction, error)) {
        emulator::Text(text, capacity) << emulator::describe(error.failure);
        return 0;
    }
    emulator::disassemble(instruction, text, capacity);
    return instruction.size;
}

/// Writes kind, dwords, index, value and high of an operand: 0 the destination, 1 the scalar one, 2 to 6 the sources. False: no
/// instruction.
__attribute__((visibility("default"))) bool emulator_operand(const unsigned char* code, std::size_t size, int arch, int which,
                                                             std::uint32_t* fields) {
    emulator::Instruction instruction;
    emulator::DecodeError error;
    if (which < 0 || which > 6 || !emulator::decode(code, size, 0, arch_of(arch), instruction, error)) {
        return false;
    }
    const emulator::Operand& operand = which == 0 ? instruction.dst : which == 1 ? instruction.sdst : instruction.src[which - 2];
    fields[0] = static_cast<std::uint32_t>(operand.kind);
    fields[1] = operand.dwords;
    fields[2] = operand.index;
    fields[3] = operand.value;
    fields[4] = operand.high;
    return true;
}
}
