#include "pending.hpp"

#include "checks.hpp"
#include "workgroup.hpp"

#include <cstring>

namespace emulator {

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr int kLocalCapacity = 15; // lgkmcnt has four bits
constexpr int kVectorCapacity = 63;
constexpr std::uint32_t kSlowIndexFactor = 8;

/// Mixes the seed with the place of an access, so that a draw does not depend on threads or on the order of workgroups.
std::uint64_t draw(std::uint64_t seed, std::uint64_t group, std::uint64_t wave, std::uint64_t sequence) {
    std::uint64_t x = seed ^ (group * 0x9e3779b97f4a7c15U) ^ (wave << 56) ^ (sequence * 0xd1342543de82ef95U);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

std::uint64_t latency_of(const Wave& wave, std::uint64_t sequence, Access access) {
    const emulator_host::Options& options = *wave.group->options;
    const std::uint64_t base = access == Access::lds ? options.lds_latency : options.memory_latency;
    switch (options.timing) {
    case emulator_host::Timing::instant:
        return 0;
    case emulator_host::Timing::random: // between half and three times the usual
        return base / 2 + draw(options.seed, wave.group->number, wave.id, sequence) % (base * 5 / 2 + 1);
    case emulator_host::Timing::slow_index:
        return access == Access::vector_narrow || access == Access::scalar ? base * kSlowIndexFactor : base;
    default:
        return base;
    }
}

void write_vgprs(Wave& wave, const Pending& entry) {
    if (entry.half != 0) {
        const std::uint32_t keep = entry.half == 1 ? 0xffff0000U : 0x0000ffffU;
        const int shift = entry.half == 1 ? 0 : 16;
        for (int lane = 0; lane < kLanes; ++lane) {
            if ((entry.lanes >> lane & 1) != 0) {
                std::uint32_t& to = wave.v[entry.first][lane];
                to = (to & keep) | ((entry.data[0][lane] & 0xffffU) << shift);
            }
        }
        return;
    }
    for (int dword = 0; dword < entry.dwords; ++dword) {
        std::uint32_t* to = wave.v[entry.first + dword];
        const std::uint32_t* from = entry.data[dword];
        if (entry.lanes == ~std::uint64_t{0}) {
            std::memcpy(to, from, sizeof(entry.data[0]));
            continue;
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            to[lane] = (entry.lanes >> lane & 1) != 0 ? from[lane] : to[lane];
        }
    }
}

void write_lds(Wave& wave, const Pending& entry) {
    Workgroup& group = *wave.group;
    for (int lane = 0; lane < kLanes; ++lane) {
        if ((entry.lanes >> lane & 1) == 0) {
            continue;
        }
        std::uint32_t words[4];
        for (int dword = 0; dword < 4; ++dword) {
            words[dword] = entry.data[dword][lane];
        }
        // The range was checked at issue.
        std::memcpy(group.lds + entry.lds_offset + static_cast<std::uint32_t>(lane) * entry.lds_bytes, words, entry.lds_bytes);
    }
    if (group.checks != nullptr) {
        check_lds_arrival(wave, entry);
    }
}

void deliver(Wave& wave, const Pending& entry) {
    switch (entry.target) {
    case Pending::Target::vgpr:
        write_vgprs(wave, entry);
        break;
    case Pending::Target::sgpr:
        std::memcpy(wave.s + entry.first, entry.data[0], std::size_t{4} * entry.dwords);
        break;
    case Pending::Target::lds:
        write_lds(wave, entry);
        break;
    case Pending::Target::nothing:
        break;
    }
}

void pop(Wave& wave, WaveMemory& memory, PendingQueue& queue) {
    Pending& entry = queue.oldest();
    deliver(wave, entry);
    memory.free[memory.free_count++] = &entry;
    queue.head = (queue.head + 1) % PendingQueue::kCapacity;
    queue.count -= 1;
}

void renew_next(WaveMemory& memory) {
    const std::uint64_t vector = memory.vector.count > 0 ? memory.vector.oldest().ready : kNever;
    const std::uint64_t local = memory.local.count > 0 ? memory.local.oldest().ready : kNever;
    memory.next_ready = vector < local ? vector : local;
}

void drain(Wave& wave, WaveMemory& memory, PendingQueue& queue, int left) {
    while (queue.count > left) {
        const std::uint64_t ready = queue.oldest().ready;
        if (ready != kNever && ready > wave.clock) {
            wave.clock = ready;
        }
        pop(wave, memory, queue);
    }
}

} // namespace

Pending& begin_pending(Wave& wave, Port port, std::uint32_t pc) {
    WaveMemory& memory = memory_of(wave);
    PendingQueue& queue = port == Port::vector ? memory.vector : memory.local;
    drain(wave, memory, queue, (port == Port::vector ? kVectorCapacity : kLocalCapacity) - 1);
    Pending& entry = *memory.free[--memory.free_count];
    queue.slot[(queue.head + queue.count) % PendingQueue::kCapacity] = &entry;
    queue.count += 1;
    entry.target = Pending::Target::nothing;
    entry.half = 0;
    entry.pc = pc;
    return entry;
}

void issued(Wave& wave, Pending& entry, Port port, Access access) {
    WaveMemory& memory = memory_of(wave);
    PendingQueue& queue = port == Port::vector ? memory.vector : memory.local;
    const bool at_wait = wave.group->options->timing == emulator_host::Timing::at_wait;
    entry.ready = at_wait ? kNever : wave.clock + latency_of(wave, memory.sequence++, access);
    if (queue.count > 1) { // loads of a counter return in order
        const std::uint64_t before = queue.slot[(queue.head + queue.count - 2) % PendingQueue::kCapacity]->ready;
        entry.ready = entry.ready < before ? before : entry.ready;
    }
    if (wave.group->checks != nullptr) {
        check_issue(wave, entry, port);
    }
    renew_next(memory);
    if (memory.next_ready <= wave.clock) {
        deliver_arrived(wave);
    }
}

void deliver_arrived(Wave& wave) {
    WaveMemory& memory = memory_of(wave);
    while (memory.vector.count > 0 && memory.vector.oldest().ready <= wave.clock) {
        pop(wave, memory, memory.vector);
    }
    while (memory.local.count > 0 && memory.local.oldest().ready <= wave.clock) {
        pop(wave, memory, memory.local);
    }
    renew_next(memory);
}

void wait_counters(Wave& wave, int vector_left, int local_left) {
    WaveMemory& memory = memory_of(wave);
    drain(wave, memory, memory.vector, vector_left);
    drain(wave, memory, memory.local, local_left);
    renew_next(memory);
    deliver_arrived(wave);
}

} // namespace emulator
