// Which group runs a matrix opcode, and the moves between arch and accumulation registers.
#include "executors.hpp"
#include "matrix_tables.hpp"
#include "operands.hpp"

namespace emulator {

namespace {

void move(Wave& wave, const Instruction& in) {
    Row buffer;
    const std::uint32_t* row = fetch_raw(wave, in, 0, 0, buffer);
    blend(wave.v[in.dst.index + (in.dst.kind == Operand::Kind::agpr ? kAccBase : 0)], row, wave.exec());
}

} // namespace

Executor accumulator_move_executor(Opcode op) {
    switch (op) {
    case Opcode::v_accvgpr_read_b32:
    case Opcode::v_accvgpr_write_b32:
    case Opcode::v_accvgpr_mov_b32:
        return &move;
    default:
        return nullptr;
    }
}

Executor matrix_executor(Opcode op) {
    using Group = Executor (*)(Opcode);
    static constexpr Group groups[] = {
        &mfma_float_executor,  &mfma_mixed_executor, &mfma_integer_executor,
        &mfma_double_executor, &sparse_executor,     &accumulator_move_executor,
    };
    for (const Group group : groups) {
        if (const Executor executor = group(op)) {
            return executor;
        }
    }
    return nullptr;
}

} // namespace emulator
