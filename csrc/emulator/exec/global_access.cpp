#include "global_access.hpp"

#include "../machine/checks.hpp"

namespace emulator {

namespace {

template <typename T>
void run_atomic(Wave& w, AtomicOp op, int row, const LaneAddresses& addresses, std::uint64_t lanes, std::uint32_t (*old)[kLanes]) {
    constexpr int kDwords = sizeof(T) / 4;
    each_lane(lanes, [&](int lane) {
        T operands[2] = {};
        for (int dword = 0; dword < 2 * kDwords; ++dword) {
            // Only a compare-and-swap has a second operand; its register may be the last of the file.
            if (dword < kDwords || op == AtomicOp::compare_swap) {
                operands[dword / kDwords] |= static_cast<T>(w.v[row + dword][lane]) << (32 * (dword % kDwords));
            }
        }
        const T before = atomic_replace<T>(host_pointer(addresses, lane), op, operands[0], operands[1]);
        for (int dword = 0; dword < kDwords; ++dword) {
            old[dword][lane] = static_cast<std::uint32_t>(std::uint64_t{before} >> (32 * dword));
        }
    });
}

bool aligned(Wave& w, const LaneAddresses& addresses, std::uint64_t lanes, std::uint32_t bytes) {
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (addresses.at[lane] % bytes != 0) {
            w.fault = {.kind = FaultKind::misaligned,
                       .lane = static_cast<std::int16_t>(lane),
                       .address = addresses.at[lane],
                       .size = bytes,
                       .write = true};
            return false;
        }
    }
    return true;
}

} // namespace

void atomic_at(Wave& w, const Instruction& in, GlobalAtomic atomic, const Operand& data, const LaneAddresses& addresses, Lanes lanes) {
    const std::uint32_t bytes = atomic.wide ? 8 : 4;
    if (!aligned(w, addresses, lanes.reached, bytes)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::vector, in.pc);
    std::memset(entry.data, 0, sizeof(entry.data[0]) * 2);
    if (atomic.wide) {
        run_atomic<std::uint64_t>(w, atomic.op, row_of(data), addresses, lanes.reached, entry.data);
    } else {
        run_atomic<std::uint32_t>(w, atomic.op, row_of(data), addresses, lanes.reached, entry.data);
    }
    const std::uint64_t moved = std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(lanes.reached));
    w.group->traffic.global_read += moved;
    w.group->traffic.global_written += moved;
    if (in.sc0) {
        load_to_vgprs(w, entry, in, {static_cast<std::uint8_t>(bytes)}, lanes.active, Port::vector);
    } else {
        issued(w, entry, Port::vector, Access::vector_narrow);
    }
}

void load_to_lds(Wave& w, const Instruction& in, const Shape& shape, std::uint32_t offset, const LaneAddresses& addresses, Lanes lanes) {
    const std::uint32_t lane_bytes = (shape.bytes + 3U) & ~3U;
    const std::uint32_t first = (w.s[124] & ~3U) + offset;
    LaneOffsets targets;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        targets.at[lane] = first + lane * lane_bytes;
    }
    if (!in_lds(w, targets, lanes.active, lane_bytes, true)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::vector, in.pc);
    std::memset(entry.data, 0, sizeof(entry.data));
    gather_shape(shape, entry.data, lanes.reached, [&](int lane) -> const void* { return host_pointer(addresses, lane); });
    const auto reached = static_cast<unsigned>(std::popcount(lanes.reached));
    w.group->traffic.global_read += shape.bytes * reached;
    w.group->traffic.lds_written += lane_bytes * static_cast<unsigned>(std::popcount(lanes.active));
    entry.target = Pending::Target::lds;
    entry.lds_bytes = lane_bytes;
    entry.lds_offset = first;
    entry.lanes = lanes.active;
    issued(w, entry, Port::vector, shape.bytes <= 4 ? Access::vector_narrow : Access::vector_wide);
}

} // namespace emulator
