// SMEM: loads to scalar registers, clocks, and cache control, which has no effect here.
#include "memory_tables.hpp"

#include "memory_access.hpp"
#include "scalar.hpp"

namespace emulator {

namespace {

void fault_at(Wave& w, std::uint64_t address, std::uint32_t bytes, bool write) {
    w.fault = {.kind = FaultKind::scalar_out_of_bounds, .lane = -1, .address = address, .size = bytes, .write = write};
}

std::int64_t offset_of(const Wave& w, const Instruction& in) {
    return in.imm + (is_absent(in.src[1]) ? std::int64_t{0} : std::int64_t{scalar_operand(w, in.src[1])});
}

void finish(Wave& w, const Instruction& in, Pending& entry, std::uint8_t dwords) {
    entry.target = Pending::Target::sgpr;
    entry.first = in.dst.index;
    entry.dwords = dwords;
    entry.lanes = kAllLanes;
    issued(w, entry, Port::local, Access::scalar);
}

template <int dwords> void load(Wave& w, const Instruction& in) {
    // The two lowest bits of the address do not take part.
    const std::uint64_t base = scalar::read64(w, in.src[0]) & ~std::uint64_t{3};
    const std::uint64_t address = base + static_cast<std::uint64_t>(offset_of(w, in) & ~std::int64_t{3});
    Workgroup& group = *w.group;
    if (group.range_of(address, address + 4 * dwords) == nullptr) {
        fault_at(w, address, 4 * dwords, false);
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    std::memcpy(entry.data[0], reinterpret_cast<const void*>(address), 4 * dwords);
    group.traffic.global_read += 4 * dwords;
    finish(w, in, entry, dwords);
}

/// Dwords outside the buffer read as 0.
template <int dwords> void buffer_load(Wave& w, const Instruction& in) {
    const std::uint32_t* resource = w.s + (in.src[0].index & 127);
    const std::uint64_t base = resource[0] | std::uint64_t{resource[1] & 0xffff} << 32;
    const std::uint64_t stride = resource[1] >> 16 & 0x3fff;
    const std::uint64_t size = stride == 0 ? resource[2] : stride * resource[2];
    const std::uint64_t offset = static_cast<std::uint64_t>(offset_of(w, in)) & ~std::uint64_t{3};
    Workgroup& group = *w.group;
    Pending& entry = begin_pending(w, Port::local, in.pc);
    for (int dword = 0; dword < dwords; ++dword) {
        const std::uint64_t at = offset + 4U * static_cast<unsigned>(dword);
        entry.data[0][dword] = 0;
        if (at + 4 > size || at + 4 < at) {
            continue;
        }
        const std::uint64_t address = (base & ~std::uint64_t{3}) + at;
        if (group.range_of(address, address + 4) == nullptr) {
            fault_at(w, address, 4, false);
            return;
        }
        std::memcpy(entry.data[0] + dword, reinterpret_cast<const void*>(address), 4);
        group.traffic.global_read += 4;
    }
    finish(w, in, entry, dwords);
}

template <int dwords> void store(Wave& w, const Instruction& in) {
    const std::uint64_t base = scalar::read64(w, in.src[0]) & ~std::uint64_t{3};
    const std::uint64_t address = base + static_cast<std::uint64_t>(offset_of(w, in) & ~std::int64_t{3});
    Workgroup& group = *w.group;
    const emulator_host::Range* range = group.range_of(address, address + 4 * dwords);
    if (range == nullptr || !range->writable) {
        fault_at(w, address, 4 * dwords, true);
        return;
    }
    std::memcpy(reinterpret_cast<void*>(address), w.s + (in.src[2].index & 127), 4 * dwords);
    group.traffic.global_written += 4 * dwords;
    store_issued(w, in, Port::local);
}

/// The clock of the core, and the constant clock of 100 MHz, which this machine takes to be a twentieth of it.
template <std::uint64_t divisor> void read_clock(Wave& w, const Instruction& in) {
    Pending& entry = begin_pending(w, Port::local, in.pc);
    const std::uint64_t value = w.clock / divisor;
    entry.data[0][0] = static_cast<std::uint32_t>(value);
    entry.data[0][1] = static_cast<std::uint32_t>(value >> 32);
    finish(w, in, entry, 2);
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
    case Opcode::s_buffer_load_dword:
        return buffer_load<1>;
    case Opcode::s_buffer_load_dwordx2:
        return buffer_load<2>;
    case Opcode::s_buffer_load_dwordx4:
        return buffer_load<4>;
    case Opcode::s_buffer_load_dwordx8:
        return buffer_load<8>;
    case Opcode::s_buffer_load_dwordx16:
        return buffer_load<16>;
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
        return nothing;
    default:
        return nullptr;
    }
}

} // namespace emulator
