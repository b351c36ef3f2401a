// The face of one compiled level.
#include "engine.hpp"

#include "../isa/disassemble.hpp"
#include "../isa/opcode_info.hpp"
#include "code.hpp"
#include "fault.hpp"
#include "launch.hpp"

#include <cstdio>

namespace emulator {

namespace {

void* predecode_text(int arch, const std::uint8_t* bytes, std::size_t size) {
    return predecode(arch == 0 ? Arch::gfx942 : Arch::gfx950, bytes, size);
}

void release_code(void* code) {
    release(static_cast<Code*>(code));
}

void disassemble_at(const void* opaque, std::uint32_t pc, char* out, std::size_t size) {
    const Code& code = *static_cast<const Code*>(opaque);
    if (size == 0) {
        return;
    }
    out[0] = '\0';
    if (pc >= code.size || (pc & 3) != 0) {
        return;
    }
    const Step& step = code.steps[pc >> 2];
    if (step.failure != DecodeFailure::none) {
        std::uint32_t word = 0;
        __builtin_memcpy(&word, code.bytes + pc, sizeof(word));
        snprintf(out, size, ".long 0x%08x (%s)", word, describe(step.failure));
        return;
    }
    disassemble(step.in, out, size);
}

std::uint32_t next_unknown(const void* opaque, std::uint32_t from) {
    constexpr std::uint32_t kPadding = 0xbf9f0000; // what linkers put behind the last kernel
    const Code& code = *static_cast<const Code*>(opaque);
    for (std::uint32_t pc = 0; pc < code.size; pc += code.steps[pc >> 2].in.size) {
        std::uint32_t word = 0;
        __builtin_memcpy(&word, code.bytes + pc, sizeof(word));
        if (pc >= from && code.steps[pc >> 2].kind == Step::Kind::unknown && word != kPadding) {
            return pc;
        }
    }
    return ~std::uint32_t{0};
}

const char* name_of(int op) {
    return op >= 0 && op < static_cast<int>(Opcode::count) ? opcode_info(static_cast<Opcode>(op)).name : nullptr;
}

const char* name_of_fault(std::uint8_t kind) {
    switch (static_cast<FaultKind>(kind)) {
    case FaultKind::none:
        return "none";
    case FaultKind::unknown_opcode:
        return "unknown_opcode";
    case FaultKind::global_out_of_bounds:
        return "global_out_of_bounds";
    case FaultKind::lds_out_of_bounds:
        return "lds_out_of_bounds";
    case FaultKind::uninitialised_register:
        return "uninitialised_register";
    case FaultKind::uninitialised_lds:
        return "uninitialised_lds";
    case FaultKind::misaligned:
        return "misaligned";
    case FaultKind::scalar_out_of_bounds:
        return "scalar_out_of_bounds";
    case FaultKind::bad_program_counter:
        return "bad_program_counter";
    case FaultKind::instruction_budget:
        return "instruction_budget";
    case FaultKind::barrier_deadlock:
        return "barrier_deadlock";
    case FaultKind::unsupported:
        return "unsupported";
    }
    return "unknown";
}

} // namespace

extern const emulator_host::Engine kEngine;
const emulator_host::Engine kEngine = {EMULATOR_LEVEL, predecode_text, release_code, launch,
                                       disassemble_at, next_unknown,   name_of,      name_of_fault};

} // namespace emulator
