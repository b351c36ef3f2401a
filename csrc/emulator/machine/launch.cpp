// A launch: workgroups handed out in order to one thread per CPU.
#include "launch.hpp"

#include "blocks.hpp"
#include "checks.hpp"
#include "code.hpp"
#include "schedule.hpp"
#include "start.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <tuple>

namespace emulator {

namespace {

using emulator_host::LaunchRequest;
using emulator_host::LaunchResult;

constexpr int kMaxThreads = 256;

struct Shared {
    const LaunchRequest* request;
    const Code* code;
    std::uint64_t total; // workgroups
    std::atomic<std::uint64_t> next = 0;
    std::atomic<bool> stopped = false; // hands out no more; those under way go on
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    LaunchResult* result;
};

/// What one thread needs to run workgroups.
class Worker {
public:
    explicit Worker(Shared& shared) : shared_(shared) {}

    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    ~Worker() {
        if (memory_ != nullptr) {
            give_block(memory_, bytes_);
        }
    }

    void run() {
        if (!prepare()) {
            shared_.result->out_of_memory = true;
            shared_.stopped = true;
            return;
        }
        const LaunchRequest& request = *shared_.request;
        while (!shared_.stopped) {
            const std::uint64_t number = shared_.next.fetch_add(1);
            if (number >= shared_.total) {
                break;
            }
            const std::uint64_t row = number / request.grid[0];
            const std::uint32_t ids[3] = {static_cast<std::uint32_t>(number % request.grid[0]),
                                          static_cast<std::uint32_t>(row % request.grid[1]),
                                          static_cast<std::uint32_t>(row / request.grid[1])};
            group_.number = number;
            start_workgroup(group_, request, ids);
            group_.used = true;
            GroupFault fault;
            const bool ended = run_workgroup(group_, *shared_.code, request.options.instruction_budget, executed_, fault);
            workgroups_ += 1;
            const std::uint64_t clock = last_clock(group_);
            longest_ = clock > longest_ ? clock : longest_;
            if (!ended) {
                report(fault, number, ids);
            }
        }
        merge();
    }

private:
    bool prepare() {
        const LaunchRequest& request = *shared_.request;
        const int waves = wave_count(request);
        const auto count = static_cast<std::size_t>(waves);
        const std::size_t wave_bytes = count * sizeof(Wave);
        const std::size_t queue_bytes = count * sizeof(WaveMemory);
        const std::size_t lds_bytes = (std::size_t{request.lds_bytes} + 63) / 64 * 64;
        const std::size_t scratch_bytes = (std::size_t{request.kernel.private_bytes} * kLanes * count + 63) / 64 * 64;
        const bool checked = request.options.check_uninitialised || request.options.find_hazards;
        bytes_ = wave_bytes + queue_bytes + lds_bytes + scratch_bytes + (checked ? sizeof(Checks) : 0);
        memory_ = take_block(bytes_);
        if (memory_ == nullptr) {
            return false;
        }
        auto* place = static_cast<std::uint8_t*>(memory_);
        group_ = {};
        group_.waves = reinterpret_cast<Wave*>(place);
        group_.wave_memory = reinterpret_cast<WaveMemory*>(place += wave_bytes);
        group_.lds = place += queue_bytes;
        group_.scratch = place += lds_bytes;
        if (checked) {
            group_.checks = reinterpret_cast<Checks*>(place += scratch_bytes);
            group_.checks->uninitialised = request.options.check_uninitialised;
            group_.checks->hazards = request.options.find_hazards;
            group_.checks->findings = 0;
            group_.checks->left_off = 0;
        }
        group_.lds_bytes = request.lds_bytes;
        group_.private_bytes = request.kernel.private_bytes;
        group_.code_base = request.kernel.code_address;
        group_.memory = request.memory;
        group_.options = &request.options;
        group_.code = shared_.code;
        group_.wave_count = waves;
        return true;
    }

