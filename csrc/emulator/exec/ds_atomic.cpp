// DS atomics. A workgroup runs on one thread, so plain reads and writes of its LDS are atomic.
#include "memory_tables.hpp"

#include "../machine/checks.hpp"
#include "atomic_ops.hpp"
#include "memory_access.hpp"

namespace emulator {

namespace {

template <typename T> T operand_value(const Wave& w, const Operand& operand, int lane) {
    if (is_absent(operand)) {
        return 0;
    }
    const int row = row_of(operand);
    T value = w.v[row][lane];
    if constexpr (sizeof(T) == 8) {
        value |= static_cast<T>(w.v[row + 1][lane]) << 32;
    }
    return value;
}

bool usable(Wave& w, const Instruction& in, const LaneOffsets& offsets, std::uint64_t lanes, std::uint32_t bytes) {
    if (!in_lds(w, offsets, lanes, bytes, true)) {
        return false;
    }
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (offsets.at[lane] % bytes != 0) {
            w.fault = {.kind = FaultKind::misaligned,
                       .lane = static_cast<std::int16_t>(lane),
                       .address = offsets.at[lane],
                       .size = bytes,
                       .write = true};
            return false;
        }
    }
    const std::uint64_t moved = std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(lanes));
    w.group->traffic.lds_read += moved;
    w.group->traffic.lds_written += moved;
    return w.group->checks == nullptr || check_lds(w, in, offsets.at, lanes, bytes, LdsUse::atomic);
}

void offsets_of(const Wave& w, const Instruction& in, std::uint32_t offset, LaneOffsets& offsets) {
    const std::uint32_t* address = w.v[row_of(in.src[0])];
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t sum = address[lane] + offset;
        offsets.at[lane] = sum < offset ? ~std::uint32_t{0} : sum;
    }
}

template <typename T>
void exchange(Wave& w, AtomicOp op, const LaneOffsets& offsets, std::uint64_t lanes, const Operand& first, const Operand& second,
              std::uint32_t (*old)[kLanes]) {
    each_lane(lanes, [&](int lane) {
        std::uint8_t* place = w.group->lds + offsets.at[lane];
        T before;
        std::memcpy(&before, place, sizeof(T));
        T operand = operand_value<T>(w, first, lane);
        T other = operand_value<T>(w, second, lane);
        if (op == AtomicOp::compare_swap || op == AtomicOp::compare_swap_float) { // here the value compared with comes first
            const T compared = operand;
            operand = other;
            other = compared;
        }
        const T after = atomic_result<T>(op, before, operand, other);
        std::memcpy(place, &after, sizeof(T));
        for (unsigned dword = 0; dword < sizeof(T) / 4; ++dword) {
            old[dword][lane] = static_cast<std::uint32_t>(std::uint64_t{before} >> (32 * dword));
        }
    });
}

template <AtomicOp op, typename T, bool returns> void atomic(Wave& w, const Instruction& in) {
    LaneOffsets offsets;
    offsets_of(w, in, static_cast<std::uint32_t>(in.imm), offsets);
    const std::uint64_t lanes = w.exec();
    if (!usable(w, in, offsets, lanes, sizeof(T))) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    exchange<T>(w, op, offsets, lanes, in.src[1], in.src[2], entry.data);
    if constexpr (returns) {
        load_to_vgprs(w, entry, in, {sizeof(T)}, lanes, Port::local);
    } else {
        issued(w, entry, Port::local, Access::lds);
    }
}

/// ds_wrxchg2: two exchanges, at offsets that count elements or 64 elements.
template <typename T, unsigned stride> void exchange_two(Wave& w, const Instruction& in) {
    const auto both = static_cast<std::uint32_t>(in.imm);
    const std::uint64_t lanes = w.exec();
    LaneOffsets first;
    LaneOffsets second;
    offsets_of(w, in, (both & 0xff) * sizeof(T) * stride, first);
    offsets_of(w, in, (both >> 8 & 0xff) * sizeof(T) * stride, second);
    if (!usable(w, in, first, lanes, sizeof(T)) || !usable(w, in, second, lanes, sizeof(T))) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    exchange<T>(w, AtomicOp::swap, first, lanes, in.src[1], {}, entry.data);
    exchange<T>(w, AtomicOp::swap, second, lanes, in.src[2], {}, entry.data + sizeof(T) / 4);
    load_to_vgprs(w, entry, in, {2 * sizeof(T)}, lanes, Port::local);
}

