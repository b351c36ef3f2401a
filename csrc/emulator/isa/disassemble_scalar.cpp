// SOP1, SOP2, SOPK, SOPC, SOPP and SMEM.
#include "decode.hpp"
#include "disassembler.hpp"

namespace emulator {
namespace {

void print_waitcnt(Text& out, std::int32_t imm) {
    constexpr Waitcnt kNone = waitcnt_of(0xffff);
    const Waitcnt wait = waitcnt_of(imm);
    const bool all = wait.vmcnt == kNone.vmcnt && wait.expcnt == kNone.expcnt && wait.lgkmcnt == kNone.lgkmcnt;
    const auto counter = [&](const char* name, unsigned value, unsigned none) {
        if (all || value != none) {
            out << ' ' << name << '(';
            out.decimal(value) << ')';
        }
    };
    counter("vmcnt", wait.vmcnt, kNone.vmcnt);
    counter("expcnt", wait.expcnt, kNone.expcnt);
    counter("lgkmcnt", wait.lgkmcnt, kNone.lgkmcnt);
}

void print_message(Text& out, std::int32_t imm) {
    constexpr const char* kMessages[16] = {nullptr,
                                           "MSG_INTERRUPT",
                                           "MSG_GS",
                                           "MSG_GS_DONE",
                                           "MSG_SAVEWAVE",
                                           "MSG_STALL_WAVE_GEN",
                                           "MSG_HALT_WAVES",
                                           "MSG_ORDERED_PS_DONE",
                                           "MSG_EARLY_PRIM_DEALLOC",
                                           "MSG_GS_ALLOC_REQ",
                                           "MSG_GET_DOORBELL",
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           "MSG_SYSMSG"};
    constexpr const char* kGeometry[8] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
    constexpr const char* kSystem[8] = {nullptr, "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", nullptr, "SYSMSG_OP_TTRACE_PC"};
    constexpr int kGs = 2, kGsDone = 3, kSystemMessage = 15;
    const int id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
    const bool geometry = id == kGs || id == kGsDone;
    const char* const op_name = geometry ? kGeometry[op] : id == kSystemMessage ? kSystem[op] : nullptr;
    const bool no_op = geometry && op == 0;
    if (op_name != nullptr && (no_op ? id == kGsDone && stream == 0 : geometry || stream == 0)) {
        out << " sendmsg(" << kMessages[id] << ", " << op_name;
        if (geometry && !no_op) {
            out << ", ";
            out.decimal(stream);
        }
        out << ')';
    } else if (kMessages[id] != nullptr && !geometry && id != kSystemMessage && op == 0 && stream == 0) {
        out << " sendmsg(" << kMessages[id] << ')';
    } else if (imm == (id | op << 4 | stream << 8)) {
        out << " sendmsg(";
        out.decimal(id) << ", ";
        out.decimal(op) << ", ";
        out.decimal(stream) << ')';
    } else {
        out.separate().decimal(imm);
    }
}

void print_hardware_register(Text& out, std::int32_t imm) {
    constexpr const char* kNames[] = {nullptr,
                                      "MODE",
                                      "STATUS",
                                      "TRAPSTS",
                                      "HW_ID",
                                      "GPR_ALLOC",
                                      "LDS_ALLOC",
                                      "IB_STS",
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      "SH_MEM_BASES",
                                      "TBA_LO",
                                      "TBA_HI",
                                      "TMA_LO",
                                      "TMA_HI",
                                      "XCC_ID",
                                      "SQ_PERF_SNAPSHOT_DATA",
                                      "SQ_PERF_SNAPSHOT_DATA1",
                                      "SQ_PERF_SNAPSHOT_PC_LO",
                                      "SQ_PERF_SNAPSHOT_PC_HI"};
    const unsigned id = imm & 63, offset = imm >> 6 & 31, width = (imm >> 11 & 31) + 1;
    out << "hwreg(";
    if (id < sizeof kNames / sizeof kNames[0] && kNames[id] != nullptr) {
        out << "HW_REG_" << kNames[id];
    } else {
        out.decimal(id);
    }
    if (offset != 0 || width != 32) {
        out << ", ";
        out.decimal(offset) << ", ";
        out.decimal(width);
    }
    out << ')';
}

void print_index_mask(Text& out, std::int32_t imm) {
    constexpr const char* kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
    if (imm > 15) {
        out.hex(static_cast<std::uint64_t>(imm));
        return;
    }
    out << "gpr_idx(";
    const char* separator = "";
    for (int bit = 0; bit < 4; ++bit) {
        if ((imm >> bit & 1) != 0) {
            out << separator << kNames[bit];
            separator = ",";
        }
    }
    out << ')';
}

void print_immediate(Text& out, const Instruction& i) {
    const std::int32_t imm = i.imm & 0xffff;
    switch (i.op) {
    case Opcode::s_endpgm:
        if (imm != 0) {
            out.separate().decimal(imm);
        }
        break;
    case Opcode::s_barrier:
    case Opcode::s_wakeup:
    case Opcode::s_icache_inv:
    case Opcode::s_ttracedata:
    case Opcode::s_endpgm_saved:
    case Opcode::s_set_gpr_idx_off:
    case Opcode::s_endpgm_ordered_ps_done:
        break;
    case Opcode::s_waitcnt:
        print_waitcnt(out, imm);
        break;
    case Opcode::s_sendmsg:
    case Opcode::s_sendmsghalt:
        print_message(out, imm);
        break;
    case Opcode::s_set_gpr_idx_mode:
        print_index_mask(out.separate(), imm);
        break;
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
        out.separate().decimal(imm);
        break;
    default:
        print_number(out.separate(), static_cast<std::uint32_t>(imm));
    }
}

void print_sopk(Text& out, const Instruction& i) {
    const Operand& reg = i.dst.kind != Operand::Kind::none ? i.dst : i.src[0];
    switch (i.op) {
    case Opcode::s_setreg_imm32_b32:
        print_hardware_register(out.separate(), i.imm);
        print_number(out.separate(), i.src[0].value);
        break;
    case Opcode::s_setreg_b32:
        print_hardware_register(out.separate(), i.imm);
        print_register(out.separate(), reg);
        break;
    case Opcode::s_getreg_b32:
        print_register(out.separate(), reg);
        print_hardware_register(out.separate(), i.imm);
        break;
    case Opcode::s_cbranch_i_fork:
    case Opcode::s_call_b64:
        print_register(out.separate(), reg);
        out.separate().decimal(i.imm & 0xffff);
        break;
    default:
        print_register(out.separate(), reg);
        out.separate().hex(static_cast<std::uint64_t>(i.imm & 0xffff));
    }
}

void print_signed_hex(Text& out, std::int32_t value) {
    if (value < 0) {
        out << '-';
    }
    out.hex(static_cast<std::uint64_t>(value < 0 ? -static_cast<std::int64_t>(value) : value));
}

} // namespace

void print_scalar(Text& out, const Instruction& i, const OpcodeInfo& info) {
    if (i.format == Format::sopp) {
        print_immediate(out, i);
        return;
    }
    if (i.format == Format::sopk) {
        print_sopk(out, i);
        return;
    }
    if (i.dst.kind != Operand::Kind::none) {
        print_register(out.separate(), i.dst);
    }
    for (int n = 0; n < 2; ++n) {
        if (i.src[n].kind != Operand::Kind::none) {
            print_operand(out.separate(), i.src[n], info.src[n]);
        }
    }
    if (i.op == Opcode::s_set_gpr_idx_on) {
        print_index_mask(out.separate(), i.imm);
    }
}

void print_smem(Text& out, const Instruction& i) {
    if (i.src[2].kind == Operand::Kind::constant) {
        print_number(out.separate(), i.src[2].value);
    } else if (i.src[2].kind != Operand::Kind::none) {
        print_register(out.separate(), i.src[2]);
    } else if (i.dst.kind != Operand::Kind::none) {
        print_register(out.separate(), i.dst);
    }
    if (i.src[0].kind == Operand::Kind::none) {
        return;
    }
    print_register(out.separate(), i.src[0]);
    if (i.src[1].kind == Operand::Kind::none) {
        print_signed_hex(out.separate(), i.imm);
    } else {
        print_register(out.separate(), i.src[1]);
        if (i.offen) {
            out << " offset:";
            print_signed_hex(out, i.imm);
        }
    }
    if (i.sc0) {
        out << " glc";
    }
}

} // namespace emulator
