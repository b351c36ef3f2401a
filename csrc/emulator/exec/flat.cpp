// FLAT, GLOBAL and SCRATCH: accesses at 64-bit addresses, at a scalar base, and in the lane's own memory.
#include "memory_tables.hpp"

#include "../machine/checks.hpp"
#include "global_access.hpp"
#include "scalar.hpp"

#include <utility>

namespace emulator {

namespace {

enum class Space : std::uint8_t { flat, global, scratch };

std::uint64_t address_pair(const Wave& w, int row, int lane) {
    return w.v[row][lane] | std::uint64_t{w.v[row + 1][lane]} << 32;
}

void fault_at(Wave& w, FaultKind kind, int lane, std::uint64_t address, std::uint32_t bytes, bool write) {
    w.fault = {.kind = kind, .lane = static_cast<std::int16_t>(lane), .address = address, .size = bytes, .write = write};
}

bool has_saddr(const Instruction& in) {
    return in.src[2].kind == Operand::Kind::sgpr;
}

/// Where the lane's own memory lies in this process.
bool to_scratch(Wave& w, std::uint64_t offset, int lane, std::uint32_t bytes, bool write, std::uint64_t& address) {
    const Workgroup& group = *w.group;
    if (offset + bytes > group.private_bytes || offset + bytes < offset) {
        fault_at(w, FaultKind::global_out_of_bounds, lane, kPrivateAperture + offset, bytes, write);
        return false;
    }
    address = reinterpret_cast<std::uint64_t>(group.lane_scratch(w, lane) + offset);
    return true;
}

bool locate_scratch(Wave& w, const Instruction& in, std::uint64_t lanes, std::uint32_t bytes, bool write, LaneAddresses& out) {
    const bool has_vaddr = in.src[0].kind == Operand::Kind::vgpr;
    const std::uint32_t base = has_saddr(in) ? scalar_operand(w, in.src[2]) : 0;
    bool legal = true;
    each_lane(lanes, [&](int lane) {
        const std::uint64_t offset =
            std::uint64_t{base} + (has_vaddr ? w.v[row_of(in.src[0])][lane] : 0) + static_cast<std::uint64_t>(std::int64_t{in.imm});
        legal = legal && to_scratch(w, offset, lane, bytes, write, out.at[lane]);
    });
    return legal;
}

/// Addresses in the apertures become those of LDS and of scratch; the rest is memory of the launch.
bool locate_flat(Wave& w, const Instruction& in, std::uint64_t lanes, std::uint32_t bytes, LdsUse use, LaneAddresses& out) {
    const bool write = use != LdsUse::read;
    std::uint64_t global = 0;
    std::uint64_t local = 0;
    LaneOffsets offsets;
    Workgroup& group = *w.group;
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint64_t address = out.at[lane];
        const std::uint64_t offset = address & 0xffffffffU;
        if (address - offset == kSharedAperture) {
            if (offset + bytes > group.lds_bytes) {
                fault_at(w, FaultKind::lds_out_of_bounds, lane, offset, bytes, write);
                return false;
            }
            out.at[lane] = reinterpret_cast<std::uint64_t>(group.lds + offset);
            offsets.at[lane] = static_cast<std::uint32_t>(offset);
            local |= std::uint64_t{1} << lane;
        } else if (address - offset == kPrivateAperture) {
            if (!to_scratch(w, offset, lane, bytes, write, out.at[lane])) {
                return false;
            }
        } else {
            global |= std::uint64_t{1} << lane;
        }
    }
    return reachable(w, out, global, bytes, write) && (group.checks == nullptr || check_lds(w, in, offsets.at, local, bytes, use));
}

template <Space space>
bool locate(Wave& w, const Instruction& in, std::uint64_t lanes, std::uint32_t bytes, LdsUse use, LaneAddresses& out) {
    const bool write = use != LdsUse::read;
    if constexpr (space == Space::scratch) {
        return locate_scratch(w, in, lanes, bytes, write, out);
    }
    const auto immediate = static_cast<std::uint64_t>(std::int64_t{in.imm});
    const int row = row_of(in.src[0]);
    if (has_saddr(in)) {
        const std::uint64_t base = scalar::read64(w, in.src[2]) + immediate;
        for (int lane = 0; lane < kLanes; ++lane) {
            out.at[lane] = base + w.v[row][lane];
        }
    } else {
        for (int lane = 0; lane < kLanes; ++lane) {
            out.at[lane] = address_pair(w, row, lane) + immediate;
        }
    }
    return space == Space::flat ? locate_flat(w, in, lanes, bytes, use, out) : reachable(w, out, lanes, bytes, write);
}

/// A flat access is in both counters, since it may go to LDS.
template <Space space> void count_locally(Wave& w, const Instruction& in) {
    if constexpr (space == Space::flat) {
        if (!w.fault) {
            issued(w, begin_pending(w, Port::local, in.pc), Port::local, Access::vector_wide);
        }
    }
}

template <Space space, unsigned number> void load(Wave& w, const Instruction& in) {
    constexpr std::uint32_t kBytes = [] {
        Shape shape;
        load_shape(number, shape);
        return shape.bytes;
    }();
    const std::uint64_t lanes = w.exec();
    LaneAddresses addresses;
    if (locate<space>(w, in, lanes, kBytes, LdsUse::read, addresses)) {
        load_at<number>(w, in, addresses, {lanes, lanes});
        count_locally<space>(w, in);
    }
}

template <Space space, unsigned number> void store(Wave& w, const Instruction& in) {
    constexpr std::uint32_t kBytes = [] {
        Shape shape;
        store_shape(number, shape);
        return shape.bytes;
    }();
    LaneAddresses addresses;
    if (locate<space>(w, in, w.exec(), kBytes, LdsUse::write, addresses)) {
        store_at<number>(w, in, in.src[1], addresses, w.exec());
        count_locally<space>(w, in);
    }
}

template <Space space, unsigned number> void atomic(Wave& w, const Instruction& in) {
    constexpr GlobalAtomic kAtomic = [] {
        GlobalAtomic found;
        global_atomic(number, found);
        return found;
    }();
    const std::uint64_t lanes = w.exec();
    LaneAddresses addresses;
    if (locate<space>(w, in, lanes, kAtomic.wide ? 8 : 4, LdsUse::atomic, addresses)) {
        atomic_at(w, in, kAtomic, in.src[1], addresses, {lanes, lanes});
        count_locally<space>(w, in);
    }
}

template <Space space, unsigned number> void lds_load(Wave& w, const Instruction& in) {
    constexpr Shape kShape = [] {
        Shape shape;
        lds_load_shape(number, shape);
        return shape;
    }();
    const std::uint64_t lanes = w.exec();
    LaneAddresses addresses;
    if (locate<space>(w, in, lanes, kShape.bytes, LdsUse::read, addresses)) {
        load_to_lds(w, in, kShape, static_cast<std::uint32_t>(in.imm), addresses, {lanes, lanes});
    }
}

template <Space space, unsigned number> constexpr Executor executor_of() {
    if constexpr (is_load(number)) {
        return load<space, number>;
    } else if constexpr (is_store(number)) {
        return store<space, number>;
    } else if constexpr (space != Space::scratch && is_global_atomic(number)) {
        return atomic<space, number>;
    } else if constexpr (space != Space::flat && is_lds_load(number)) {
        return lds_load<space, number>;
    } else {
        return nullptr;
    }
}

constexpr unsigned kNumbers = 128;

struct Table {
    Executor at[kNumbers];
};

template <Space space, std::size_t... number> constexpr Table make_table(std::index_sequence<number...>) {
    return {{executor_of<space, number>()...}};
}

constexpr Table kFlat = make_table<Space::flat>(std::make_index_sequence<kNumbers>{});
constexpr Table kGlobal = make_table<Space::global>(std::make_index_sequence<kNumbers>{});
constexpr Table kScratch = make_table<Space::scratch>(std::make_index_sequence<kNumbers>{});

} // namespace

Executor flat_executor(unsigned number) {
    return number < kNumbers ? kFlat.at[number] : nullptr;
}

Executor global_executor(unsigned number) {
    return number < kNumbers ? kGlobal.at[number] : nullptr;
}

Executor scratch_executor(unsigned number) {
    return number < kNumbers ? kScratch.at[number] : nullptr;
}

} // namespace emulator