/// ds_condxchg32: each half with its top bit set is written, without that bit.
void conditional_exchange(Wave& w, const Instruction& in) {
    LaneOffsets offsets;
    offsets_of(w, in, static_cast<std::uint32_t>(in.imm), offsets);
    for (std::uint32_t& offset : offsets.at) {
        offset &= ~7U;
    }
    const std::uint64_t lanes = w.exec();
    if (!usable(w, in, offsets, lanes, 8)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    each_lane(lanes, [&](int lane) {
        for (int half = 0; half < 2; ++half) {
            std::uint8_t* place = w.group->lds + offsets.at[lane] + 4 * half;
            const std::uint32_t data = w.v[row_of(in.src[1]) + half][lane];
            std::memcpy(&entry.data[half][lane], place, 4);
            if ((data >> 31) != 0) {
                const std::uint32_t kept = data & 0x7fffffffU;
                std::memcpy(place, &kept, 4);
            }
        }
    });
    load_to_vgprs(w, entry, in, {8}, lanes, Port::local);
}

/// The opcodes that come as 32 and 64 bits, with and without return, at the same distances: 0..12 of each block of 32.
template <typename T, bool returns> Executor integer(unsigned place) {
    switch (place) {
    case 0:
        return atomic<AtomicOp::add, T, returns>;
    case 1:
        return atomic<AtomicOp::sub, T, returns>;
    case 2:
        return atomic<AtomicOp::reverse_sub, T, returns>;
    case 3:
        return atomic<AtomicOp::increment, T, returns>;
    case 4:
        return atomic<AtomicOp::decrement, T, returns>;
    case 5:
        return atomic<AtomicOp::signed_min, T, returns>;
    case 6:
        return atomic<AtomicOp::signed_max, T, returns>;
    case 7:
        return atomic<AtomicOp::unsigned_min, T, returns>;
    case 8:
        return atomic<AtomicOp::unsigned_max, T, returns>;
    case 9:
        return atomic<AtomicOp::bit_and, T, returns>;
    case 10:
        return atomic<AtomicOp::bit_or, T, returns>;
    case 11:
        return atomic<AtomicOp::bit_xor, T, returns>;
    case 12:
        return atomic<AtomicOp::masked_or, T, returns>;
    case 13: // a plain write without return
        return returns ? atomic<AtomicOp::swap, T, true> : nullptr;
    case 14:
        return returns ? exchange_two<T, 1> : nullptr;
    case 15:
        return returns ? exchange_two<T, 64> : nullptr;
    case 16:
        return atomic<AtomicOp::compare_swap, T, returns>;
    case 17:
        return atomic<AtomicOp::compare_swap_float, T, returns>;
    case 18:
        return atomic<AtomicOp::min_float, T, returns>;
    case 19:
        return atomic<AtomicOp::max_float, T, returns>;
    default:
        return nullptr;
    }
}

} // namespace

Executor ds_atomic_executor(unsigned number) {
    switch (number) {
    case 21: // ds_add_f32
        return atomic<AtomicOp::add_float, std::uint32_t, false>;
    case 23: // ds_pk_add_f16
        return atomic<AtomicOp::add_halves, std::uint32_t, false>;
    case 24: // ds_pk_add_bf16
        return atomic<AtomicOp::add_bfloats, std::uint32_t, false>;
    case 52: // ds_wrap_rtn_b32
        return atomic<AtomicOp::wrap, std::uint32_t, true>;
    case 53: // ds_add_rtn_f32
        return atomic<AtomicOp::add_float, std::uint32_t, true>;
    case 92: // ds_add_f64
        return atomic<AtomicOp::add_float, std::uint64_t, false>;
    case 124: // ds_add_rtn_f64
        return atomic<AtomicOp::add_float, std::uint64_t, true>;
    case 126: // ds_condxchg32_rtn_b64
        return conditional_exchange;
    case 183: // ds_pk_add_rtn_f16
        return atomic<AtomicOp::add_halves, std::uint32_t, true>;
    case 184: // ds_pk_add_rtn_bf16
        return atomic<AtomicOp::add_bfloats, std::uint32_t, true>;
    default:
        break;
    }
    switch (number / 32) {
    case 0:
        return integer<std::uint32_t, false>(number);
    case 1:
        return integer<std::uint32_t, true>(number - 32);
    case 2:
        return integer<std::uint64_t, false>(number - 64);
    case 3:
        return integer<std::uint64_t, true>(number - 96);
    default:
        return nullptr;
    }
}

} // namespace emulator
