#include "checks.hpp"

#include "../isa/opcode_info.hpp"

#include <bit>
#include <cstring>
#include <initializer_list>

namespace emulator {

namespace {

using emulator_host::Finding;

constexpr int kFirstSpecial = 102; // VCC, M0 and EXEC always hold something
constexpr std::uint64_t kAll = ~std::uint64_t{0};

WaveChecks& checks_of(Wave& wave) {
    return wave.group->checks->wave[wave.id];
}

void find(Checks& checks, Finding::Kind kind, std::uint32_t pc, std::uint32_t from, std::uint32_t where, std::int64_t clocks) {
    for (int index = 0; index < checks.findings; ++index) {
        Finding& known = checks.finding[index];
        if (same_finding(known, {kind, pc, from, where, clocks, 1})) {
            known.count += 1;
            known.where = where < known.where ? where : known.where;
            known.clocks = clocks < known.clocks ? clocks : known.clocks;
            return;
        }
    }
    if (checks.findings < emulator_host::kMaxFindings) {
        checks.finding[checks.findings++] = {kind, pc, from, where, clocks, 1};
    }
}

/// The load on its way to a register, the newest if there are several.
const Uncovered* pending_load(const WaveChecks& checks, Pending::Target target, int index) {
    for (const UncoveredQueue& queue : checks.queue) {
        for (int place = queue.count - 1; place >= 0; --place) {
            const Uncovered& entry = queue.entry[(queue.head + place) % 64];
            if (entry.target == target && index >= entry.first && index < entry.first + entry.dwords) {
                return &entry;
            }
        }
    }
    return nullptr;
}

void used_early(Wave& wave, const Instruction& in, Pending::Target target, int index) {
    if (const Uncovered* load = pending_load(checks_of(wave), target, index)) {
        const auto clocks = static_cast<std::int64_t>(wave.clock) - static_cast<std::int64_t>(load->ready);
        const auto kind = target == Pending::Target::vgpr ? Finding::Kind::vgpr_before_wait : Finding::Kind::sgpr_before_wait;
        find(*wave.group->checks, kind, in.pc, load->pc, static_cast<std::uint32_t>(index), clocks);
    }
}

bool is_matrix(const Instruction& in) {
    return in.format == Format::mai;
}

/// Lanes whose value of a source the instruction uses.
std::uint64_t lanes_used(const Wave& wave, const Instruction& in) {
    return is_matrix(in) || in.op == Opcode::v_readlane_b32 ? kAll : wave.exec();
}

bool is_vector_alu(const Instruction& in) {
    return in.format == Format::vop1 || in.format == Format::vop2 || in.format == Format::vop3 || in.format == Format::vop3p ||
           in.format == Format::vopc;
}

int vector_row(const Wave& wave, const Instruction& in, const Operand& operand, int role) {
    int row = operand.index + (operand.kind == Operand::Kind::agpr ? kAccBase : 0);
    if (operand.kind == Operand::Kind::vgpr && (wave.gpr_idx_mask >> role & 1) != 0 && is_vector_alu(in)) {
        row += static_cast<int>(wave.s[124] & 0xff);
    }
    return row;
}

bool read_vector(Wave& wave, const Instruction& in, const Operand& operand, int role) {
    const Checks& options = *wave.group->checks;
    WaveChecks& checks = checks_of(wave);
    const int first = vector_row(wave, in, operand, role);
    const std::uint64_t lanes = lanes_used(wave, in);
    for (int row = first; row < first + operand.dwords && row < 512; ++row) {
        if (options.hazards && checks.pending[row] != 0) {
            used_early(wave, in, Pending::Target::vgpr, row);
        }
        // Lanes that a branch left out may hold anything: a register counts as unwritten only if none of the lanes was written.
        if (options.uninitialised && lanes != 0 && (checks.defined[row] & lanes) == 0) {
            wave.fault = {.kind = FaultKind::uninitialised_register,
                          .lane = static_cast<std::int16_t>(std::countr_zero(lanes)),
                          .address = static_cast<std::uint64_t>(row)};
            return false;
        }
    }
    return true;
}

bool read_scalar(Wave& wave, const Instruction& in, const Operand& operand) {
    const Checks& options = *wave.group->checks;
    WaveChecks& checks = checks_of(wave);
    for (int index = operand.index; index < operand.index + operand.dwords && index < kFirstSpecial; ++index) {
        if (options.hazards && checks.scalar_pending[index] != 0) {
            used_early(wave, in, Pending::Target::sgpr, index);
        }
        if (options.uninitialised && !checks.scalar_defined[index]) {
            // Scalar registers are reported behind the 512 vector registers.
            wave.fault = {.kind = FaultKind::uninitialised_register, .lane = -1, .address = static_cast<std::uint64_t>(512 + index)};
            return false;
        }
    }
    return true;
}

bool read_operand(Wave& wave, const Instruction& in, const Operand& operand, int role) {
    switch (operand.kind) {
    case Operand::Kind::vgpr:
    case Operand::Kind::agpr:
        return read_vector(wave, in, operand, role);
    case Operand::Kind::sgpr:
        return read_scalar(wave, in, operand);
    default:
        return true;
    }
}

bool is_memory(const Instruction& in) {
    return in.format == Format::smem || in.format == Format::ds || in.format == Format::mubuf || in.format == Format::flat ||
           in.format == Format::global || in.format == Format::scratch;
}

void count_pending(WaveChecks& checks, const Uncovered& entry, int by) {
    for (int index = entry.first; index < entry.first + entry.dwords; ++index) {
        if (entry.target == Pending::Target::vgpr && index < 512) {
            checks.pending[index] = static_cast<std::uint8_t>(checks.pending[index] + by);
        } else if (entry.target == Pending::Target::sgpr && index < 128) {
            checks.scalar_pending[index] = static_cast<std::uint8_t>(checks.scalar_pending[index] + by);
        }
    }
}

void cover(WaveChecks& checks, UncoveredQueue& queue, int left) {
    while (queue.count > left) {
        count_pending(checks, queue.entry[queue.head], -1);
        queue.head = (queue.head + 1) % 64;
        queue.count -= 1;
    }
}

void touch_lds(Wave& wave, std::uint32_t pc, std::uint32_t offset, std::uint32_t bytes, bool write) {
    Checks& checks = *wave.group->checks;
    const auto self = static_cast<std::uint16_t>(1U << wave.id);
    const std::uint32_t epoch = checks.epoch;
    for (std::uint32_t byte = offset & ~3U; byte < offset + bytes; byte += 4) {
        LdsCell& cell = checks.lds[byte / 4];
        const bool others_wrote = cell.write_epoch == epoch && (cell.writers & ~self) != 0;
        const bool others_read = cell.read_epoch == epoch && (cell.readers & ~self) != 0;
        const auto now = static_cast<std::int64_t>(wave.clock);
        if (checks.hazards && others_wrote) {
            const auto kind = write ? Finding::Kind::lds_write_after_write : Finding::Kind::lds_read_after_write;
            find(checks, kind, pc, cell.writer_pc, byte, now - static_cast<std::int64_t>(cell.write_clock));
        }
        if (checks.hazards && write && others_read) {
            find(checks, Finding::Kind::lds_write_after_read, pc, cell.reader_pc, byte, now - static_cast<std::int64_t>(cell.read_clock));
        }
        if (write) {
            cell.writers = cell.write_epoch == epoch ? cell.writers | self : self;
            cell.write_epoch = epoch;
            cell.write_clock = wave.clock;
            cell.writer_pc = pc;
        } else {
            cell.readers = cell.read_epoch == epoch ? cell.readers | self : self;
            cell.read_epoch = epoch;
            cell.read_clock = wave.clock;
            cell.reader_pc = pc;
        }
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

} // namespace

void begin_checks(Workgroup& group) {
    if (group.checks == nullptr) {
        return;
    }
    std::memset(group.checks->wave, 0, sizeof(WaveChecks) * static_cast<unsigned>(group.wave_count));
    std::memset(group.checks->lds, 0, sizeof(group.checks->lds));
    group.checks->epoch = 1;
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
    for (int role = 0; role < 4; ++role) {
        if (!read_operand(wave, in, in.src[role], role)) {
            return false;
        }
    }
    const bool reads_target = opcode_info(in.op).has(trait::reads_dst);
    if (reads_target && !read_operand(wave, in, in.dst, 3)) {
        return false;
    }
    // A result written while a load to the same register is on its way is overwritten when the load arrives.
    if (wave.group->checks->hazards && !reads_target && !is_memory(in)) {
        WaveChecks& checks = checks_of(wave);
        if (in.dst.kind == Operand::Kind::vgpr || in.dst.kind == Operand::Kind::agpr) {
            const int first = vector_row(wave, in, in.dst, 3);
            for (int row = first; row < first + in.dst.dwords && row < 512; ++row) {
                if (checks.pending[row] != 0) {
                    used_early(wave, in, Pending::Target::vgpr, row);
                }
            }
        }
    }
    return true;
}

void check_results(Wave& wave, const Instruction& in) {
    WaveChecks& checks = checks_of(wave);
    if (in.dst.kind == Operand::Kind::vgpr || in.dst.kind == Operand::Kind::agpr) {
        const int first = vector_row(wave, in, in.dst, 3);
        const bool all = is_matrix(in) || in.op == Opcode::v_writelane_b32;
        for (int row = first; row < first + in.dst.dwords && row < 512; ++row) {
            checks.defined[row] |= all ? kAll : wave.exec();
        }
    }
    for (const Operand* target : {&in.dst, &in.sdst}) {
        if (target->kind == Operand::Kind::sgpr) {
            for (int index = target->index; index < target->index + target->dwords && index < 128; ++index) {
                checks.scalar_defined[index] = true;
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
    Uncovered& added = queue.entry[(queue.head + queue.count) % 64];
    added = {entry.target, entry.dwords, entry.first, entry.pc, entry.ready};
    queue.count += 1;
    count_pending(checks, added, 1);
}

void check_wait(Wave& wave, int vector_left, int local_left) {
    WaveChecks& checks = checks_of(wave);
    cover(checks, checks.queue[static_cast<int>(Port::vector)], vector_left);
    cover(checks, checks.queue[static_cast<int>(Port::local)], local_left);
}

bool check_lds(Wave& wave, const Instruction& in, const std::uint32_t* offsets, std::uint64_t lanes, std::uint32_t bytes, bool write) {
    Checks& checks = *wave.group->checks;
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        touch_lds(wave, in.pc, offsets[lane], bytes, write);
        if (write) {
            mark_written(checks, offsets[lane], bytes);
        } else if (checks.uninitialised && !all_written(checks, offsets[lane], bytes)) {
            wave.fault = {
                .kind = FaultKind::uninitialised_lds, .lane = static_cast<std::int16_t>(lane), .address = offsets[lane], .size = bytes};
            return false;
        }
    }
    return true;
}

void check_lds_arrival(Wave& wave, const Pending& entry) {
    for (std::uint64_t left = entry.lanes; left != 0; left &= left - 1) {
        const std::uint32_t offset = entry.lds_offset + static_cast<std::uint32_t>(std::countr_zero(left)) * entry.lds_bytes;
        touch_lds(wave, entry.pc, offset, entry.lds_bytes, true);
        mark_written(*wave.group->checks, offset, entry.lds_bytes);
    }
}

void check_barrier(Workgroup& group) {
    group.checks->epoch += 1;
}

} // namespace emulator
