// SMEM atomics: one operation for the wave, at an address or through a buffer descriptor.
#include "memory_tables.hpp"

#include "atomic_ops.hpp"
#include "scalar_memory.hpp"

#include <utility>

namespace emulator {

namespace {

constexpr unsigned kFirst = 64;     // the opcodes through a descriptor have the numbers of MUBUF
constexpr unsigned kAtAddress = 64; // those at an address are that much higher
constexpr unsigned kCount = 128;

template <typename T> T operand_at(const Wave& w, int first, int place) {
    T value;
    std::memcpy(&value, w.s + (first & 127) + place * static_cast<int>(sizeof(T) / 4), sizeof(T));
    return value;
}

template <typename T> void run(Wave& w, const Instruction& in, AtomicOp op, std::uint64_t address) {
    constexpr int kDwords = sizeof(T) / 4;
    if (address % sizeof(T) != 0) {
        scalar_fault(w, FaultKind::misaligned, address, sizeof(T), true);
        return;
    }
    if (!scalar_reachable(w, address, sizeof(T), true)) {
        return;
    }
    const int data = in.src[2].index;
    const T other = op == AtomicOp::compare_swap ? operand_at<T>(w, data, 1) : T{0};
    Pending& entry = begin_pending(w, Port::local, in.pc);
    const T old = atomic_replace<T>(reinterpret_cast<void*>(address), op, operand_at<T>(w, data, 0), other);
    w.group->traffic.global_read += sizeof(T);
    w.group->traffic.global_written += sizeof(T);
    if (in.sc0) {
        std::memcpy(entry.data[0], &old, sizeof(T));
        load_to_sgprs(w, in, entry, kDwords);
    } else {
        issued(w, entry, Port::local, Access::scalar);
    }
}

template <unsigned number> void atomic(Wave& w, const Instruction& in) {
    constexpr bool kBuffer = number < kFirst + kAtAddress;
    constexpr GlobalAtomic kAtomic = [] {
        GlobalAtomic found;
        global_atomic(kBuffer ? number : number - kAtAddress, found);
        return found;
    }();
    using T = std::conditional_t<kAtomic.wide, std::uint64_t, std::uint32_t>;
    if constexpr (kBuffer) {
        const ScalarBuffer buffer = scalar_buffer(w, in);
        const std::uint64_t offset = static_cast<std::uint64_t>(scalar_offset(w, in)) & ~std::uint64_t{3};
        if (buffer.holds(offset, sizeof(T))) {
            run<T>(w, in, kAtomic.op, buffer.base + offset);
        } else if (in.sc0) { // nothing there: 0
            Pending& entry = begin_pending(w, Port::local, in.pc);
            std::memset(entry.data[0], 0, sizeof(T));
            load_to_sgprs(w, in, entry, sizeof(T) / 4);
        }
    } else {
        run<T>(w, in, kAtomic.op, scalar_address(w, in));
    }
}

template <unsigned number> constexpr Executor executor_of() {
    constexpr unsigned kNumber = number < kFirst + kAtAddress ? number : number - kAtAddress;
    // Of the operations on integers: SMEM has no others.
    if constexpr (is_global_atomic(kNumber) && !(kNumber >= 77 && kNumber < 96)) {
        return atomic<number>;
    } else {
        return nullptr;
    }
}

struct Table {
    Executor at[kCount];
};

template <std::size_t... place> constexpr Table make_table(std::index_sequence<place...>) {
    return {{executor_of<kFirst + place>()...}};
}

constexpr Table kTable = make_table(std::make_index_sequence<kCount>{});

} // namespace

Executor smem_atomic_executor(unsigned number) {
    return number >= kFirst && number < kFirst + kCount ? kTable.at[number - kFirst] : nullptr;
}

} // namespace emulator
