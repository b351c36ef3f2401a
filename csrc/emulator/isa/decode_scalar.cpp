// SOP1, SOP2, SOPK, SOPC, SOPP and SMEM.
#include "decoder.hpp"

namespace emulator {

bool Decoder::scalar() {
    switch (bits(w0, 31, 23)) {
    case 0x17d:
        return take(Format::sop1, bits(w0, 15, 8)) && (info->dst == Type::none || sgpr(bits(w0, 22, 16), info->dst, i.dst)) &&
               (info->src[0] == Type::none || scalar_source(bits(w0, 7, 0), info->src[0], i.src[0]));
    case 0x17e:
        if (!take(Format::sopc, bits(w0, 22, 16)) || !scalar_source(bits(w0, 7, 0), info->src[0], i.src[0])) {
            return false;
        }
        if (i.op == Opcode::s_set_gpr_idx_on) {
            i.imm = static_cast<std::int32_t>(bits(w0, 11, 8));
            return true;
        }
        return scalar_source(bits(w0, 15, 8), info->src[1], i.src[1]);
    case 0x17f:
        return sopp();
    default:
        break;
    }
    if (bits(w0, 31, 28) == 0xb) {
        return sopk();
    }
    return take(Format::sop2, bits(w0, 29, 23)) && (info->dst == Type::none || sgpr(bits(w0, 22, 16), info->dst, i.dst)) &&
           scalar_source(bits(w0, 7, 0), info->src[0], i.src[0]) && scalar_source(bits(w0, 15, 8), info->src[1], i.src[1]);
}

bool Decoder::sopk() {
    if (!take(Format::sopk, bits(w0, 27, 23))) {
        return false;
    }
    switch (i.op) {
    case Opcode::s_cmpk_eq_u32:
    case Opcode::s_cmpk_lg_u32:
    case Opcode::s_cmpk_gt_u32:
    case Opcode::s_cmpk_ge_u32:
    case Opcode::s_cmpk_lt_u32:
    case Opcode::s_cmpk_le_u32:
    case Opcode::s_getreg_b32:
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
        i.imm = static_cast<std::int32_t>(bits(w0, 15, 0));
        break;
    default:
        i.imm = sign_extend(bits(w0, 15, 0), 16);
    }
    if (i.op == Opcode::s_setreg_imm32_b32) {
        return literal(Type::b32, i.src[0]);
    }
    const unsigned reg = bits(w0, 22, 16);
    return info->dst != Type::none ? sgpr(reg, info->dst, i.dst) : sgpr(reg, info->src[0], i.src[0]);
}

bool Decoder::sopp() {
    if (!take(Format::sopp, bits(w0, 22, 16))) {
        return false;
    }
    const std::uint32_t imm = bits(w0, 15, 0);
    switch (i.op) {
    case Opcode::s_branch:
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user:
        i.imm = sign_extend(imm, 16);
        break;
    default:
        i.imm = static_cast<std::int32_t>(imm);
    }
    return true;
}

bool Decoder::smem() {
    if (!take(Format::smem, bits(w0, 25, 18))) {
        return false;
    }
    const unsigned data = bits(w0, 12, 6);
    const bool probes = i.op == Opcode::s_atc_probe || i.op == Opcode::s_atc_probe_buffer;
    const bool discards = i.op == Opcode::s_dcache_discard || i.op == Opcode::s_dcache_discard_x2;
    i.sc0 = !probes && !discards && bits(w0, 16, 16) != 0;
    const bool atomic = info->dst != Type::none && info->src[1] != Type::none;
    if (info->dst != Type::none && (!atomic || i.sc0) && !sgpr(data, info->dst, i.dst)) {
        return false;
    }
    if (info->src[0] == Type::none) {
        return true;
    }
    if (!sgpr(bits(w0, 5, 0) * 2, info->src[0], i.src[0]) || (info->src[1] != Type::none && !sgpr(data, info->src[1], i.src[2]))) {
        return false;
    }
    if (probes) {
        i.src[2] = {.kind = Operand::Kind::constant, .dwords = 1, .index = 255, .value = data};
    }
    const bool has_offset = bits(w0, 17, 17) != 0, has_register = bits(w0, 14, 14) != 0;
    if (has_offset) {
        i.imm = sign_extend(bits(w1, 20, 0), 21);
    }
    if (has_register) {
        i.offen = has_offset;
        return sgpr(bits(w1, 31, 25), Type::b32, i.src[1]);
    }
    return has_offset || sgpr(bits(w1, 6, 0), Type::b32, i.src[1]);
}

} // namespace emulator
