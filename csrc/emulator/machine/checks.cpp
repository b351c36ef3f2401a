#include "checks.hpp"

#include "code.hpp"

#include <bit>
#include <cstring>

namespace emulator {

namespace {

using emulator_host::Finding;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Registers of the scalar file that hold something only once they are written: user registers, VCC and M0.
bool starts_undefined(int scalar) {
    return scalar < 102 || scalar == kVcc || scalar == kVcc + 1 || scalar == kM0;
}

bool is_matrix(const Instruction& in) {
    return in.format == Format::mai;
}

/// Lanes whose value of a source the instruction uses.
std::uint64_t lanes_used(const Wave& wave, const Instruction& in) {
    switch (in.op) {
    case Opcode::v_readlane_b32:
    case Opcode::v_permlane16_swap_b32:
    case Opcode::v_permlane32_swap_b32:
        return kAll;
    default:
        return is_matrix(in) || in.encoding == Encoding::dpp ? kAll : wave.exec();
    }
}

/// The newest load on its way to a register, of those that `relevant` says count.
template <typename Relevant> const Uncovered* pending_load(const WaveChecks& checks, Pending::Target target, int index, Relevant relevant) {
    for (int port = 0; port < 2; ++port) {
        const UncoveredQueue& queue = checks.queue[port];
        for (int place = queue.count - 1; place >= 0; --place) {
            const Uncovered& entry = queue.entry[place];
            if (entry.target == target && index >= entry.first && index < entry.first + entry.dwords &&
                relevant(static_cast<Port>(port), entry)) {
                return &entry;
            }
        }
    }
    return nullptr;
}

bool has_pending(const WaveChecks& checks, const Span& span, int n) {
    return (span.vector ? checks.pending[n] : checks.scalar_pending[n]) != 0;
}

void report_early(Wave& wave, const Instruction& in, const Span& span, int n, const Uncovered& load, bool write) {
    using Kind = Finding::Kind;
    const Kind kind = span.vector ? (write ? Kind::vgpr_write_before_wait : Kind::vgpr_before_wait)
                                  : (write ? Kind::sgpr_write_before_wait : Kind::sgpr_before_wait);
    Finding found = {};
    found.kind = kind;
    found.pc = in.pc;
    found.from_pc = load.pc;
    found.where = static_cast<std::uint32_t>(span.vector ? n : kVectorRows + n);
    found.clocks = load.ready == kAll ? emulator_host::kNoClocks : static_cast<std::int64_t>(wave.clock - load.ready);
    found.count = 1;
    add_finding(*wave.group->checks, found);
}

void read_early(Wave& wave, const Instruction& in, const Span& span, int n) {
    const auto target = span.vector ? Pending::Target::vgpr : Pending::Target::sgpr;
    const Uncovered* load = pending_load(checks_of(wave), target, n, [](Port, const Uncovered&) { return true; });
    if (load != nullptr) {
        report_early(wave, in, span, n, *load, false);
    }
}

/// A result written while a load to the same register is on its way is overwritten when the load arrives. Loads of one counter that
/// return in order do so to each other as they should.
void overwritten(Wave& wave, const Instruction& in, const Span& span, int n) {
    const auto target = span.vector ? Pending::Target::vgpr : Pending::Target::sgpr;
    const Port own = is_vector_memory(in) ? Port::vector : Port::local;
    const bool loads = is_memory(in);
    const Uncovered* load = pending_load(checks_of(wave), target, n,
                                         [&](Port port, const Uncovered& entry) { return !loads || port != own || !entry.in_order; });
    if (load != nullptr) {
        report_early(wave, in, span, n, *load, true);
    }
}

bool read_span(Wave& wave, const Instruction& in, const Span& span) {
    const Checks& options = *wave.group->checks;
    WaveChecks& checks = checks_of(wave);
    const std::uint64_t lanes = lanes_used(wave, in);
    for (int n = span.first; n < span.first + span.count; ++n) {
        if (options.hazards && has_pending(checks, span, n)) {
            read_early(wave, in, span, n);
        }
        if (!options.uninitialised) {
            continue;
        }
        // Lanes that a branch left out may hold anything: a register counts as unwritten only if none of the lanes was written.
        if (span.vector && lanes != 0 && (checks.defined[n] & lanes) == 0) {
            wave.fault = {.kind = FaultKind::uninitialised_register,
                          .lane = static_cast<std::int16_t>(std::countr_zero(lanes)),
                          .address = static_cast<std::uint64_t>(n)};
            return false;
        }
        if (!span.vector && starts_undefined(n) && !checks.scalar_defined[n]) {
            // Scalar registers are reported behind the vector registers.
            wave.fault = {.kind = FaultKind::uninitialised_register, .lane = -1, .address = static_cast<std::uint64_t>(kVectorRows + n)};
            return false;
        }
    }
    return true;
}

void count_pending(WaveChecks& checks, const Uncovered& entry, int by) {
    if (entry.target == Pending::Target::lds) {
        checks.lds_pending += by;
    }
    for (int index = entry.first; index < entry.first + entry.dwords; ++index) {
        if (entry.target == Pending::Target::vgpr && index < kVectorRows) {
            checks.pending[index] = static_cast<std::uint8_t>(checks.pending[index] + by);
        } else if (entry.target == Pending::Target::sgpr && index < kScalars) {
            checks.scalar_pending[index] = static_cast<std::uint8_t>(checks.scalar_pending[index] + by);
        }
    }
}

/// Takes out what is done for certain when no more than `left` are in flight: of those that return in order, all before the last `left`
/// of their kind; of the others, none before the counter is 0.
void cover(WaveChecks& checks, UncoveredQueue& queue, int left) {
    int later = 0;
    for (int place = queue.count - 1; place >= 0; --place) {
        later += queue.entry[place].in_order ? 1 : 0;
    }
    int kept = 0;
    for (int place = 0; place < queue.count; ++place) {
        const Uncovered entry = queue.entry[place];
        const bool done = left == 0 || (entry.in_order && later > left);
        later -= entry.in_order ? 1 : 0;
        if (done) {
            count_pending(checks, entry, -1);
        } else {
            queue.entry[kept++] = entry;
        }
    }
    queue.count = kept;
}

/// The register of a flat load is there for certain when both counters say so: its entry of the one counter is that of the other.
void add_flat_result(const WaveChecks& checks, Uncovered& added) {
    const UncoveredQueue& queue = checks.queue[static_cast<int>(Port::vector)];
    if (queue.count > 0 && queue.entry[queue.count - 1].pc == added.pc) {
        const Uncovered& load = queue.entry[queue.count - 1];
        added.target = load.target;
        added.first = load.first;
        added.dwords = load.dwords;
        added.ready = load.ready;
    }
}

void wait_state_breach(Wave& wave, const Instruction& in, const WaitStateBreach& breach) {
    Finding found = {};
    found.kind = Finding::Kind::wait_states;
    found.rule = breach.rule;
    found.pc = in.pc;
    found.from_pc = breach.producer->pc;
    found.where = static_cast<std::uint32_t>(breach.where);
    found.clocks = emulator_host::kNoClocks;
    found.needed = breach.needed;
    found.had = breach.had;
    found.count = 1;
    add_finding(*wave.group->checks, found);
}

} // namespace

void add_finding(Checks& checks, const Finding& found) {
    for (int index = 0; index < checks.findings; ++index) {
        if (same_finding(checks.finding[index], found)) {
            merge_finding(checks.finding[index], found);
            return;
        }
    }
    if (checks.findings < emulator_host::kMaxFindings) {
        checks.finding[checks.findings++] = found;
    } else {
        checks.left_off += 1;
    }
}

void begin_checks(Workgroup& group) {
    if (group.checks == nullptr) {
        return;
    }
    std::memset(group.checks->wave, 0, sizeof(WaveChecks) * static_cast<unsigned>(group.wave_count));
    std::memset(group.checks->lds, 0, sizeof(LdsCell) * ((group.lds_bytes + 3) / 4));
    group.checks->epoch = 1;
    for (int wave = 0; wave < group.wave_count; ++wave) {
        begin_wait_states(group.checks->wave[wave].wait_states);
    }
}

void mark_defined_scalar(Wave& wave, int index) {
    if (wave.group->checks != nullptr) {
        checks_of(wave).scalar_defined[index & 127] = true;
    }
}

void mark_defined_vector(Wave& wave, int row) {
    if (wave.group->checks != nullptr) {
        checks_of(wave).defined[row] = kAll;
    }
}

bool check_operands(Wave& wave, const Instruction& in) {
    const Spans read = registers_read(wave, in);
    for (const Span& span : read) {
        if (!read_span(wave, in, span)) {
            return false;
        }
    }
    if (!wave.group->checks->hazards) {
        return true;
    }
    WaveChecks& checks = checks_of(wave);
    const Spans written = registers_written(wave, in);
    for (const Span& span : written) {
        for (int n = span.first; n < span.first + span.count; ++n) {
            // What is read early as well is reported once.
            if (has_pending(checks, span, n) && !read.holds(span.vector, n)) {
                overwritten(wave, in, span, n);
            }
        }
    }
    check_wait_states(wave, checks.wait_states, in, read, written, wait_state_breach);
    return true;
}

void check_results(Wave& wave, const Instruction& in) {
    WaveChecks& checks = checks_of(wave);
    const bool all = is_matrix(in) || in.op == Opcode::v_writelane_b32;
    for (const Span& span : registers_written(wave, in)) {
        for (int n = span.first; n < span.first + span.count; ++n) {
            if (span.vector) {
                checks.defined[n] |= all ? kAll : wave.exec();
            } else {
                checks.scalar_defined[n] = true;
            }
        }
    }
}

void check_issue(Wave& wave, const Pending& entry, Port port) {
    if (!wave.group->checks->hazards) {
        return;
    }
    WaveChecks& checks = checks_of(wave);
    UncoveredQueue& queue = checks.queue[static_cast<int>(port)];
    // The counter of the hardware is full at that point, so the oldest load has returned.
    cover(checks, queue, port == Port::vector ? 62 : 14);
    if (queue.count == UncoveredQueue::kCapacity) {
        count_pending(checks, queue.entry[0], -1);
        queue.count -= 1;
        std::memmove(queue.entry, queue.entry + 1, sizeof(Uncovered) * static_cast<unsigned>(queue.count));
    }
    // Flat accesses go two ways, and so return in any order with what goes either way.
    const bool flat = wave.group->code->steps[entry.pc / 4].in.format == Format::flat;
    const bool numbered = entry.target != Pending::Target::sgpr;
    const bool in_order = numbered && !flat;
    std::uint32_t& ticket = checks.issued[static_cast<int>(port)];
    ticket += numbered ? 1 : 0;
    Uncovered& added = queue.entry[queue.count++];
    added = {entry.target,     entry.dwords,    in_order,    entry.first, entry.pc,
             entry.lds_offset, entry.lds_bytes, entry.lanes, entry.ready, ticket};
    if (flat && port == Port::local) {
        add_flat_result(checks, added);
    }
    count_pending(checks, added, 1);
}

void check_wait(Wave& wave, int vector_left, int local_left) {
    if (!wave.group->checks->hazards) {
        return;
    }
    WaveChecks& checks = checks_of(wave);
    cover(checks, checks.queue[static_cast<int>(Port::vector)], vector_left);
    cover(checks, checks.queue[static_cast<int>(Port::local)], local_left);
}

void check_barrier(Workgroup& group) {
    group.checks->epoch += 1;
    for (int wave = 0; wave < group.wave_count; ++wave) {
        WaveChecks& checks = group.checks->wave[wave];
        for (int port = 0; port < 2; ++port) {
            const UncoveredQueue& queue = checks.queue[port];
            checks.done[port] = checks.issued[port];
            for (int place = queue.count - 1; place >= 0; --place) {
                checks.done[port] = queue.entry[place].target != Pending::Target::sgpr ? queue.entry[place].ticket - 1 : checks.done[port];
            }
        }
    }
}

} // namespace emulator
