// MFMA with float results from float, xf32, half, bfloat16 and 8 bit operands.
#include "matrix_tables.hpp"
#include "mfma.hpp"

namespace emulator {

const std::uint32_t* broadcast_a(const Instruction& in, const std::uint32_t* row, int lanes_per_block, Row& buffer) {
    Row result;
    for (int lane = 0; lane < kLanes; ++lane) {
        const int block = lane / lanes_per_block, group = block >> in.cbsz << in.cbsz;
        const int from = (group + (in.abid & ((1 << in.cbsz) - 1))) * lanes_per_block + lane % lanes_per_block;
        result.lane[lane] = row[from & 63];
    }
    buffer = result;
    return buffer.lane;
}

const std::uint32_t* broadcast_b(const Instruction& in, const std::uint32_t* row, Row& buffer) {
    Row result;
    for (int lane = 0; lane < kLanes; ++lane) {
        int from = lane;
        switch (in.blgp) {
        case 1: // the first half everywhere
            from = lane & 31;
            break;
        case 2: // the second half everywhere
            from = lane | 32;
            break;
        case 3: // rotated down by 16
            from = (lane + 16) & 63;
            break;
        case 4:
        case 5:
        case 6:
        case 7: // one row of 16 everywhere
            from = 16 * (in.blgp - 4) + (lane & 15);
            break;
        default:
            break;
        }
        result.lane[lane] = row[from];
    }
    buffer = result;
    return buffer.lane;
}

namespace {

/// A block of fewer columns than a vector has.
template <int M, int K, Step How, class Source, class Target>
void multiply_small(const std::uint32_t (*a)[M], const std::uint32_t (*b)[M], Source source, Target target) {
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < M; ++j) {
            float sum = float_of(source(i)[j]);
            for (int k = 0; k < K; ++k) {
                const float left = float_of(a[k][i]), right = float_of(b[k][j]);
                sum = How == Step::fused ? fused32(left, right, sum) : sum + left * right;
            }
            target(i)[j] = is_nan32(bits_of(sum)) ? kQuietNan32 : bits_of(sum);
        }
    }
}

template <int M, int Blocks, int Elements, class A, class B> void multiply(Wave& wave, const Instruction& in) {
    constexpr int groups = kLanes / M;            // of lanes
    constexpr int K = Elements * groups / Blocks; // of one block
    constexpr Step how = step_of<A, B>;
    // Block b takes the k of its own group; a single block takes those of all groups one after another.
    const auto order = [](int group, int element) { return Elements * group + element; };
    alignas(64) std::uint32_t a[Elements * groups][M], b[Elements * groups][M];
    read_operand<A, M, Blocks, Elements>(wave, in, 0, order, a);
    read_operand<B, M, Blocks, Elements>(wave, in, 1, order, b);
    const Addend<M * M * Blocks / kLanes> c(wave, in);
    std::uint32_t (*d)[kLanes] = destination(wave, in);
    for (int block = 0; block < Blocks; ++block) {
        const auto source = [&](int row) {
            const Place place = place_of_row<M>(block, row);
            return c.rows[place.word] + place.lane;
        };
        const auto target = [&](int row) {
            const Place place = place_of_row<M>(block, row);
            return d[place.word] + place.lane;
        };
        if constexpr (M >= 16) {
            accumulate<M, K, how>(a + K * block, b + K * block, source, target);
        } else {
            multiply_small<M, K, how>(a + K * block, b + K * block, source, target);
        }
    }
}

template <int M, int Elements, class Fnuz1, class Fnuz2, class Ocp1, class Ocp2> void multiply_narrow(Wave& wave, const Instruction& in) {
    if (wave.arch == Arch::gfx950) {
        multiply<M, 1, Elements, ElementNarrow<Ocp1>, ElementNarrow<Ocp2>>(wave, in);
    } else {
        multiply<M, 1, Elements, ElementNarrow<Fnuz1>, ElementNarrow<Fnuz2>>(wave, in);
    }
}

template <int M, int Elements, bool FirstBf8, bool SecondBf8> constexpr Executor narrow() {
    using Fnuz1 = std::conditional_t<FirstBf8, Bf8Fnuz, Fp8Fnuz>;
    using Fnuz2 = std::conditional_t<SecondBf8, Bf8Fnuz, Fp8Fnuz>;
    using Ocp1 = std::conditional_t<FirstBf8, Bf8Ocp, Fp8Ocp>;
    using Ocp2 = std::conditional_t<SecondBf8, Bf8Ocp, Fp8Ocp>;
    return &multiply_narrow<M, Elements, Fnuz1, Fnuz2, Ocp1, Ocp2>;
}

