// MUBUF: accesses through a buffer descriptor. The descriptor's range rules decide first; what passes them must be memory of the launch.
#include "memory_tables.hpp"

#include "global_access.hpp"

#include <utility>

namespace emulator {

namespace {

struct Buffer {
    std::uint64_t base;
    std::uint32_t stride;
    std::uint32_t records;
    bool swizzled;
    bool add_lane; // the lane's number is added to the index
};

Buffer buffer_of(const Wave& w, const Instruction& in) {
    const std::uint32_t* words = w.s + (in.src[1].index & 127);
    return {words[0] | std::uint64_t{words[1] & 0xffff} << 32, words[1] >> 16 & 0x3fff, words[2], (words[1] >> 31) != 0,
            (words[3] >> 23 & 1) != 0};
}

struct Located {
    LaneAddresses addresses;
    Lanes lanes;
    std::uint64_t whole;                      // lanes of which every dword passes the range check
    alignas(64) std::uint64_t offset[kLanes]; // what the range check looks at
    std::uint64_t limit;
    bool by_index; // the range check looks at the index, so a lane passes as a whole
    bool compact;  // every lane, active or not, passes, and its address lies in [first, last]
    std::uint64_t first, last;
};

/// The rule that all lanes' accesses lie in the allocation the buffer starts in, where it starts in one: a neighbour reached by
/// running over the end is as wrong as no memory at all.
bool stays_in_allocation(Wave& w, const Buffer& buffer, const LaneAddresses& addresses, std::uint64_t lanes, std::uint32_t bytes,
                         bool write) {
    const emulator_host::Range* home = w.group->memory.find(buffer.base);
    if (home == nullptr) {
        return true;
    }
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint64_t address = addresses.at[lane];
        if (address < home->begin || address + bytes > home->end) {
            w.fault = {.kind = FaultKind::global_out_of_bounds,
                       .lane = static_cast<std::int16_t>(lane),
                       .address = address,
                       .size = bytes,
                       .write = write};
            return false;
        }
    }
    return true;
}

/// Addresses that differ by the lanes' offsets only, where even the greatest is in range: the common case, with no arithmetic of 64 bits
/// but one sum for each lane. False if it is another.
bool locate_compact(const Wave& w, const Instruction& in, std::uint64_t start, std::uint32_t bytes, Located& out) {
    constexpr std::uint32_t kNoOffsets[kLanes] = {};
    const std::uint32_t* offsets = in.offen ? w.v[row_of(in.src[0])] : kNoOffsets;
    std::uint32_t least = offsets[0];
    std::uint32_t greatest = offsets[0];
    for (int lane = 0; lane < kLanes; ++lane) {
        least = offsets[lane] < least ? offsets[lane] : least;
        greatest = offsets[lane] > greatest ? offsets[lane] : greatest;
    }
    const auto immediate = static_cast<std::uint32_t>(in.imm);
    if (std::uint64_t{immediate} + greatest + bytes > out.limit) {
        return false;
    }
    const std::uint64_t base = start + immediate;
    for (int lane = 0; lane < kLanes; ++lane) {
        out.addresses.at[lane] = base + offsets[lane];
    }
    out.compact = true;
    out.first = base + least;
    out.last = base + greatest;
    out.lanes = {w.exec(), w.exec()};
    out.whole = w.exec();
    return true;
}

/// Computes addresses and applies the range rules. False after a fault.
bool locate(Wave& w, const Instruction& in, std::uint32_t bytes, Located& out) {
    const Buffer buffer = buffer_of(w, in);
    if (buffer.swizzled) {
        w.fault = {.kind = FaultKind::unsupported, .lane = -1, .address = buffer.base};
        return false;
    }
    const std::uint64_t soffset = is_absent(in.src[2]) ? 0 : scalar_operand(w, in.src[2]);
    const bool has_register = in.offen || in.idxen;
    const int row = has_register ? row_of(in.src[0]) : 0;
    const auto immediate = static_cast<std::uint32_t>(in.imm);
    out.by_index = in.idxen && buffer.stride != 0;
    // Without an index the records are bytes, of which the scalar offset takes its share.
    out.limit = out.by_index ? buffer.records : buffer.records > soffset ? buffer.records - soffset : 0;
    const std::uint64_t start = buffer.base + soffset;
    if (!in.idxen && !buffer.add_lane && locate_compact(w, in, start, bytes, out)) {
        return true;
    }
    out.compact = false;
    std::uint64_t reached = 0;
    std::uint64_t whole = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t index = (in.idxen ? std::uint64_t{w.v[row][lane]} : 0) + (buffer.add_lane ? static_cast<unsigned>(lane) : 0U);
        const std::uint64_t within = std::uint64_t{immediate} + (in.offen ? w.v[row + (in.idxen ? 1 : 0)][lane] : 0U);
        const std::uint64_t place = within + index * buffer.stride;
        out.addresses.at[lane] = start + place;
        out.offset[lane] = out.by_index ? index : place;
        const bool first = out.by_index ? index < out.limit : place + (bytes < 4 ? bytes : 4) <= out.limit;
        const bool all = out.by_index ? index < out.limit : place + bytes <= out.limit;
        reached |= std::uint64_t{first} << lane;
        whole |= std::uint64_t{all} << lane;
    }
    out.lanes = {w.exec(), w.exec() & reached};
    out.whole = w.exec() & whole;
    return true;
}

