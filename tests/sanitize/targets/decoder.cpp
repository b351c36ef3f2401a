// Any bytes: the decoder refuses or gives an instruction, whose text fits any buffer.
#include "input.hpp"

#include "isa/decode.hpp"
#include "isa/disassemble.hpp"

#include <initializer_list>

namespace {

constexpr std::size_t kRoom = 320;

void check_text(const emulator::Instruction& instruction, std::size_t room) {
    auto* text = static_cast<char*>(malloc(room));
    emulator::disassemble(instruction, text, room);
    fuzz::require(room == 0 || memchr(text, '\0', room) != nullptr);
    free(text);
}

void check_at(const std::uint8_t* code, std::size_t size, emulator::Arch arch) {
    emulator::Instruction instruction;
    emulator::DecodeError error;
    if (!emulator::decode(code, size, 0, arch, instruction, error)) {
        fuzz::require(error.failure != emulator::DecodeFailure::none && emulator::describe(error.failure) != nullptr);
        return;
    }
    fuzz::require(instruction.size >= 4 && instruction.size <= size && instruction.size % 4 == 0);
    for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{17}, kRoom}) {
        check_text(instruction, room);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Copy copy(data, size);
    for (const emulator::Arch arch : {emulator::Arch::gfx942, emulator::Arch::gfx950}) {
        for (std::size_t at = 0; at < size; at += 4) {
            check_at(copy.data() + at, size - at, arch);
        }
    }
    return 0;
}
