// Data-parallel primitives: which lane each lane reads its first source from.
#pragma once

#include "operands.hpp"

namespace emulator {

/// The lane that `lane` reads under a DPP control, or -1 where there is none.
inline int dpp_source_lane(unsigned control, int lane) {
    const int row = lane & 48, place = lane & 15;
    const int count = static_cast<int>(control & 15);
    if (control <= 0xff) { // quad_perm
        return (lane & 60) | static_cast<int>((control >> (2 * (lane & 3))) & 3);
    }
    switch (control & 0x1f0) {
    case 0x100: // row_shl
        return place + count <= 15 ? lane + count : -1;
    case 0x110: // row_shr
        return place >= count ? lane - count : -1;
    case 0x120: // row_ror
        return row | ((place - count) & 15);
    case 0x150: // row_newbcast
        return row | count;
    default:
        break;
    }
    switch (control) {
    case 0x130: // wave_shl:1
        return lane < 63 ? lane + 1 : -1;
    case 0x134: // wave_rol:1
        return (lane + 1) & 63;
    case 0x138: // wave_shr:1
        return lane - 1;
    case 0x13c: // wave_ror:1
        return (lane - 1) & 63;
    case 0x140: // row_mirror
        return row | (15 - place);
    case 0x141: // row_half_mirror
        return (lane & 56) | (7 - (lane & 7));
    case 0x142: // row_bcast:15
        return lane >= 16 ? row - 1 : -1;
    case 0x143: // row_bcast:31
        return lane >= 32 ? 31 : -1;
    default:
        return -1;
    }
}

inline bool dpp_control_exists(unsigned control) {
    const unsigned family = control & 0x1f0;
    if (control <= 0xff || family == 0x150) {
        return true;
    }
    if (family == 0x100 || family == 0x110 || family == 0x120) {
        return (control & 15) != 0;
    }
    return control == 0x130 || control == 0x134 || control == 0x138 || control == 0x13c || (control >= 0x140 && control <= 0x143);
}

/// Reads through the control; a lane without a valid, enabled source reads 0.
inline void dpp_read(const std::uint32_t* row, const Dpp& dpp, std::uint64_t exec, Row& out) {
    if ((dpp.control & 0x1f0) == 0x150 && exec == ~std::uint64_t{0}) {
        for (int first = 0; first < kLanes; first += 16) {
            const std::uint32_t value = row[first + (dpp.control & 15)];
            for (int lane = 0; lane < 16; ++lane) {
                out.lane[first + lane] = value;
            }
        }
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        const int from = dpp_source_lane(dpp.control, lane);
        out.lane[lane] = from >= 0 && ((exec >> from) & 1) != 0 ? row[from] : 0;
    }
}

/// Lanes that a DPP instruction may write, EXEC aside.
inline std::uint64_t dpp_lanes(const Dpp& dpp, std::uint64_t exec) {
    if (dpp.row_mask == 15 && dpp.bank_mask == 15 && (dpp.bound_ctrl || ((dpp.control & 0x1f0) == 0x150 && exec == ~std::uint64_t{0}))) {
        return ~std::uint64_t{0};
    }
    std::uint64_t lanes = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const bool enabled = ((dpp.row_mask >> (lane >> 4)) & 1) != 0 && ((dpp.bank_mask >> ((lane >> 2) & 3)) & 1) != 0;
        const int from = dpp_source_lane(dpp.control, lane);
        const bool valid = dpp.bound_ctrl || (from >= 0 && ((exec >> from) & 1) != 0);
        lanes |= std::uint64_t{enabled && valid} << lane;
    }
    return lanes;
}

} // namespace emulator
