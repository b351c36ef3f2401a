// Loads, stores, atomics and loads to LDS at lane addresses: the second half of MUBUF, FLAT, GLOBAL and SCRATCH.
#pragma once

#include "atomic_ops.hpp"
#include "memory_access.hpp"

namespace emulator {

/// Of the active lanes, those that a buffer's range check leaves; the others load 0 and store nothing.
struct Lanes {
    std::uint64_t active, reached;
};

inline void* host_pointer(const LaneAddresses& addresses, int lane) {
    return reinterpret_cast<void*>(addresses.at[lane]);
}

template <unsigned number> void load_at(Wave& w, const Instruction& in, const LaneAddresses& addresses, Lanes lanes) {
    constexpr Shape kShape = [] {
        Shape shape;
        load_shape(number, shape);
        return shape;
    }();
    Pending& entry = begin_pending(w, Port::vector, in.pc);
    if (lanes.reached != lanes.active) {
        std::memset(entry.data, 0, sizeof(entry.data[0]) * ((kShape.bytes + 3) / 4));
    }
    gather_shape(kShape, entry.data, lanes.reached, [&](int lane) -> const void* { return host_pointer(addresses, lane); });
    w.group->traffic.global_read += kShape.bytes * static_cast<unsigned>(std::popcount(lanes.reached));
    load_to_vgprs(w, entry, in, kShape, lanes.active, Port::vector);
}

template <unsigned number>
void store_at(Wave& w, const Instruction& in, const Operand& data, const LaneAddresses& addresses, std::uint64_t lanes) {
    constexpr Shape kShape = [] {
        Shape shape;
        store_shape(number, shape);
        return shape;
    }();
    scatter_shape(kShape, w.v + row_of(data), lanes, [&](int lane) -> void* { return host_pointer(addresses, lane); });
    w.group->traffic.global_written += kShape.bytes * static_cast<unsigned>(std::popcount(lanes));
    store_issued(w, in, Port::vector);
}

/// `data` holds the operand, and for a compare-and-swap the value compared with behind it.
void atomic_at(Wave& w, const Instruction& in, GlobalAtomic atomic, const Operand& data, const LaneAddresses& addresses, Lanes lanes);

/// Loads `bytes` of each lane to LDS: lane i's data goes to M0 + offset + i * (bytes rounded up to dwords).
void load_to_lds(Wave& w, const Instruction& in, const Shape& shape, std::uint32_t offset, const LaneAddresses& addresses, Lanes lanes);

} // namespace emulator
