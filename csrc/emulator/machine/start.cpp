#include "start.hpp"

#include "checks.hpp"
#include "code.hpp"

#include <cstring>

namespace emulator {

namespace {

using emulator_host::KernelStart;
using emulator_host::LaunchRequest;
using emulator_host::Poison;

// Bits of the kernel descriptor's properties, in the order their registers are set up.
constexpr std::uint16_t kPrivateSegmentBuffer = 1 << 0;
constexpr std::uint16_t kDispatchPointer = 1 << 1;
constexpr std::uint16_t kQueuePointer = 1 << 2;
constexpr std::uint16_t kKernargPointer = 1 << 3;
constexpr std::uint16_t kDispatchId = 1 << 4;
constexpr std::uint16_t kFlatScratch = 1 << 5;
constexpr std::uint16_t kPrivateSegmentSize = 1 << 6;
constexpr int kFirstUnusable = 102; // user SGPRs end before VCC and the rest

/// Hands out SGPRs in order.
class ScalarSetup {
public:
    explicit ScalarSetup(Wave& wave) : wave_(wave) {}

    void put(std::uint32_t value) {
        if (next_ < kFirstUnusable) {
            mark_defined_scalar(wave_, next_);
            wave_.s[next_++] = value;
        }
    }

    void put64(std::uint64_t value) {
        put(static_cast<std::uint32_t>(value));
        put(static_cast<std::uint32_t>(value >> 32));
    }

private:
    Wave& wave_;
    int next_ = 0;
};

void set_scalars(Wave& wave, const LaunchRequest& request, const std::uint32_t ids[3]) {
    const KernelStart& kernel = request.kernel;
    ScalarSetup setup(wave);
    if ((kernel.properties & kPrivateSegmentBuffer) != 0) {
        setup.put64(kPrivateAperture);
        setup.put64(~std::uint32_t{0});
    }
    if ((kernel.properties & kDispatchPointer) != 0) {
        setup.put64(request.dispatch_packet);
    }
    if ((kernel.properties & kQueuePointer) != 0) {
        setup.put64(0);
    }
    if ((kernel.properties & kKernargPointer) != 0) {
        setup.put64(request.kernarg);
    }
    if ((kernel.properties & kDispatchId) != 0) {
        setup.put64(0);
    }
    if ((kernel.properties & kFlatScratch) != 0) {
        setup.put64(kPrivateAperture);
    }
    if ((kernel.properties & kPrivateSegmentSize) != 0) {
        setup.put(kernel.private_bytes);
    }
    for (int dword = 0; dword < kernel.preload_dwords; ++dword) {
        std::uint32_t value;
        std::memcpy(&value, request.kernarg_bytes + 4 * (kernel.preload_offset + dword), 4);
        setup.put(value);
    }
    for (int axis = 0; axis < 3; ++axis) {
        if ((kernel.rsrc2 >> (7 + axis) & 1) != 0) {
            setup.put(ids[axis]);
        }
    }
    if ((kernel.rsrc2 >> 10 & 1) != 0) {
        setup.put(0); // workgroup info: ordered append, not in use
    }
}

/// Work item ids, ten bits each, in v0.
void set_work_items(Wave& wave, const LaunchRequest& request) {
    const std::uint32_t width = request.block[0];
    const std::uint32_t height = request.block[1];
    const std::uint32_t total = width * height * request.block[2];
    std::uint64_t exec = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t item = wave.id * kLanes + lane;
        wave.v[0][lane] = item % width | (item / width % height) << 10 | (item / width / height) << 20;
        exec |= std::uint64_t{item < total} << lane;
    }
    wave.set_pair(126, exec);
    mark_defined_vector(wave, 0);
}

Mode mode_of(std::uint32_t rsrc1) {
    Mode mode;
    mode.round32 = rsrc1 >> 12 & 3;
    mode.round16_64 = rsrc1 >> 14 & 3;
    mode.denorm32 = rsrc1 >> 16 & 3;
    mode.denorm16_64 = rsrc1 >> 18 & 3;
    mode.dx10_clamp = (rsrc1 >> 21 & 1) != 0;
    mode.ieee = (rsrc1 >> 23 & 1) != 0;
    mode.half_overflow_clamps = (rsrc1 >> 26 & 1) != 0;
    return mode;
}

/// A byte that, repeated, is a small number, or no number, as bf16, fp32 and OCP fp8.
int poison_byte(Poison poison) {
    switch (poison) {
    case Poison::zero:
        return 0;
    case Poison::finite:
        return 0x3b;
    default:
        return 0xff;
    }
}

/// Whether an instruction writes vector registers other than its destination.
bool writes_elsewhere(const Instruction& in) {
    switch (in.op) {
    case Opcode::v_swap_b32:
    case Opcode::v_permlane16_swap_b32:
    case Opcode::v_permlane32_swap_b32:
    case Opcode::s_set_gpr_idx_on:
    case Opcode::s_set_gpr_idx_mode:
        return true;
    default:
        return false;
    }
}

/// Poisons the vector registers. Most workgroups of a persistent kernel have no work and end after a few instructions; of those only
/// what they wrote is poisoned anew, which is all that differs from a full pass.
void poison_registers(Wave& wave, const WaveMemory& memory, const Workgroup& group, int byte) {
    bool whole = !group.used || memory.logged == WaveMemory::kLogged;
    for (int index = 0; !whole && index < memory.logged; ++index) {
        whole = writes_elsewhere(group.code->steps[memory.first_pcs[index] >> 2].in);
    }
    if (whole) {
        std::memset(wave.v, byte, sizeof(wave.v));
        return;
    }
    for (int index = 0; index < memory.logged; ++index) {
        const Operand& target = group.code->steps[memory.first_pcs[index] >> 2].in.dst;
        if (target.kind == Operand::Kind::vgpr || target.kind == Operand::Kind::agpr) {
            const int row = target.index + (target.kind == Operand::Kind::agpr ? kAccBase : 0);
            std::memset(wave.v[row], byte, sizeof(wave.v[0]) * target.dwords);
        }
    }
    std::memset(wave.v[0], byte, sizeof(wave.v[0]));
}

void empty_queues(WaveMemory& memory) {
    memory.vector.head = memory.vector.count = 0;
    memory.local.head = memory.local.count = 0;
    memory.free_count = 0;
    for (Pending& entry : memory.storage) {
        memory.free[memory.free_count++] = &entry;
    }
    memory.next_ready = ~std::uint64_t{0};
    memory.sequence = 0;
    memory.logged = 0;
}

} // namespace

