// One wave and one instruction, set up field by field from Python, and run.
#include "../../../csrc/emulator/exec/executors.hpp"

#include <cstring>

namespace {

using namespace emulator;

Wave wave;
Instruction instruction;

constexpr const char* kNames[] = {
#define EMULATOR_OPCODE(name, ...) #name,
#include "../../../csrc/emulator/isa/opcodes.def"
#undef EMULATOR_OPCODE
};

Executor executor_of(Opcode op) {
    const Executor vector = vector_executor(op);
    return vector != nullptr ? vector : matrix_executor(op);
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int alu_opcode(const char* name) {
    for (int op = 0; op < static_cast<int>(Opcode::count); ++op) {
        if (std::strcmp(kNames[op], name) == 0) {
            return op;
        }
    }
    return -1;
}

__attribute__((visibility("default"))) const char* alu_name(int op) {
    return op < static_cast<int>(Opcode::count) ? kNames[op] : nullptr;
}

__attribute__((visibility("default"))) int alu_has_executor(int op) {
    return executor_of(static_cast<Opcode>(op)) != nullptr;
}

__attribute__((visibility("default"))) std::uint32_t* alu_vector_registers() {
    return &wave.v[0][0];
}

__attribute__((visibility("default"))) std::uint32_t* alu_scalar_registers() {
    return wave.s;
}

/// Forgets the instruction and sets the state outside the registers.
__attribute__((visibility("default"))) void alu_begin(int op, int format, int encoding, int arch, int denorm32, int denorm16, int ieee,
                                                      int clamps, int index_mask, int rounding) {
    instruction = Instruction{};
    instruction.op = static_cast<Opcode>(op);
    instruction.format = static_cast<Format>(format);
    instruction.encoding = static_cast<Encoding>(encoding);
    wave.arch = arch == 950 ? Arch::gfx950 : Arch::gfx942;
    wave.mode = Mode{};
    wave.mode.denorm32 = static_cast<std::uint8_t>(denorm32);
    wave.mode.denorm16_64 = static_cast<std::uint8_t>(denorm16);
    wave.mode.ieee = ieee != 0;
    wave.mode.round32 = wave.mode.round16_64 = static_cast<std::uint8_t>(rounding);
    wave.mode.half_overflow_clamps = clamps != 0;
    wave.gpr_idx = index_mask != 0;
    wave.s[124] = (wave.s[124] & ~0xf000u) | static_cast<std::uint32_t>(index_mask) << 12;
    wave.fault = Fault{};
}

/// Operand `which`: 0 dst, 1 sdst, 2 and on the sources.
__attribute__((visibility("default"))) void alu_operand(int which, int kind, int index, std::uint32_t value, std::uint32_t high) {
    Operand& operand = which == 0 ? instruction.dst : which == 1 ? instruction.sdst : instruction.src[which - 2];
    operand.kind = static_cast<Operand::Kind>(kind);
    operand.index = static_cast<std::uint16_t>(index);
    operand.value = value;
    operand.high = high;
}

__attribute__((visibility("default"))) void alu_modifiers(int neg, int abs, int neg_hi, int op_sel, int op_sel_hi, int clamp, int omod) {
    instruction.neg = static_cast<std::uint8_t>(neg);
    instruction.abs = static_cast<std::uint8_t>(abs);
    instruction.neg_hi = static_cast<std::uint8_t>(neg_hi);
    instruction.op_sel = static_cast<std::uint8_t>(op_sel);
    instruction.op_sel_hi = static_cast<std::uint8_t>(op_sel_hi);
    instruction.clamp = clamp != 0;
    instruction.omod = static_cast<std::uint8_t>(omod);
}

__attribute__((visibility("default"))) void alu_matrix(int cbsz, int abid, int blgp, int imm) {
    instruction.cbsz = static_cast<std::uint8_t>(cbsz);
    instruction.abid = static_cast<std::uint8_t>(abid);
    instruction.blgp = static_cast<std::uint8_t>(blgp);
    instruction.imm = imm;
}

__attribute__((visibility("default"))) void alu_dpp(int control, int row_mask, int bank_mask, int bound_ctrl) {
    instruction.dpp = {static_cast<std::uint16_t>(control), static_cast<std::uint8_t>(row_mask), static_cast<std::uint8_t>(bank_mask),
                       bound_ctrl != 0};
}

__attribute__((visibility("default"))) void alu_sdwa(int dst_sel, int dst_unused, int src0_sel, int src1_sel, int src0_sext,
                                                     int src1_sext) {
    instruction.sdwa = {static_cast<std::uint8_t>(dst_sel),
                        static_cast<std::uint8_t>(dst_unused),
                        static_cast<std::uint8_t>(src0_sel),
                        static_cast<std::uint8_t>(src1_sel),
                        src0_sext != 0,
                        src1_sext != 0};
}

/// Runs it `times` times. The fault's kind, or -1 without an executor.
__attribute__((visibility("default"))) int alu_run(long times) {
    const Executor executor = executor_of(instruction.op);
    if (executor == nullptr) {
        return -1;
    }
    for (long n = 0; n < times; ++n) {
        executor(wave, instruction);
    }
    return static_cast<int>(wave.fault.kind);
}
}
