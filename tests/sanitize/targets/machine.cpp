// Short programs of any instructions on the machine: they end by themselves, in a fault or at the budget, touch no memory that is not
// theirs, and do the same when they are run again.
#include "random_code.hpp"
#include "workgroup.hpp"

namespace {

constexpr std::uint64_t kBudget = 2000;
constexpr std::uint64_t kCodeAddress = std::uint64_t{1} << 40; // no memory: code is fetched from its decoded copy

void choose(fuzz::Input& input, emulator_host::LaunchRequest& request) {
    request.kernel.arch = static_cast<int>(input.below(2));
    emulator_host::Options& options = request.options;
    options.timing = static_cast<emulator_host::Timing>(input.below(5));
    options.poison = static_cast<emulator_host::Poison>(input.below(3));
    options.check_uninitialised = input.below(16) == 1;
    options.find_hazards = input.below(8) == 1;
    options.instruction_budget = kBudget;
    request.block[0] = input.below(4) == 0 ? 1 + input.below(fuzz::kMostWaves * emulator::kLanes) : emulator::kLanes;
    constexpr std::uint32_t kLds[] = {0, 4, 1000, 65536};
    request.lds_bytes = kLds[input.below(4)];
    constexpr std::uint32_t kPrivate[] = {0, 4, 100, 256};
    request.kernel.private_bytes = kPrivate[input.below(4)];
    request.kernel.rsrc1 = input.below(2) == 0 ? 0 : input.take<std::uint32_t>();
    request.kernel.rsrc2 = input.take<std::uint32_t>();
    request.kernel.properties = input.take<std::uint16_t>();
    request.kernel.preload_dwords = input.take<std::uint8_t>() % 17;
}

/// What a run did, as far as a second one must do the same.
struct Outcome {
    bool ended;
    emulator::GroupFault fault;
    std::uint64_t executed[static_cast<int>(emulator::Opcode::count)];
    emulator::Traffic traffic;
    std::uint64_t clock;
    int findings;
    std::uint8_t memory[fuzz::kMemoryBytes];
};

void run(fuzz::LoneWorkgroup& group, const fuzz::DeviceMemory& memory, std::uint64_t pointer, Outcome& outcome) {
    outcome.fault = {};
    std::memset(outcome.executed, 0, sizeof(outcome.executed));
    std::memset(memory.writable, 0x3c, fuzz::kMemoryBytes);
    group.start(pointer);
    outcome.ended = group.run(outcome.executed, outcome.fault);
    outcome.traffic = group.group().traffic;
    outcome.clock = emulator::last_clock(group.group());
    outcome.findings = group.group().checks != nullptr ? group.group().checks->findings : 0;
    std::memcpy(outcome.memory, memory.writable, fuzz::kMemoryBytes);
    fuzz::require(outcome.ended == !outcome.fault.fault && memory.constant_is_whole());
}

void compare(const Outcome& a, const Outcome& b) {
    fuzz::require(a.ended == b.ended && a.clock == b.clock && a.findings == b.findings);
    fuzz::require(a.fault.fault.kind == b.fault.fault.kind && a.fault.pc == b.fault.pc && a.fault.wave == b.fault.wave);
    fuzz::require(a.fault.fault.address == b.fault.fault.address && a.fault.fault.lane == b.fault.fault.lane);
    fuzz::require(std::memcmp(a.executed, b.executed, sizeof(a.executed)) == 0);
    fuzz::require(std::memcmp(&a.traffic, &b.traffic, sizeof(a.traffic)) == 0);
    fuzz::require(std::memcmp(a.memory, b.memory, sizeof(a.memory)) == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::DeviceMemory memory;
    static Outcome outcomes[2]; // too large for the stack
    fuzz::Input input(data, size);
    emulator_host::LaunchRequest request;
    choose(input, request);
    const std::uint8_t* pointed = input.below(4) == 3 ? memory.constant : memory.writable;
    const emulator::Arch arch = request.kernel.arch == 0 ? emulator::Arch::gfx942 : emulator::Arch::gfx950;
    fuzz::Text text;
    while (!input.empty()) {
        fuzz::put_instruction(input, text, arch);
    }
    text.put(0xbf810000U); // s_endpgm
    request.kernel.code_address = kCodeAddress;
    request.kernarg = reinterpret_cast<std::uint64_t>(memory.kernarg);
    request.kernarg_bytes = memory.kernarg;
    request.memory = {memory.ranges, 3};
    emulator::Code* code = emulator::predecode(arch, text.data(), text.size());
    fuzz::require(code != nullptr);
    fuzz::LoneWorkgroup group(request, *code);
    for (Outcome& outcome : outcomes) {
        run(group, memory, reinterpret_cast<std::uint64_t>(pointed) + fuzz::kMemoryBytes / 2, outcome);
    }
    compare(outcomes[0], outcomes[1]);
    emulator::release(code);
    return 0;
}
