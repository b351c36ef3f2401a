// 64 bit integer operations.
#include "lanewise.hpp"
#include "vector_tables.hpp"

namespace emulator {

namespace {

using i64 = std::int64_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 byte_differences(u32 a, u32 b, u32 sum, bool masked) {
    for (int shift = 0; shift < 32; shift += 8) {
        const u32 x = (a >> shift) & 0xffu, y = (b >> shift) & 0xffu;
        sum += masked && y == 0 ? 0u : x > y ? x - y : y - x;
    }
    return sum;
}

/// Four sums of absolute differences, of the bytes of `a` from four places on.
u64 four_differences(u64 a, u32 b, u64 sums, bool masked) {
    u64 result = 0;
    for (int n = 0; n < 4; ++n) {
        const u32 sum = byte_differences(static_cast<u32>(a >> (8 * n)), b, static_cast<u32>(sums >> (16 * n)) & 0xffffu, masked);
        result |= u64{sum & 0xffffu} << (16 * n);
    }
    return result;
}

/// The form with four 32 bit sums: its third source and its result are four registers.
void wide_differences(Wave& wave, const Instruction& in) {
    const Input<u64> a(wave, in, 0);
    const Input<u32> b(wave, in, 1);
    const Denormals denormals(wave.mode);
    Row results[4];
    for (int n = 0; n < 4; ++n) {
        Row buffer;
        const u32* sums = fetch(wave, in, 2, n, Reading::bits32, buffer);
        for (int lane = 0; lane < kLanes; ++lane) {
            results[n].lane[lane] =
                byte_differences(static_cast<u32>(a.load(lane, denormals) >> (8 * n)), b.load(lane, denormals), sums[lane], true);
        }
    }
    for (int n = 0; n < 4; ++n) {
        store(wave, in, n, results[n]);
    }
}

} // namespace

Executor integer64_executor(Opcode op) {
    switch (op) {
    case Opcode::v_mov_b64:
        return lanewise<+[](u64 a) { return a; }>;
    case Opcode::v_lshlrev_b64:
        return lanewise<+[](u32 a, u64 b) { return b << (a & 63u); }>;
    case Opcode::v_lshrrev_b64:
        return lanewise<+[](u32 a, u64 b) { return b >> (a & 63u); }>;
    case Opcode::v_ashrrev_i64:
        return lanewise<+[](u32 a, i64 b) { return b >> (a & 63u); }>;
    case Opcode::v_lshl_add_u64:
        return lanewise<+[](u64 a, u32 b, u64 c) { return (a << (b & 7u)) + c; }>;
    case Opcode::v_qsad_pk_u16_u8:
        return lanewise<+[](u64 a, u32 b, u64 c) { return four_differences(a, b, c, false); }>;
    case Opcode::v_mqsad_pk_u16_u8:
        return lanewise<+[](u64 a, u32 b, u64 c) { return four_differences(a, b, c, true); }>;
    case Opcode::v_mqsad_u32_u8:
        return &wide_differences;
    default:
        return nullptr;
    }
}

} // namespace emulator