void start_workgroup(Workgroup& group, const LaunchRequest& request, const std::uint32_t ids[3]) {
    const int byte = poison_byte(request.options.poison);
    std::memset(group.lds, byte, group.lds_bytes);
    if (group.private_bytes != 0) {
        std::memset(group.scratch, byte, std::size_t{group.private_bytes} * kLanes * static_cast<unsigned>(group.wave_count));
    }
    group.recent = nullptr;
    begin_checks(group);
    for (int index = 0; index < group.wave_count; ++index) {
        Wave& wave = group.waves[index];
        poison_registers(wave, group.wave_memory[index], group, byte);
        std::memset(wave.s, byte, sizeof(wave.s));
        std::memset(reinterpret_cast<char*>(&wave) + sizeof(wave.v) + sizeof(wave.s), 0, sizeof(wave) - sizeof(wave.v) - sizeof(wave.s));
        wave.mode = mode_of(request.kernel.rsrc1);
        wave.arch = request.kernel.arch == 0 ? Arch::gfx942 : Arch::gfx950;
        wave.pc = request.kernel.entry;
        wave.id = static_cast<std::uint16_t>(index);
        wave.group = &group;
        empty_queues(group.wave_memory[index]);
        set_scalars(wave, request, ids);
        set_work_items(wave, request);
    }
}

} // namespace emulator
