// Sub-dword addressing: bytes and words of sources and of the destination.
#pragma once

#include "operands.hpp"

namespace emulator {

inline std::uint32_t sdwa_field(std::uint32_t value, unsigned select, bool extend) {
    if (select >= 6) {
        return value;
    }
    const unsigned width = select < 4 ? 8 : 16;
    const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
    const std::uint32_t top = value << (32 - width - shift);
    return extend ? static_cast<std::uint32_t>(static_cast<std::int32_t>(top) >> (32 - width)) : top >> (32 - width);
}

inline void sdwa_read(const std::uint32_t* row, unsigned select, bool extend, Row& out) {
    for (int lane = 0; lane < kLanes; ++lane) {
        out.lane[lane] = sdwa_field(row[lane], select, extend);
    }
}

/// The destination register after a result is put into its byte or word; `unused` says what becomes of the rest.
inline void sdwa_write(const std::uint32_t* old, const std::uint32_t* value, unsigned select, unsigned unused, Row& out) {
    if (select >= 6) {
        __builtin_memcpy(out.lane, value, sizeof out.lane);
        return;
    }
    const unsigned width = select < 4 ? 8 : 16;
    const unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
    const std::uint32_t field = ((1u << width) - 1u) << shift;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t placed = (value[lane] << shift) & field;
        const bool negative = ((value[lane] >> (width - 1)) & 1u) != 0;
        const std::uint32_t above = negative ? ~(field | ((1u << shift) - 1u)) : 0u;
        out.lane[lane] = placed | (unused == 2 ? old[lane] & ~field : unused == 1 ? above : 0u);
    }
}

} // namespace emulator
