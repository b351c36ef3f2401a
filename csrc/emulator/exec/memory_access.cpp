#include "memory_access.hpp"

namespace emulator {

namespace {

void set_fault(Wave& w, FaultKind kind, int lane, std::uint64_t address, std::uint32_t bytes, bool write) {
    w.fault = {.kind = kind, .lane = static_cast<std::int16_t>(lane), .address = address, .size = bytes, .write = write};
}

} // namespace

bool reachable(Wave& w, const LaneAddresses& addresses, std::uint64_t lanes, std::uint32_t bytes, bool write) {
    if (lanes == 0) {
        return true;
    }
    std::uint64_t low = ~std::uint64_t{0};
    std::uint64_t high = 0;
    each_lane(lanes, [&](int lane) {
        low = addresses.at[lane] < low ? addresses.at[lane] : low;
        high = addresses.at[lane] > high ? addresses.at[lane] : high;
    });
    Workgroup& group = *w.group;
    const emulator_host::Range* range = group.range_of(low, high + bytes);
    if (range != nullptr && high + bytes > high && (range->writable || !write)) {
        return true;
    }
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint64_t address = addresses.at[lane];
        range = group.range_of(address, address + bytes);
        if (range == nullptr || (write && !range->writable)) {
            set_fault(w, FaultKind::global_out_of_bounds, lane, address, bytes, write);
            return false;
        }
    }
    return true;
}

bool in_lds(Wave& w, const LaneOffsets& offsets, std::uint64_t lanes, std::uint32_t bytes, bool write) {
    std::uint32_t high = 0;
    each_lane(lanes, [&](int lane) { high = offsets.at[lane] > high ? offsets.at[lane] : high; });
    const std::uint32_t size = w.group->lds_bytes;
    if (lanes == 0 || std::uint64_t{high} + bytes <= size) {
        return true;
    }
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (std::uint64_t{offsets.at[lane]} + bytes > size) {
            set_fault(w, FaultKind::lds_out_of_bounds, lane, offsets.at[lane], bytes, write);
            return false;
        }
    }
    return true;
}

} // namespace emulator
