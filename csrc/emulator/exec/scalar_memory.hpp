// What the executors of SMEM share: faults, offsets, and how a load ends.
#pragma once

#include "memory_access.hpp"
#include "scalar.hpp"

namespace emulator {

inline void scalar_fault(Wave& w, FaultKind kind, std::uint64_t address, std::uint32_t bytes, bool write) {
    w.fault = {.kind = kind, .lane = -1, .address = address, .size = bytes, .write = write};
}

inline std::int64_t scalar_offset(const Wave& w, const Instruction& in) {
    return in.imm + (is_absent(in.src[1]) ? std::int64_t{0} : std::int64_t{scalar_operand(w, in.src[1])});
}

/// Completes a load of scalar registers.
inline void load_to_sgprs(Wave& w, const Instruction& in, Pending& entry, std::uint8_t dwords) {
    entry.target = Pending::Target::sgpr;
    entry.first = in.dst.index;
    entry.dwords = dwords;
    entry.lanes = kAllLanes;
    issued(w, entry, Port::local, Access::scalar);
}

/// True if the launch may access the bytes; otherwise the wave has a fault.
inline bool scalar_reachable(Wave& w, std::uint64_t address, std::uint32_t bytes, bool write) {
    const emulator_host::Range* range = w.group->range_of(address, address + bytes);
    if (range == nullptr || (write && !range->writable)) {
        scalar_fault(w, FaultKind::scalar_out_of_bounds, address, bytes, write);
        return false;
    }
    return true;
}

/// The two lowest bits of an address do not take part.
inline std::uint64_t scalar_address(const Wave& w, const Instruction& in) {
    const std::uint64_t base = scalar::read64(w, in.src[0]) & ~std::uint64_t{3};
    return base + static_cast<std::uint64_t>(scalar_offset(w, in) & ~std::int64_t{3});
}

/// A buffer descriptor as scalar accesses see it: a base and a number of bytes.
struct ScalarBuffer {
    std::uint64_t base, bytes;

    bool holds(std::uint64_t offset, std::uint32_t size) const {
        return offset + size <= bytes && offset + size >= offset;
    }
};

inline ScalarBuffer scalar_buffer(const Wave& w, const Instruction& in) {
    const std::uint32_t* words = w.s + (in.src[0].index & 127);
    const std::uint64_t base = words[0] | std::uint64_t{words[1] & 0xffff} << 32;
    const std::uint64_t stride = words[1] >> 16 & 0x3fff;
    return {base & ~std::uint64_t{3}, stride == 0 ? words[2] : stride * words[2]};
}

} // namespace emulator
