// MFMA of signed bytes into 32 bit integers.
#include "matrix_tables.hpp"
#include "mfma.hpp"

namespace emulator {

namespace {

template <int M, int Blocks, int Elements> void multiply(Wave& wave, const Instruction& in) {
    constexpr int groups = kLanes / M;
    constexpr int K = Elements * groups / Blocks;
    const auto order = [](int group, int element) { return Elements * group + element; };
    alignas(64) std::uint32_t a[Elements * groups][M], b[Elements * groups][M];
    read_operand<ElementI8, M, Blocks, Elements>(wave, in, 0, order, a);
    read_operand<ElementI8, M, Blocks, Elements>(wave, in, 1, order, b);
    const Addend<M * M * Blocks / kLanes> c(wave, in);
    for (int block = 0; block < Blocks; ++block) {
        alignas(64) std::uint32_t tile[M][M];
        load_tile<M>(c.rows, block, tile);
        for (int i = 0; i < M; ++i) {
            for (int k = K * block; k < K * (block + 1); ++k) {
                const std::uint32_t left = a[k][i];
                for (int j = 0; j < M; ++j) {
                    tile[i][j] += left * b[k][j];
                }
            }
        }
        store_tile<M>(destination(wave, in), block, tile);
    }
}

} // namespace

Executor mfma_integer_executor(Opcode op) {
    switch (op) {
    case Opcode::v_mfma_i32_32x32x4_2b_i8:
        return &multiply<32, 2, 4>;
    case Opcode::v_mfma_i32_16x16x4_4b_i8:
        return &multiply<16, 4, 4>;
    case Opcode::v_mfma_i32_4x4x4_16b_i8:
        return &multiply<4, 16, 4>;
    case Opcode::v_mfma_i32_32x32x16_i8:
        return &multiply<32, 1, 8>;
    case Opcode::v_mfma_i32_16x16x32_i8:
        return &multiply<16, 1, 8>;
    case Opcode::v_mfma_i32_32x32x32_i8:
        return &multiply<32, 1, 16>;
    case Opcode::v_mfma_i32_16x16x64_i8:
        return &multiply<16, 1, 16>;
    default:
        return nullptr;
    }
}

} // namespace emulator