bool permitted(Wave& w, const Instruction& in, const Located& at, std::uint64_t lanes, std::uint32_t bytes, bool write) {
    if (at.compact) {
        const emulator_host::Range* range = w.group->range_of(at.first, at.last + bytes);
        const std::uint64_t base = buffer_of(w, in).base;
        if (range != nullptr && (range->writable || !write) && base >= range->begin && base < range->end) {
            return true;
        }
    }
    return reachable(w, at.addresses, lanes, bytes, write) && stays_in_allocation(w, buffer_of(w, in), at.addresses, lanes, bytes, write);
}

template <unsigned number> constexpr Shape load_shape_of() {
    Shape shape;
    load_shape(number, shape);
    return shape;
}

template <unsigned number> constexpr Shape store_shape_of() {
    Shape shape;
    store_shape(number, shape);
    return shape;
}

/// Dwords of a wide access are checked one by one: the lanes cut by the end of the buffer get or store their first dwords only.
template <typename Body>
bool each_cut_dword(Wave& w, const Instruction& in, const Located& at, std::uint32_t bytes, bool write, Body body) {
    const std::uint64_t cut = at.lanes.reached & ~at.whole;
    for (std::uint64_t left = cut; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        for (std::uint32_t dword = 0; dword < bytes / 4; ++dword) {
            if (at.offset[lane] + 4 * dword + 4 > at.limit) {
                break;
            }
            LaneAddresses one;
            one.at[lane] = at.addresses.at[lane] + 4 * dword;
            if (!reachable(w, one, std::uint64_t{1} << lane, 4, write) ||
                !stays_in_allocation(w, buffer_of(w, in), one, std::uint64_t{1} << lane, 4, write)) {
                return false;
            }
            body(lane, dword, host_pointer(one, lane));
        }
    }
    return true;
}

template <unsigned number> void load(Wave& w, const Instruction& in) {
    constexpr Shape kShape = load_shape_of<number>();
    Located at;
    if (!locate(w, in, kShape.bytes, at) || !permitted(w, in, at, at.whole, kShape.bytes, false)) {
        return;
    }
    if (in.lds) {
        load_to_lds(w, in, kShape, static_cast<std::uint32_t>(in.imm), at.addresses, {at.lanes.active, at.whole});
        return;
    }
    if (at.lanes.reached == at.whole) [[likely]] {
        load_at<number>(w, in, at.addresses, at.lanes);
        return;
    }
    Pending& entry = begin_pending(w, Port::vector, in.pc);
    std::memset(entry.data, 0, sizeof(entry.data));
    gather_shape(kShape, entry.data, at.whole, [&](int lane) -> const void* { return host_pointer(at.addresses, lane); });
    const bool legal = each_cut_dword(w, in, at, kShape.bytes, false, [&](int lane, std::uint32_t dword, const void* from) {
        std::memcpy(&entry.data[dword][lane], from, 4);
    });
    if (legal) {
        w.group->traffic.global_read += kShape.bytes * static_cast<unsigned>(std::popcount(at.whole));
        load_to_vgprs(w, entry, in, kShape, at.lanes.active, Port::vector);
    }
}

template <unsigned number> void store(Wave& w, const Instruction& in) {
    constexpr Shape kShape = store_shape_of<number>();
    Located at;
    if (!locate(w, in, kShape.bytes, at) || !permitted(w, in, at, at.whole, kShape.bytes, true)) {
        return;
    }
    const int row = row_of(in.src[3]);
    if (at.lanes.reached != at.whole && !each_cut_dword(w, in, at, kShape.bytes, true, [&](int lane, std::uint32_t dword, void* to) {
            std::memcpy(to, &w.v[row + static_cast<int>(dword)][lane], 4);
        })) {
        return;
    }
    store_at<number>(w, in, in.src[3], at.addresses, at.whole);
}

template <unsigned number> void atomic(Wave& w, const Instruction& in) {
    constexpr GlobalAtomic kAtomic = [] {
        GlobalAtomic found;
        global_atomic(number, found);
        return found;
    }();
    constexpr std::uint32_t kBytes = kAtomic.wide ? 8 : 4;
    Located at;
    if (locate(w, in, kBytes, at) && permitted(w, in, at, at.whole, kBytes, true)) {
        atomic_at(w, in, kAtomic, in.src[3], at.addresses, {at.lanes.active, at.whole});
    }
}

/// Write-back and invalidation of caches, of which this machine has none.
void nothing(Wave&, const Instruction&) {}

template <unsigned number> constexpr Executor executor_of() {
    if constexpr (is_load(number)) {
        return load<number>;
    } else if constexpr (is_store(number)) {
        return store<number>;
    } else if constexpr (is_global_atomic(number)) {
        return atomic<number>;
    } else if constexpr (number == 40 || number == 41) { // buffer_wbl2, buffer_inv
        return nothing;
    } else {
        return nullptr; // the format conversions
    }
}

constexpr unsigned kNumbers = 128;

struct Table {
    Executor at[kNumbers];
};

template <std::size_t... number> constexpr Table make_table(std::index_sequence<number...>) {
    return {{executor_of<number>()...}};
}

constexpr Table kTable = make_table(std::make_index_sequence<kNumbers>{});

} // namespace

Executor mubuf_executor(unsigned number) {
    return number < kNumbers ? kTable.at[number] : nullptr;
}

} // namespace emulator
