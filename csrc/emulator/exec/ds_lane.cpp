// DS instructions that move data between lanes without touching LDS, and those that do nothing.
#include "memory_tables.hpp"

#include "memory_access.hpp"

namespace emulator {

namespace {

void finish(Wave& w, const Instruction& in, Pending& entry) {
    load_to_vgprs(w, entry, in, {4}, w.exec(), Port::local);
}

/// Every active lane reads from the lane its address names; an inactive source gives 0.
void bpermute(Wave& w, const Instruction& in) {
    const std::uint32_t* address = w.v[row_of(in.src[0])];
    const std::uint32_t* data = w.v[row_of(in.src[1])];
    Pending& entry = begin_pending(w, Port::local, in.pc);
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t from = (address[lane] + static_cast<std::uint32_t>(in.imm)) / 4 % kLanes;
        entry.data[0][lane] = (w.exec() >> from & 1) != 0 ? data[from] : 0;
    }
    finish(w, in, entry);
}

/// Every active lane writes to the lane its address names; of several writers the highest wins, unwritten lanes get 0.
void permute(Wave& w, const Instruction& in) {
    const std::uint32_t* address = w.v[row_of(in.src[0])];
    const std::uint32_t* data = w.v[row_of(in.src[1])];
    Pending& entry = begin_pending(w, Port::local, in.pc);
    std::memset(entry.data[0], 0, sizeof(entry.data[0]));
    each_lane(w.exec(), [&](int lane) {
        const std::uint32_t to = (address[lane] + static_cast<std::uint32_t>(in.imm)) / 4 % kLanes;
        entry.data[0][to] = data[lane];
    });
    finish(w, in, entry);
}

/// Reverses the five bits of a lane's number within 32, as the butterfly of an FFT needs them.
int reversed5(int lane) {
    int result = 0;
    for (int bit = 0; bit < 5; ++bit) {
        result |= (lane >> bit & 1) << (4 - bit);
    }
    return result;
}

/// Source lane of ds_swizzle: quad permute, FFT, rotate, or the and-or-xor mask within 32 lanes.
int swizzle_source(std::uint32_t mode, int lane) {
    const int base = lane & ~31;
    const int low = lane & 31;
    if (mode >= 0xe000) {
        return (mode & 31) == 31 ? lane : base | reversed5(low);
    }
    if (mode >= 0xc000) { // rotate
        const int mask = static_cast<int>(mode & 31);
        const int by = static_cast<int>(mode >> 5 & 31);
        const int moved = (mode >> 10 & 1) != 0 ? low - by : low + by;
        return base | (low & mask) | (moved & ~mask & 31);
    }
    if ((mode & 0x8000) != 0) { // quad permute
        return (lane & ~3) | static_cast<int>(mode >> (2 * (lane & 3)) & 3);
    }
    const int and_mask = static_cast<int>(mode & 31);
    const int or_mask = static_cast<int>(mode >> 5 & 31);
    const int xor_mask = static_cast<int>(mode >> 10 & 31);
    return base | (((low & and_mask) | or_mask) ^ xor_mask);
}

void swizzle(Wave& w, const Instruction& in) {
    const auto mode = static_cast<std::uint32_t>(in.imm) & 0xffff;
    if (mode >= 0xe000 && (mode & 31) != 31 && (mode & 31) != 0) {
        w.fault = {.kind = FaultKind::unsupported, .address = mode}; // FFT modes between the full butterfly and none
        return;
    }
    const std::uint32_t* data = w.v[row_of(in.src[0])];
    Pending& entry = begin_pending(w, Port::local, in.pc);
    for (int lane = 0; lane < kLanes; ++lane) {
        const int from = swizzle_source(mode, lane);
        entry.data[0][lane] = (w.exec() >> from & 1) != 0 ? data[from] : 0;
    }
    finish(w, in, entry);
}

void nothing(Wave&, const Instruction&) {}

} // namespace

Executor ds_lane_executor(Opcode op) {
    switch (op) {
    case Opcode::ds_bpermute_b32:
        return bpermute;
    case Opcode::ds_permute_b32:
        return permute;
    case Opcode::ds_swizzle_b32:
        return swizzle;
    case Opcode::ds_nop:
        return nothing;
    default:
        return nullptr;
    }
}

} // namespace emulator
