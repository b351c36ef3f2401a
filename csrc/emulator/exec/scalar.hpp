// Operands of scalar instructions.
#pragma once

#include "../machine/workgroup.hpp"

namespace emulator::scalar {

inline std::uint32_t special32(const Wave& w, int index) {
    switch (index) {
    case 251:
        return w.vcc() == 0;
    case 252:
        return w.exec() == 0;
    case 253:
        return w.scc;
    default:
        return static_cast<std::uint32_t>(aperture(index) >> 32); // a 32-bit read of an aperture gives its high half
    }
}

inline std::uint32_t read32(const Wave& w, const Operand& operand) {
    switch (operand.kind) {
    case Operand::Kind::sgpr:
        return w.s[operand.index & 127];
    case Operand::Kind::special:
        return special32(w, operand.index);
    default:
        return operand.value;
    }
}

/// 64-bit value; the decoder has widened constants.
inline std::uint64_t read64(const Wave& w, const Operand& operand) {
    switch (operand.kind) {
    case Operand::Kind::sgpr:
        return w.s[operand.index & 127] | (std::uint64_t{w.s[(operand.index + 1) & 127]} << 32);
    case Operand::Kind::special:
        return operand.index >= 251 ? special32(w, operand.index) : aperture(operand.index);
    default:
        break;
    }
    return operand.value | (std::uint64_t{operand.high} << 32);
}

inline void write32(Wave& w, const Operand& operand, std::uint32_t value) {
    w.s[operand.index & 127] = value;
}

inline void write64(Wave& w, const Operand& operand, std::uint64_t value) {
    w.s[operand.index & 127] = static_cast<std::uint32_t>(value);
    w.s[(operand.index + 1) & 127] = static_cast<std::uint32_t>(value >> 32);
}

} // namespace emulator::scalar
