// MFMA in double precision, with signs of A, B and C.
#include "../numerics/fused.hpp"
#include "lanewise.hpp"
#include "matrix_tables.hpp"

namespace emulator {

namespace {

double element(const Row* rows, int lane) {
    return double_of(rows[0].lane[lane] | (std::uint64_t{rows[1].lane[lane]} << 32));
}

/// Rows of a double operand, copied: D may lie on any of them.
void read(Wave& wave, const Instruction& in, int n, int words, bool negate, Row* out) {
    for (int word = 0; word < words; ++word) {
        Row buffer;
        const int from = in.src[n].kind == Operand::Kind::constant ? word & 1 : word;
        const std::uint32_t* row = fetch_raw(wave, in, n, from, buffer);
        const std::uint32_t flip = negate && (word & 1) != 0 ? 0x80000000u : 0u;
        for (int lane = 0; lane < kLanes; ++lane) {
            out[word].lane[lane] = row[lane] ^ flip;
        }
    }
}

/// M rows and columns, four k; Blocks blocks. D and C hold `Blocks == 1 ? 4 : 1` doubles per lane.
template <int M, int Blocks> void multiply(Wave& wave, const Instruction& in) {
    constexpr int values = M * M * Blocks / kLanes;
    const unsigned negated = in.neg;
    Row a[2], b[2], c[2 * values];
    read(wave, in, 0, 2, (negated & 1) != 0, a);
    read(wave, in, 1, 2, (negated & 2) != 0, b);
    read(wave, in, 2, 2 * values, (negated & 4) != 0, c);
    std::uint32_t (*d)[kLanes] = wave.v + in.dst.index + (in.dst.kind == Operand::Kind::agpr ? kAccBase : 0);
    constexpr int across = M * Blocks; // lanes with the same k: the rows (or columns) of all blocks
    for (int value = 0; value < values; ++value) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const int block = Blocks == 1 ? 0 : (lane / M) % Blocks;
            const int column = lane % M, row = lane / across + value * (kLanes / across);
            double sum = element(c + 2 * value, lane);
            for (int k = 0; k < 4; ++k) {
                sum = fused64(element(a, across * k + M * block + row), element(b, across * k + M * block + column), sum);
            }
            const std::uint64_t bits = is_nan64(bits_of(sum)) ? kQuietNan64 : bits_of(sum);
            d[2 * value][lane] = static_cast<std::uint32_t>(bits);
            d[2 * value + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
        }
    }
}

} // namespace

Executor mfma_double_executor(Opcode op) {
    switch (op) {
    case Opcode::v_mfma_f64_16x16x4_f64:
        return &multiply<16, 1>;
    case Opcode::v_mfma_f64_4x4x4_4b_f64:
        return &multiply<4, 4>;
    default:
        return nullptr;
    }
}

} // namespace emulator
