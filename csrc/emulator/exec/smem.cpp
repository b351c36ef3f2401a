// SMEM at an address: loads and stores of scalar registers, clocks, and cache control, which has no effect here.
#include "memory_tables.hpp"

#include "scalar_memory.hpp"

namespace emulator {

namespace {

template <int dwords> void load(Wave& w, const Instruction& in) {
    const std::uint64_t address = scalar_address(w, in);
    if (!scalar_reachable(w, address, 4 * dwords, false)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    std::memcpy(entry.data[0], reinterpret_cast<const void*>(address), 4 * dwords);
    w.group->traffic.global_read += 4 * dwords;
    load_to_sgprs(w, in, entry, dwords);
}

template <int dwords> void store(Wave& w, const Instruction& in) {
    const std::uint64_t address = scalar_address(w, in);
    if (!scalar_reachable(w, address, 4 * dwords, true)) {
        return;
    }
    std::memcpy(reinterpret_cast<void*>(address), w.s + (in.src[2].index & 127), 4 * dwords);
    w.group->traffic.global_written += 4 * dwords;
    store_issued(w, in, Port::local);
}

/// The clock of the core, and the constant clock of 100 MHz, which this machine takes to be a twentieth of it.
template <std::uint64_t divisor> void read_clock(Wave& w, const Instruction& in) {
    Pending& entry = begin_pending(w, Port::local, in.pc);
    const std::uint64_t value = w.clock / divisor;
    entry.data[0][0] = static_cast<std::uint32_t>(value);
    entry.data[0][1] = static_cast<std::uint32_t>(value >> 32);
    load_to_sgprs(w, in, entry, 2);
}

void nothing(Wave&, const Instruction&) {}

} // namespace

Executor smem_executor(Opcode op) {
    switch (op) {
    case Opcode::s_load_dword:
        return load<1>;
    case Opcode::s_load_dwordx2:
        return load<2>;
    case Opcode::s_load_dwordx4:
        return load<4>;
    case Opcode::s_load_dwordx8:
        return load<8>;
    case Opcode::s_load_dwordx16:
        return load<16>;
    case Opcode::s_store_dword:
        return store<1>;
    case Opcode::s_store_dwordx2:
        return store<2>;
    case Opcode::s_store_dwordx4:
        return store<4>;
    case Opcode::s_memtime:
        return read_clock<1>;
    case Opcode::s_memrealtime:
        return read_clock<20>;
    case Opcode::s_dcache_inv:
    case Opcode::s_dcache_wb:
    case Opcode::s_dcache_inv_vol:
    case Opcode::s_dcache_wb_vol:
    case Opcode::s_dcache_discard:
    case Opcode::s_dcache_discard_x2:
    case Opcode::s_atc_probe:
    case Opcode::s_atc_probe_buffer:
        return nothing;
    default:
        return nullptr;
    }
}

} // namespace emulator
