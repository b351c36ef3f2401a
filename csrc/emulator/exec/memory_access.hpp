// What the executors of memory instructions share: registers as rows, checked addresses, gathering and scattering.
#pragma once

#include "../machine/workgroup.hpp"

#include <bit>
#include <cstring>

namespace emulator {

/// An address of each lane: device addresses, which are host addresses once checked.
struct LaneAddresses {
    alignas(64) std::uint64_t at[kLanes];
};

/// LDS offset of each lane.
struct LaneOffsets {
    alignas(64) std::uint32_t at[kLanes];
};

inline constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};

inline int row_of(const Operand& operand) {
    return operand.index + (operand.kind == Operand::Kind::agpr ? kAccBase : 0);
}

inline std::uint32_t scalar_operand(const Wave& w, const Operand& operand) {
    return operand.kind == Operand::Kind::sgpr ? w.s[operand.index & 127] : operand.value;
}

inline bool is_absent(const Operand& operand) {
    return operand.kind == Operand::Kind::none;
}

/// Calls `body(lane)` for every lane of the mask, as a plain loop when all are in it.
template <typename Body> inline void each_lane(std::uint64_t lanes, Body body) {
    if (lanes == kAllLanes) {
        for (int lane = 0; lane < kLanes; ++lane) {
            body(lane);
        }
        return;
    }
    for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
        body(std::countr_zero(left));
    }
}

/// True if every active lane may access `bytes` at its address; otherwise the wave has a fault that names the first lane.
bool reachable(Wave& w, const LaneAddresses& addresses, std::uint64_t lanes, std::uint32_t bytes, bool write);

/// True if every active lane's access lies in the LDS of the workgroup; otherwise the wave has a fault.
bool in_lds(Wave& w, const LaneOffsets& offsets, std::uint64_t lanes, std::uint32_t bytes, bool write);

/// Reads whole dwords of each lane into the rows of a load.
template <int dwords, typename Pointer> inline void gather(std::uint32_t (*rows)[kLanes], std::uint64_t lanes, Pointer pointer) {
    each_lane(lanes, [&](int lane) {
        std::uint32_t words[dwords];
        std::memcpy(words, pointer(lane), sizeof(words));
        for (int dword = 0; dword < dwords; ++dword) {
            rows[dword][lane] = words[dword];
        }
    });
}

/// Writes whole dwords of each lane from registers.
template <int dwords, typename Pointer> inline void scatter(const std::uint32_t (*rows)[kLanes], std::uint64_t lanes, Pointer pointer) {
    each_lane(lanes, [&](int lane) {
        std::uint32_t words[dwords];
        for (int dword = 0; dword < dwords; ++dword) {
            words[dword] = rows[dword][lane];
        }
        std::memcpy(pointer(lane), words, sizeof(words));
    });
}

/// Part of a register that a narrow access fills or stores.
enum class Part : std::uint8_t { whole, low, high };

/// What a load or store moves per lane.
struct Shape {
    std::uint8_t bytes = 4;
    bool sign_extend = false;
    Part part = Part::whole;
};

/// Reads `shape.bytes` of each lane into rows, widened to dwords.
template <typename Pointer>
inline void gather_shape(const Shape& shape, std::uint32_t (*rows)[kLanes], std::uint64_t lanes, Pointer pointer) {
    switch (shape.bytes) {
    case 1:
        each_lane(lanes, [&](int lane) {
            const auto byte = *static_cast<const std::uint8_t*>(pointer(lane));
            rows[0][lane] = shape.sign_extend ? static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(byte)}) : byte;
        });
        break;
    case 2:
        each_lane(lanes, [&](int lane) {
            std::uint16_t value;
            std::memcpy(&value, pointer(lane), 2);
            rows[0][lane] = shape.sign_extend ? static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(value)}) : value;
        });
        break;
    case 4:
        gather<1>(rows, lanes, pointer);
        break;
    case 8:
        gather<2>(rows, lanes, pointer);
        break;
    case 12:
        gather<3>(rows, lanes, pointer);
        break;
    default:
        gather<4>(rows, lanes, pointer);
        break;
    }
}

