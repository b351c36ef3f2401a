// What the checks know about LDS: bytes written, and which waves touched a dword since the last barrier.
#include "checks.hpp"

#include <bit>

namespace emulator {

namespace {

using emulator_host::Finding;

void add(Checks& checks, Finding::Kind kind, std::uint32_t pc, std::uint32_t from, std::uint32_t byte, std::int64_t clocks) {
    Finding found = {};
    found.kind = kind;
    found.pc = pc;
    found.from_pc = from;
    found.where = byte;
    found.clocks = clocks;
    found.count = 1;
    add_finding(checks, found);
}

void find(Wave& wave, Finding::Kind kind, std::uint32_t pc, const LdsAccess& earlier, std::uint32_t byte) {
    add(*wave.group->checks, kind, pc, earlier.pc, byte, static_cast<std::int64_t>(wave.clock - earlier.clock));
}

/// What is wrong with an access, given an earlier one by another wave: no barrier lies between, or one that the earlier access was not
/// waited for at.
enum class Order : std::uint8_t { fine, no_barrier, not_waited };

Order order_after(const Wave& wave, const LdsAccess& earlier) {
    const Checks& checks = *wave.group->checks;
    if (earlier.epoch == 0) {
        return Order::fine;
    }
    if (earlier.epoch == checks.epoch) {
        return Order::no_barrier;
    }
    return earlier.ticket > checks.wave[earlier.wave].done[static_cast<int>(earlier.port)] ? Order::not_waited : Order::fine;
}

const LdsAccess& by_another(const Wave& wave, const LdsHistory& history) {
    return history.last.wave == wave.id ? history.other : history.last;
}

void note(LdsHistory& history, const LdsAccess& access) {
    if (history.last.wave != access.wave) {
        history.other = history.last;
    }
    history.last = access;
}

void touch(Wave& wave, std::uint32_t pc, std::uint32_t offset, std::uint32_t bytes, LdsUse use, Port port, std::uint32_t ticket) {
    using Kind = Finding::Kind;
    Checks& checks = *wave.group->checks;
    const bool writes = use != LdsUse::read;
    const LdsAccess self = {wave.clock, pc, checks.epoch, ticket, static_cast<std::uint8_t>(wave.id), port, use == LdsUse::atomic};
    for (std::uint32_t byte = offset & ~3U; byte < offset + bytes; byte += 4) {
        LdsCell& cell = checks.lds[byte / 4];
        const LdsAccess& write = by_another(wave, cell.writes);
        const Order after_write = order_after(wave, write);
        if (after_write == Order::not_waited) {
            find(wave, Kind::lds_before_wait, pc, write, byte);
        } else if (after_write == Order::no_barrier && !(self.atomic && write.atomic)) {
            find(wave, writes ? Kind::lds_write_after_write : Kind::lds_read_after_write, pc, write, byte);
        }
        if (writes) {
            const LdsAccess& read = by_another(wave, cell.reads);
            const Order after_read = order_after(wave, read);
            if (after_read != Order::fine) {
                find(wave, after_read == Order::not_waited ? Kind::lds_write_before_wait : Kind::lds_write_after_read, pc, read, byte);
            }
        }
        note(writes ? cell.writes : cell.reads, self);
    }
}

void mark_written(Checks& checks, std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t byte = offset; byte < offset + bytes; ++byte) {
        checks.lds[byte / 4].written |= static_cast<std::uint8_t>(1U << (byte & 3));
    }
}

bool all_written(const Checks& checks, std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t byte = offset; byte < offset + bytes; ++byte) {
        if ((checks.lds[byte / 4].written >> (byte & 3) & 1) == 0) {
            return false;
        }
    }
    return true;
}

bool overlaps(const Uncovered& load, std::uint32_t offset, std::uint32_t bytes) {
    if (load.lds_bytes == 0 || offset + bytes <= load.lds_offset) {
        return false;
    }
    const std::uint32_t from = offset < load.lds_offset ? 0 : (offset - load.lds_offset) / load.lds_bytes;
    const std::uint32_t to = (offset + bytes - 1 - load.lds_offset) / load.lds_bytes;
    for (std::uint32_t lane = from; lane <= to && lane < kLanes; ++lane) {
        if ((load.lanes >> lane & 1) != 0) {
            return true;
        }
    }
    return false;
}

/// Loads to LDS of any wave that its s_waitcnt has not covered, and that these bytes belong to.
void touched_early(Wave& wave, std::uint32_t pc, std::uint32_t offset, std::uint32_t bytes) {
    Workgroup& group = *wave.group;
    for (int other = 0; other < group.wave_count; ++other) {
        const WaveChecks& checks = group.checks->wave[other];
        if (checks.lds_pending == 0) {
            continue;
        }
        const UncoveredQueue& queue = checks.queue[static_cast<int>(Port::vector)];
        for (int place = 0; place < queue.count; ++place) {
            const Uncovered& load = queue.entry[place];
            if (load.target == Pending::Target::lds && overlaps(load, offset, bytes)) {
                const bool never = load.ready == ~std::uint64_t{0};
                add(*group.checks, Finding::Kind::lds_before_wait, pc, load.pc, offset,
                    never ? emulator_host::kNoClocks : static_cast<std::int64_t>(wave.clock - load.ready));
            }
        }
    }
}

/// The ticket of a load to LDS that arrives; 0 where an s_waitcnt has covered it.
std::uint32_t ticket_of(const WaveChecks& checks, const Pending& load) {
    const UncoveredQueue& queue = checks.queue[static_cast<int>(Port::vector)];
    for (int place = 0; place < queue.count; ++place) {
        const Uncovered& entry = queue.entry[place];
        if (entry.target == Pending::Target::lds && entry.pc == load.pc && entry.lds_offset == load.lds_offset) {
            return entry.ticket;
        }
    }
    return 0;
}

} // namespace

bool check_lds(Wave& wave, const Instruction& in, const std::uint32_t* offsets, std::uint64_t lanes, std::uint32_t bytes, LdsUse use) {
    Checks& checks = *wave.group->checks;
    const std::uint32_t ticket = checks.wave[wave.id].issued[static_cast<int>(Port::local)] + 1;
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (checks.hazards) {
            touch(wave, in.pc, offsets[lane], bytes, use, Port::local, ticket);
            touched_early(wave, in.pc, offsets[lane], bytes);
        }
        if (use != LdsUse::write && checks.uninitialised && !all_written(checks, offsets[lane], bytes)) {
            wave.fault = {
                .kind = FaultKind::uninitialised_lds, .lane = static_cast<std::int16_t>(lane), .address = offsets[lane], .size = bytes};
            return false;
        }
        if (use != LdsUse::read) {
            mark_written(checks, offsets[lane], bytes);
        }
    }
    return true;
}

void check_lds_arrival(Wave& wave, const Pending& entry) {
    Checks& checks = *wave.group->checks;
    const std::uint32_t ticket = ticket_of(checks.wave[wave.id], entry);
    for (std::uint64_t left = entry.lanes; left != 0; left &= left - 1) {
        const std::uint32_t offset = entry.lds_offset + static_cast<std::uint32_t>(std::countr_zero(left)) * entry.lds_bytes;
        if (checks.hazards) {
            touch(wave, entry.pc, offset, entry.lds_bytes, LdsUse::write, Port::vector, ticket);
        }
        mark_written(checks, offset, entry.lds_bytes);
    }
}

} // namespace emulator
