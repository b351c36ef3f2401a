#include "code.hpp"

#include "../exec/executors.hpp"
#include "../isa/opcode_info.hpp"

#include <cstring>
#include <initializer_list>
#include <sys/mman.h>

namespace emulator {

namespace {

constexpr std::size_t kMaxText = std::size_t{256} << 20;

bool starts_with(const char* text, const char* prefix) {
    return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool contains(const char* text, const char* part) {
    return std::strstr(text, part) != nullptr;
}

/// Passes of four clocks each, from the shape in the name: what the compiler's model of these cores gives.
std::uint8_t passes_of(const Instruction& in, const char* name) {
    const bool single = contains(name, "_f32_16x16x4_f32") || contains(name, "_f32_32x32x2_f32") || contains(name, "xf32");
    if (contains(name, "f8f6f4")) {
        // 8-bit operands take twice as long as narrower ones.
        const bool wide = in.cbsz < 2 || in.blgp < 2;
        const bool large = contains(name, "32x32x64");
        return static_cast<std::uint8_t>((large ? 8 : 4) * (wide ? 2 : 1));
    }
    if (contains(name, "f64")) {
        return contains(name, "16x16x4") ? 8 : 4;
    }
    if (contains(name, "4x4x4")) {
        return 2;
    }
    if (contains(name, "32x32")) {
        return single ? 16 : 8;
    }
    if (contains(name, "16x16")) {
        return single ? 8 : 4;
    }
    return 0;
}

Executor executor_of(Opcode op) {
    for (Executor (*const family)(Opcode) : {scalar_executor, vector_executor, matrix_executor, memory_executor}) {
        if (const Executor executor = family(op)) {
            return executor;
        }
    }
    return nullptr;
}

void classify(Step& step) {
    const Instruction& in = step.in;
    switch (in.op) {
    case Opcode::s_waitcnt: {
        const Waitcnt wait = waitcnt_of(in.imm);
        step.kind = Step::Kind::wait;
        step.vector_left = wait.vmcnt;
        step.local_left = wait.lgkmcnt;
        return;
    }
    case Opcode::s_nop:
        step.kind = Step::Kind::nop;
        return;
    case Opcode::s_sleep:
        step.kind = Step::Kind::sleep;
        return;
    case Opcode::s_barrier:
        step.kind = Step::Kind::barrier;
        return;
    case Opcode::s_endpgm:
    case Opcode::s_endpgm_saved:
        step.kind = Step::Kind::end;
        return;
    default:
        break;
    }
    step.run = executor_of(in.op);
    const char* name = opcode_info(in.op).name;
    const bool matrix = in.format == Format::mai && (starts_with(name, "v_mfma") || starts_with(name, "v_smfma"));
    step.kind = step.run == nullptr ? Step::Kind::unknown : matrix ? Step::Kind::matrix : Step::Kind::plain;
    step.passes = matrix ? passes_of(in, name) : 0;
}

} // namespace

Code* predecode(Arch arch, const std::uint8_t* bytes, std::size_t size) {
    if (size > kMaxText) {
        return nullptr;
    }
    const std::size_t count = size / 4;
    const std::size_t mapped = sizeof(Code) + count * sizeof(Step) + size;
    void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return nullptr;
    }
    auto* code = static_cast<Code*>(memory);
    auto* copy = reinterpret_cast<std::uint8_t*>(code->steps + count);
    std::memcpy(copy, bytes, size);
    code->arch = arch;
    code->size = static_cast<std::uint32_t>(count * 4);
    code->bytes = copy;
    code->mapped = mapped;
    for (std::size_t index = 0; index < count; ++index) {
        Step& step = code->steps[index];
        DecodeError error;
        step.kind = Step::Kind::unknown;
        const std::size_t offset = 4 * index;
        if (decode(copy + offset, size - offset, static_cast<std::uint32_t>(offset), arch, step.in, error)) {
            classify(step);
        } else {
            step.failure = error.failure;
            step.in.op = error.op;
            step.in.size = 4;
        }
    }
    return code;
}

void release(Code* code) {
    if (code != nullptr) {
        munmap(code, code->mapped);
    }
}

} // namespace emulator
