// Which registers an instruction reads and writes, as the checks look at them.
#pragma once

#include "wave.hpp"

namespace emulator {

/// Registers in a row.
struct Span {
    bool vector;
    std::uint8_t role; // the place in Instruction::src; kTargetRole for what the instruction writes, kImplicitRole for what no field names
    std::uint16_t first;
    std::uint16_t count;
};

inline constexpr std::uint8_t kTargetRole = 8;
inline constexpr std::uint8_t kImplicitRole = 9;
inline constexpr int kVcc = 106;
inline constexpr int kM0 = 124;
inline constexpr int kExec = 126;
inline constexpr int kVccIsZero = 251; // special operands
inline constexpr int kExecIsZero = 252;
inline constexpr int kVectorRows = 512;
inline constexpr int kScalars = 128;

class Spans {
public:
    /// Registers past the end of their file are left out.
    void add(bool vector, std::uint8_t role, int first, int count);
    bool holds(bool vector, int number) const;

    const Span* begin() const {
        return span_;
    }

    const Span* end() const {
        return span_ + count_;
    }

private:
    static constexpr int kMost = 10;
    Span span_[kMost];
    int count_ = 0;
};

/// Operands, implied registers, and the destination where the result depends on it. EXEC only where a field names it.
Spans registers_read(const Wave& wave, const Instruction& in);
/// Destinations, EXEC among them.
Spans registers_written(const Wave& wave, const Instruction& in);

constexpr bool is_vector_alu(const Instruction& in) {
    return in.format == Format::vop1 || in.format == Format::vop2 || in.format == Format::vop3 || in.format == Format::vop3p ||
           in.format == Format::vopc;
}

constexpr bool is_vector_memory(const Instruction& in) {
    return in.format == Format::mubuf || in.format == Format::flat || in.format == Format::global || in.format == Format::scratch;
}

constexpr bool is_memory(const Instruction& in) {
    return is_vector_memory(in) || in.format == Format::smem || in.format == Format::ds;
}

/// Does M0 take part in the instruction?
bool reads_m0(const Wave& wave, const Instruction& in);

} // namespace emulator
