#include "registers.hpp"

#include "../isa/opcode_info.hpp"

#include <string_view>

namespace emulator {

namespace {

/// The row of a vector operand; `role` is its bit of s_set_gpr_idx.
int row_of(const Wave& wave, const Instruction& in, const Operand& operand, int role) {
    if (operand.kind == Operand::Kind::agpr) {
        return operand.index + kAccBase;
    }
    const bool moved = is_vector_alu(in) && (wave.index_mask() >> role & 1) != 0;
    return operand.index + (moved ? static_cast<int>(wave.s[kM0] & 0xff) : 0);
}

bool is_vector(const Operand& operand) {
    return operand.kind == Operand::Kind::vgpr || operand.kind == Operand::Kind::agpr;
}

bool exchanges(Opcode op) {
    return op == Opcode::v_swap_b32 || op == Opcode::v_permlane16_swap_b32 || op == Opcode::v_permlane32_swap_b32;
}

bool reads_vcc(const Instruction& in) {
    switch (in.op) {
    case Opcode::v_div_fmas_f32:
    case Opcode::v_div_fmas_f64:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
        return true;
    default:
        break;
    }
    for (const Operand& source : in.src) {
        if (source.kind == Operand::Kind::special && source.index == kVccIsZero) {
            return true;
        }
    }
    return false;
}

/// s_set_gpr_idx_off only clears a bit of MODE.
bool writes_index(Opcode op) {
    return op == Opcode::s_set_gpr_idx_on || op == Opcode::s_set_gpr_idx_idx || op == Opcode::s_set_gpr_idx_mode;
}

bool moves_scalar_source(Opcode op) {
    return op == Opcode::s_movrels_b32 || op == Opcode::s_movrels_b64;
}

bool moves_scalar_target(Opcode op) {
    return op == Opcode::s_movreld_b32 || op == Opcode::s_movreld_b64;
}

constexpr bool writes_exec_by_name(std::string_view name) {
    return name.starts_with("v_cmpx") || name.ends_with("saveexec_b64") || name.ends_with("wrexec_b64");
}

constexpr bool kWritesExec[] = {
#define EMULATOR_OPCODE(name, ...) writes_exec_by_name(#name),
#include "../isa/opcodes.def"
#undef EMULATOR_OPCODE
};

} // namespace

void Spans::add(bool vector, std::uint8_t role, int first, int count) {
    const int limit = vector ? kVectorRows : kScalars;
    const int end = first + count < limit ? first + count : limit;
    if (first >= 0 && first < end && count_ < kMost) {
        span_[count_++] = {vector, role, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(end - first)};
    }
}

bool Spans::holds(bool vector, int number) const {
    for (const Span& span : *this) {
        if (span.vector == vector && number >= span.first && number < span.first + span.count) {
            return true;
        }
    }
    return false;
}

bool reads_m0(const Wave& wave, const Instruction& in) {
    const bool add_lane = in.op == Opcode::ds_read_addtid_b32 || in.op == Opcode::ds_write_addtid_b32;
    const bool ordered = in.op == Opcode::ds_append || in.op == Opcode::ds_consume;
    return in.lds || in.gds || add_lane || ordered || moves_scalar_source(in.op) || moves_scalar_target(in.op) ||
           (wave.index_mask() != 0 && is_vector_alu(in));
}

Spans registers_read(const Wave& wave, const Instruction& in) {
    Spans spans;
    for (std::uint8_t role = 0; role < 5; ++role) {
        const Operand& source = in.src[role];
        if (is_vector(source)) {
            spans.add(true, role, row_of(wave, in, source, role), source.dwords);
        } else if (source.kind == Operand::Kind::sgpr) {
            const bool moved = moves_scalar_source(in.op);
            spans.add(false, role, source.index + (moved ? static_cast<int>(wave.s[kM0] & 0x7f) : 0), source.dwords);
        }
    }
    if (opcode_info(in.op).has(trait::reads_dst)) {
        if (is_vector(in.dst)) {
            spans.add(true, kTargetRole, row_of(wave, in, in.dst, 3), in.dst.dwords);
        } else if (in.dst.kind == Operand::Kind::sgpr) {
            spans.add(false, kTargetRole, in.dst.index, in.dst.dwords);
        }
    }
    if (reads_vcc(in)) {
        spans.add(false, kImplicitRole, kVcc, 2);
    }
    if (reads_m0(wave, in)) {
        spans.add(false, kImplicitRole, kM0, 1);
    }
    return spans;
}

Spans registers_written(const Wave& wave, const Instruction& in) {
    Spans spans;
    if (is_vector(in.dst)) {
        spans.add(true, kTargetRole, row_of(wave, in, in.dst, 3), in.dst.dwords);
    } else if (in.dst.kind == Operand::Kind::sgpr) {
        const bool moved = moves_scalar_target(in.op);
        spans.add(false, kTargetRole, in.dst.index + (moved ? static_cast<int>(wave.s[kM0] & 0x7f) : 0), in.dst.dwords);
    }
    if (in.sdst.kind == Operand::Kind::sgpr) {
        spans.add(false, kTargetRole, in.sdst.index, in.sdst.dwords);
    }
    if (exchanges(in.op)) {
        spans.add(true, kTargetRole, row_of(wave, in, in.src[0], 0), in.src[0].dwords);
    }
    if (kWritesExec[static_cast<int>(in.op)]) {
        spans.add(false, kImplicitRole, kExec, 2);
    }
    if (writes_index(in.op)) {
        spans.add(false, kImplicitRole, kM0, 1);
    }
    return spans;
}

} // namespace emulator