    /// Keeps the fault of the lowest workgroup, which does not depend on threads: every lower one was handed out before.
    void report(const GroupFault& found, std::uint64_t number, const std::uint32_t ids[3]) {
        shared_.stopped = true;
        pthread_mutex_lock(&shared_.lock);
        LaunchResult& result = *shared_.result;
        if (!result.faulted || number < result.fault.workgroup_number) {
            result.faulted = true;
            emulator_host::LaunchFault& fault = result.fault;
            fault.kind = static_cast<std::uint8_t>(found.fault.kind);
            fault.lane = found.fault.lane;
            fault.write = found.fault.write;
            fault.address = found.fault.address;
            fault.size = found.fault.size;
            fault.pc = found.pc;
            std::memcpy(fault.workgroup, ids, sizeof(fault.workgroup));
            fault.workgroup_number = number;
            fault.wave = static_cast<std::uint32_t>(found.wave);
            fault.clock = found.clock;
        }
        pthread_mutex_unlock(&shared_.lock);
    }

    void merge() {
        pthread_mutex_lock(&shared_.lock);
        LaunchResult& result = *shared_.result;
        for (int op = 0; op < static_cast<int>(Opcode::count); ++op) {
            result.executed[op] += executed_[op];
        }
        result.global_read += group_.traffic.global_read;
        result.global_written += group_.traffic.global_written;
        result.lds_read += group_.traffic.lds_read;
        result.lds_written += group_.traffic.lds_written;
        result.workgroups += workgroups_;
        result.longest_clock = longest_ > result.longest_clock ? longest_ : result.longest_clock;
        merge_findings(result);
        pthread_mutex_unlock(&shared_.lock);
    }

    void merge_findings(LaunchResult& result) const {
        const int count = group_.checks != nullptr ? group_.checks->findings : 0;
        for (int index = 0; index < count; ++index) {
            const emulator_host::Finding& found = group_.checks->finding[index];
            int at = 0;
            while (at < result.findings && !same_finding(result.finding[at], found)) {
                ++at;
            }
            if (at < result.findings) {
                merge_finding(result.finding[at], found);
            } else if (at < emulator_host::kMaxFindings) {
                result.finding[result.findings++] = found;
            } else {
                result.findings_left_off += found.count;
            }
        }
        result.findings_left_off += group_.checks != nullptr ? group_.checks->left_off : 0;
    }

    Shared& shared_;
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    Workgroup group_ = {};
    std::uint64_t workgroups_ = 0;
    std::uint64_t longest_ = 0;
    std::uint64_t executed_[static_cast<int>(Opcode::count)] = {};
};

void* run_worker(void* shared) {
    Worker worker(*static_cast<Shared*>(shared));
    worker.run();
    return nullptr;
}

int usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

int thread_count(const LaunchRequest& request, std::uint64_t workgroups) {
    std::uint64_t threads = request.options.threads != 0 ? request.options.threads : static_cast<std::uint64_t>(usable_cpus());
    threads = threads > kMaxThreads ? kMaxThreads : threads;
    return static_cast<int>(threads > workgroups ? workgroups : threads);
}

/// Threads find in any order; a report has one.
void sort_findings(LaunchResult& result) {
    std::sort(result.finding, result.finding + result.findings, [](const emulator_host::Finding& a, const emulator_host::Finding& b) {
        return std::tie(a.pc, a.from_pc, a.kind, a.rule) < std::tie(b.pc, b.from_pc, b.kind, b.rule);
    });
}

} // namespace

void launch(const LaunchRequest& request, LaunchResult& result) {
    static_assert(static_cast<int>(Opcode::count) <= emulator_host::kMaxOpcodes);
    std::memset(&result, 0, sizeof(result));
    Shared shared;
    shared.request = &request;
    shared.code = static_cast<const Code*>(request.code);
    shared.total = std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2];
    shared.result = &result;
    pthread_t threads[kMaxThreads];
    int started = 0;
    const int wanted = thread_count(request, shared.total);
    // This thread works too; fewer threads than wanted only take longer.
    while (started < wanted - 1 && pthread_create(&threads[started], nullptr, run_worker, &shared) == 0) {
        ++started;
    }
    run_worker(&shared);
    for (int index = 0; index < started; ++index) {
        pthread_join(threads[index], nullptr);
    }
    pthread_mutex_destroy(&shared.lock);
    sort_findings(result);
}

} // namespace emulator
