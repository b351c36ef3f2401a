// Waves are interleaved by their issue clocks, as on a CU whose SIMDs run them side by side: some kernels are right only while
// their waves stay roughly in step.
#include "schedule.hpp"

#include "checks.hpp"

namespace emulator {

namespace {

constexpr std::uint64_t kSlot = 4; // clocks of an issue slot: 64 lanes on 16 units
constexpr std::uint64_t kNever = ~std::uint64_t{0};

template <bool checked> class Scheduler {
public:
    Scheduler(Workgroup& group, const Code& code, std::uint64_t budget, std::uint64_t* executed)
        : group_(group), code_(code), left_(budget), executed_(executed) {
        for (int wave = 0; wave < group.wave_count; ++wave) {
            due_[wave] = group.waves[wave].clock;
        }
    }

    bool run(GroupFault& fault) {
        for (;;) {
            int next = -1;
            std::uint64_t lowest = kNever;
            std::uint64_t second = kNever;
            for (int wave = 0; wave < group_.wave_count; ++wave) {
                if (due_[wave] < lowest) {
                    second = lowest;
                    lowest = due_[wave];
                    next = wave;
                } else if (due_[wave] < second) {
                    second = due_[wave];
                }
            }
            if (next < 0) {
                if (!open_barrier()) {
                    return true;
                }
                continue;
            }
            Wave& wave = group_.waves[next];
            do {
                const std::uint32_t pc = wave.pc;
                step(wave);
                if (wave.fault) [[unlikely]] {
                    fault = {wave.fault, pc, next, wave.clock};
                    return false;
                }
            } while (wave.clock < second && !wave.at_barrier && !wave.ended);
            due_[next] = wave.at_barrier || wave.ended ? kNever : wave.clock;
        }
    }

private:
    void step(Wave& wave) {
        const std::uint32_t pc = wave.pc;
        if (pc >= code_.size || (pc & 3) != 0) [[unlikely]] {
            wave.fault = {.kind = FaultKind::bad_program_counter, .address = group_.code_base + pc};
            return;
        }
        if (left_-- == 0) [[unlikely]] {
            wave.fault = {.kind = FaultKind::instruction_budget};
            return;
        }
        const Step& step = code_.steps[pc >> 2];
        WaveMemory& memory = group_.wave_memory[wave.id];
        if (memory.logged < WaveMemory::kLogged) {
            memory.first_pcs[memory.logged++] = pc;
        }
        if (wave.clock >= memory.next_ready) {
            deliver_arrived(wave);
        }
        wave.pc = pc + step.in.size;
        if constexpr (checked) {
            if (step.kind != Step::Kind::unknown && !check_operands(wave, step.in)) {
                return;
            }
        }
        switch (step.kind) {
        case Step::Kind::plain:
            step.run(wave, step.in);
            wave.clock += kSlot;
            break;
        case Step::Kind::matrix:
            if (wave.matrix_free > wave.clock) {
                wave.clock = wave.matrix_free;
            }
            step.run(wave, step.in);
            wave.matrix_free = wave.clock + kSlot * step.passes;
            wave.clock += kSlot;
            break;
        case Step::Kind::wait:
            wait_counters(wave, step.vector_left, step.local_left);
            if constexpr (checked) {
                check_wait(wave, step.vector_left, step.local_left);
            }
            wave.clock += kSlot;
            break;
        case Step::Kind::nop:
            wave.clock += kSlot * (static_cast<std::uint64_t>(step.in.imm & 15) + 1);
            break;
        case Step::Kind::sleep:
            wave.clock += 64 * static_cast<std::uint64_t>(step.in.imm & 127) + kSlot;
            break;
        case Step::Kind::barrier:
            wave.at_barrier = true;
            wave.clock += kSlot;
            break;
        case Step::Kind::end:
            wave.ended = true;
            break;
        case Step::Kind::unknown:
            wave.fault = {.kind = FaultKind::unknown_opcode, .address = group_.code_base + pc};
            return;
        }
        if constexpr (checked) {
            check_results(wave, step.in);
        }
        executed_[static_cast<int>(step.in.op)] += 1;
    }

    /// Lets the waves at the barrier go on, at the clock of the last to come; a wave that has ended counts as come.
    bool open_barrier() {
        std::uint64_t latest = 0;
        bool any = false;
        for (int index = 0; index < group_.wave_count; ++index) {
            const Wave& wave = group_.waves[index];
            if (wave.at_barrier) {
                any = true;
                latest = wave.clock > latest ? wave.clock : latest;
            }
        }
        for (int index = 0; index < group_.wave_count; ++index) {
            Wave& wave = group_.waves[index];
            if (wave.at_barrier) {
                wave.at_barrier = false;
                wave.clock = latest;
                due_[index] = latest;
            }
        }
        if constexpr (checked) {
            check_barrier(group_);
        }
        return any;
    }

    Workgroup& group_;
    const Code& code_;
    std::uint64_t left_;
    std::uint64_t* executed_;
    std::uint64_t due_[kMaxWaves];
};

} // namespace

bool run_workgroup(Workgroup& group, const Code& code, std::uint64_t budget, std::uint64_t* executed, GroupFault& fault) {
    return group.checks != nullptr ? Scheduler<true>(group, code, budget, executed).run(fault)
                                   : Scheduler<false>(group, code, budget, executed).run(fault);
}

std::uint64_t last_clock(const Workgroup& group) {
    std::uint64_t latest = 0;
    for (int index = 0; index < group.wave_count; ++index) {
        latest = group.waves[index].clock > latest ? group.waves[index].clock : latest;
    }
    return latest;
}

} // namespace emulator