Executor of_16_bits(Opcode op) {
    switch (op) {
    case Opcode::v_mfma_f32_32x32x4_2b_f16:
        return &multiply<32, 2, 4, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_16x16x4_4b_f16:
        return &multiply<16, 4, 4, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_4x4x4_16b_f16:
        return &multiply<4, 16, 4, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_32x32x8_f16:
        return &multiply<32, 1, 4, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_16x16x16_f16:
        return &multiply<16, 1, 4, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_32x32x16_f16:
        return &multiply<32, 1, 8, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_16x16x32_f16:
        return &multiply<16, 1, 8, ElementF16, ElementF16>;
    case Opcode::v_mfma_f32_32x32x4_2b_bf16:
        return &multiply<32, 2, 4, ElementBf16, ElementBf16>;
    case Opcode::v_mfma_f32_16x16x4_4b_bf16:
        return &multiply<16, 4, 4, ElementBf16, ElementBf16>;
    case Opcode::v_mfma_f32_4x4x4_16b_bf16:
        return &multiply<4, 16, 4, ElementBf16, ElementBf16>;
    case Opcode::v_mfma_f32_32x32x8_bf16:
        return &multiply<32, 1, 4, ElementBf16, ElementBf16>;
    case Opcode::v_mfma_f32_16x16x16_bf16:
        return &multiply<16, 1, 4, ElementBf16, ElementBf16>;
    case Opcode::v_mfma_f32_32x32x16_bf16:
        return &multiply<32, 1, 8, ElementBf16, ElementBf16>;
    case Opcode::v_mfma_f32_16x16x32_bf16:
        return &multiply<16, 1, 8, ElementBf16, ElementBf16>;
    default:
        return nullptr;
    }
}

Executor of_32_bits(Opcode op) {
    switch (op) {
    case Opcode::v_mfma_f32_32x32x1_2b_f32:
        return &multiply<32, 2, 1, ElementF32, ElementF32>;
    case Opcode::v_mfma_f32_16x16x1_4b_f32:
        return &multiply<16, 4, 1, ElementF32, ElementF32>;
    case Opcode::v_mfma_f32_4x4x1_16b_f32:
        return &multiply<4, 16, 1, ElementF32, ElementF32>;
    case Opcode::v_mfma_f32_32x32x2_f32:
        return &multiply<32, 1, 1, ElementF32, ElementF32>;
    case Opcode::v_mfma_f32_16x16x4_f32:
        return &multiply<16, 1, 1, ElementF32, ElementF32>;
    case Opcode::v_mfma_f32_32x32x4_xf32:
        return &multiply<32, 1, 2, ElementXf32, ElementXf32>;
    case Opcode::v_mfma_f32_16x16x8_xf32:
        return &multiply<16, 1, 2, ElementXf32, ElementXf32>;
    default:
        return nullptr;
    }
}

} // namespace

Executor mfma_float_executor(Opcode op) {
    switch (op) {
    case Opcode::v_mfma_f32_16x16x32_bf8_bf8:
        return narrow<16, 8, true, true>();
    case Opcode::v_mfma_f32_16x16x32_bf8_fp8:
        return narrow<16, 8, true, false>();
    case Opcode::v_mfma_f32_16x16x32_fp8_bf8:
        return narrow<16, 8, false, true>();
    case Opcode::v_mfma_f32_16x16x32_fp8_fp8:
        return narrow<16, 8, false, false>();
    case Opcode::v_mfma_f32_32x32x16_bf8_bf8:
        return narrow<32, 8, true, true>();
    case Opcode::v_mfma_f32_32x32x16_bf8_fp8:
        return narrow<32, 8, true, false>();
    case Opcode::v_mfma_f32_32x32x16_fp8_bf8:
        return narrow<32, 8, false, true>();
    case Opcode::v_mfma_f32_32x32x16_fp8_fp8:
        return narrow<32, 8, false, false>();
    default:
        break;
    }
    const Executor executor = of_16_bits(op);
    return executor != nullptr ? executor : of_32_bits(op);
}

} // namespace emulator
