// SOPP: branches and what has no effect on results. s_waitcnt, s_barrier, s_endpgm, s_nop and s_sleep are the scheduler's.
#include "executors.hpp"

#include "scalar.hpp"
#include "scalar_tables.hpp"

#include <initializer_list>

namespace emulator {

namespace scalar {

namespace {

template <auto taken> void branch(Wave& w, const Instruction& in) {
    if (taken(w)) {
        w.pc += static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(in.imm)} * 4);
    }
}

void nothing(Wave&, const Instruction&) {}

/// The trap handler and the halt of a debugger do not exist here: to reach one ends the launch.
void unsupported(Wave& w, const Instruction& in) {
    w.fault = {.kind = FaultKind::unsupported, .address = static_cast<std::uint64_t>(in.imm)};
}

void halt(Wave& w, const Instruction& in) {
    if ((in.imm & 1) != 0) {
        unsupported(w, in);
    }
}

void index_off(Wave& w, const Instruction&) {
    w.gpr_idx = false;
}

void index_mode(Wave& w, const Instruction& in) {
    w.s[124] = (w.s[124] & ~std::uint32_t{0xf000}) | static_cast<std::uint32_t>(in.imm & 15) << 12;
}

} // namespace

Executor flow(Opcode op) {
    switch (op) {
    case Opcode::s_branch:
        return branch<[](const Wave&) { return true; }>;
    case Opcode::s_cbranch_scc0:
        return branch<[](const Wave& w) { return !w.scc; }>;
    case Opcode::s_cbranch_scc1:
        return branch<[](const Wave& w) { return w.scc; }>;
    case Opcode::s_cbranch_vccz:
        return branch<[](const Wave& w) { return w.vcc() == 0; }>;
    case Opcode::s_cbranch_vccnz:
        return branch<[](const Wave& w) { return w.vcc() != 0; }>;
    case Opcode::s_cbranch_execz:
        return branch<[](const Wave& w) { return w.exec() == 0; }>;
    case Opcode::s_cbranch_execnz:
        return branch<[](const Wave& w) { return w.exec() != 0; }>;
    case Opcode::s_cbranch_cdbgsys: // no debugger: never taken
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user:
    case Opcode::s_wakeup:
    case Opcode::s_setprio:
    case Opcode::s_sendmsg:
    case Opcode::s_icache_inv:
    case Opcode::s_incperflevel:
    case Opcode::s_decperflevel:
    case Opcode::s_ttracedata:
        return nothing;
    case Opcode::s_sethalt:
        return halt;
    case Opcode::s_trap:
    case Opcode::s_sendmsghalt:
    case Opcode::s_setkill:
        return unsupported;
    case Opcode::s_set_gpr_idx_off:
        return index_off;
    case Opcode::s_set_gpr_idx_mode:
        return index_mode;
    default:
        return nullptr;
    }
}

} // namespace scalar

Executor scalar_executor(Opcode op) {
    for (Executor (*const table)(Opcode) : {scalar::unary, scalar::binary, scalar::compare, scalar::immediate, scalar::flow}) {
        if (const Executor executor = table(op)) {
            return executor;
        }
    }
    return nullptr;
}

} // namespace emulator
