#include "code.hpp"

#include "../exec/executors.hpp"
#include "passes.hpp"

#include <cstring>
#include <initializer_list>
#include <sys/mman.h>

namespace emulator {

namespace {

constexpr std::size_t kMaxText = std::size_t{256} << 20;

Executor executor_of(Opcode op) {
    for (Executor (*const family)(Opcode) : {scalar_executor, vector_executor, matrix_executor, memory_executor}) {
        if (const Executor executor = family(op)) {
            return executor;
        }
    }
    return nullptr;
}

void classify(Step& step, Arch arch) {
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
    step.passes = matrix_passes(in, arch);
    step.kind = step.run == nullptr ? Step::Kind::unknown : step.passes != 0 ? Step::Kind::matrix : Step::Kind::plain;
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
            classify(step, arch);
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