template <typename Pointer>
inline void scatter_shape(const Shape& shape, const std::uint32_t (*rows)[kLanes], std::uint64_t lanes, Pointer pointer) {
    const int shift = shape.part == Part::high ? 16 : 0;
    switch (shape.bytes) {
    case 1:
        each_lane(lanes, [&](int lane) { *static_cast<std::uint8_t*>(pointer(lane)) = static_cast<std::uint8_t>(rows[0][lane] >> shift); });
        break;
    case 2:
        each_lane(lanes, [&](int lane) {
            const auto value = static_cast<std::uint16_t>(rows[0][lane] >> shift);
            std::memcpy(pointer(lane), &value, 2);
        });
        break;
    case 4:
        scatter<1>(rows, lanes, pointer);
        break;
    case 8:
        scatter<2>(rows, lanes, pointer);
        break;
    case 12:
        scatter<3>(rows, lanes, pointer);
        break;
    default:
        scatter<4>(rows, lanes, pointer);
        break;
    }
}

/// Completes a load of vector registers.
inline void load_to_vgprs(Wave& w, Pending& entry, const Instruction& in, const Shape& shape, std::uint64_t lanes, Port port) {
    entry.target = Pending::Target::vgpr;
    entry.first = static_cast<std::uint16_t>(row_of(in.dst));
    entry.dwords = static_cast<std::uint8_t>((shape.bytes + 3) / 4);
    entry.half = static_cast<std::uint8_t>(shape.part);
    entry.lanes = lanes;
    const Access access = port == Port::local ? Access::lds : shape.bytes <= 4 ? Access::vector_narrow : Access::vector_wide;
    issued(w, entry, port, access);
}

/// Counts a store, which has no result to wait for but is in the counter until it is done.
inline void store_issued(Wave& w, const Instruction& in, Port port) {
    issued(w, begin_pending(w, port, in.pc), port, port == Port::local ? Access::lds : Access::vector_wide);
}

/// Shape of a load of MUBUF, FLAT, GLOBAL or SCRATCH, whose opcodes share their numbers: 16..23 and 32..37.
constexpr bool load_shape(unsigned number, Shape& shape) {
    constexpr Shape kLoads[] = {{1}, {1, true}, {2}, {2, true}, {4}, {8}, {12}, {16}};
    constexpr Shape kHalfLoads[] = {{1, false, Part::low}, {1, false, Part::high}, {1, true, Part::low},
                                    {1, true, Part::high}, {2, false, Part::low},  {2, false, Part::high}};
    if (number >= 16 && number < 24) {
        shape = kLoads[number - 16];
        return true;
    }
    if (number >= 32 && number < 38) {
        shape = kHalfLoads[number - 32];
        return true;
    }
    return false;
}

/// Shape of a store, numbers 24..31.
constexpr bool store_shape(unsigned number, Shape& shape) {
    constexpr Shape kStores[] = {{1}, {1, false, Part::high}, {2}, {2, false, Part::high}, {4}, {8}, {12}, {16}};
    if (number < 24 || number >= 32) {
        return false;
    }
    shape = kStores[number - 24];
    return true;
}

/// Shape of a load to LDS, numbers 38..42 and 125, 126 (GLOBAL and SCRATCH).
constexpr bool lds_load_shape(unsigned number, Shape& shape) {
    constexpr Shape kLoads[] = {{1}, {1, true}, {2}, {2, true}, {4}};
    if (number >= 38 && number < 43) {
        shape = kLoads[number - 38];
        return true;
    }
    if (number == 125 || number == 126) {
        shape = {static_cast<std::uint8_t>(number == 125 ? 16 : 12)};
        return true;
    }
    return false;
}

constexpr bool is_load(unsigned number) {
    Shape shape;
    return load_shape(number, shape);
}

constexpr bool is_store(unsigned number) {
    Shape shape;
    return store_shape(number, shape);
}

constexpr bool is_lds_load(unsigned number) {
    Shape shape;
    return lds_load_shape(number, shape);
}

} // namespace emulator
