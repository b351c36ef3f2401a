// DS instructions that count lanes in LDS: one addition for the whole wave, at the address in M0.
#include "memory_tables.hpp"

#include "../machine/checks.hpp"
#include "memory_access.hpp"

namespace emulator {

namespace {

template <bool add> void count_lanes(Wave& w, const Instruction& in) {
    if (in.gds) {
        w.fault = {.kind = FaultKind::unsupported, .lane = -1, .address = static_cast<std::uint64_t>(in.imm)};
        return;
    }
    const std::uint32_t offset = (w.s[124] & 0xffffU) + static_cast<std::uint32_t>(in.imm);
    LaneOffsets offsets = {};
    offsets.at[0] = offset;
    Workgroup& group = *w.group;
    if (!in_lds(w, offsets, 1, 4, true) || (group.checks != nullptr && !check_lds(w, in, offsets.at, 1, 4, LdsUse::atomic))) {
        return;
    }
    std::uint32_t old;
    std::memcpy(&old, group.lds + offset, sizeof(old));
    const auto lanes = static_cast<std::uint32_t>(std::popcount(w.exec()));
    const std::uint32_t fresh = add ? old + lanes : old - lanes;
    std::memcpy(group.lds + offset, &fresh, sizeof(fresh));
    group.traffic.lds_read += 4;
    group.traffic.lds_written += 4;
    Pending& entry = begin_pending(w, Port::local, in.pc);
    for (std::uint32_t& lane : entry.data[0]) {
        lane = old;
    }
    load_to_vgprs(w, entry, in, {4}, w.exec(), Port::local);
}

} // namespace

Executor ds_append_executor(Opcode op) {
    return op == Opcode::ds_append ? count_lanes<true> : op == Opcode::ds_consume ? count_lanes<false> : nullptr;
}

} // namespace emulator
