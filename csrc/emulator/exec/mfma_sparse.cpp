// SMFMAC: A holds two of every four consecutive k; two bits each say which. D is the accumulator too.
#include "matrix_tables.hpp"
#include "mfma.hpp"

namespace emulator {

namespace {

struct FloatSum {
    static std::uint32_t add(std::uint32_t sum, std::uint32_t a, std::uint32_t b) {
        return bits_of(float_of(sum) + float_of(a) * float_of(b));
    }

    static std::uint32_t settle(std::uint32_t sum) {
        return is_nan32(sum) ? kQuietNan32 : sum;
    }
};

struct IntegerSum {
    static std::uint32_t add(std::uint32_t sum, std::uint32_t a, std::uint32_t b) {
        return sum + a * b;
    }

    static std::uint32_t settle(std::uint32_t sum) {
        return sum;
    }
};

/// The bits of the index register that are this instruction's: all of them, or the part that abid names unless cbsz says the first.
template <int Elements> std::uint32_t index_bits(const Instruction& in, std::uint32_t word) {
    constexpr int bits = 2 * Elements;
    if constexpr (bits == 32) {
        return word;
    } else {
        const unsigned set = in.cbsz == 0 ? in.abid % (32 / bits) : 0;
        return (word >> (set * bits)) & ((1u << bits) - 1u);
    }
}

/// Elements of A per lane; B has twice as many.
template <int M, int Elements, class A, class B, class Sum> void multiply(Wave& wave, const Instruction& in) {
    constexpr int groups = kLanes / M;
    alignas(64) std::uint32_t a[Elements * groups][M], b[2 * Elements * groups][M], tile[M][M];
    read_operand<A, M, 1, Elements>(wave, in, 0, [](int group, int element) { return Elements * group + element; }, a);
    read_operand<B, M, 1, 2 * Elements>(wave, in, 1, [](int group, int element) { return 2 * Elements * group + element; }, b);
    Row buffer;
    const std::uint32_t* index = fetch_raw(wave, in, 2, 0, buffer);
    std::uint32_t (*d)[kLanes] = destination(wave, in);
    const std::uint32_t* c[M * M / kLanes];
    for (int word = 0; word < M * M / kLanes; ++word) {
        c[word] = d[word];
    }
    load_tile<M>(c, 0, tile);
    for (int i = 0; i < M; ++i) {
        for (int n = 0; n < Elements * groups; ++n) {
            const int group = n / Elements, element = n % Elements;
            const std::uint32_t places = index_bits<Elements>(in, index[M * group + i]);
            const int k = 2 * Elements * group + 4 * (element / 2) + static_cast<int>((places >> (2 * element)) & 3u);
            for (int j = 0; j < M; ++j) {
                tile[i][j] = Sum::add(tile[i][j], a[n][i], b[k][j]);
            }
        }
        for (int j = 0; j < M; ++j) {
            tile[i][j] = Sum::settle(tile[i][j]);
        }
    }
    store_tile<M>(d, 0, tile);
}

template <int M, int Elements, class Fnuz1, class Fnuz2, class Ocp1, class Ocp2> void multiply_narrow(Wave& wave, const Instruction& in) {
    if (wave.arch == Arch::gfx950) {
        multiply<M, Elements, ElementNarrow<Ocp1>, ElementNarrow<Ocp2>, FloatSum>(wave, in);
    } else {
        multiply<M, Elements, ElementNarrow<Fnuz1>, ElementNarrow<Fnuz2>, FloatSum>(wave, in);
    }
}

template <int M, int Elements> Executor narrow(bool first_bf8, bool second_bf8) {
    if (first_bf8) {
        return second_bf8 ? &multiply_narrow<M, Elements, Bf8Fnuz, Bf8Fnuz, Bf8Ocp, Bf8Ocp>
                          : &multiply_narrow<M, Elements, Bf8Fnuz, Fp8Fnuz, Bf8Ocp, Fp8Ocp>;
    }
    return second_bf8 ? &multiply_narrow<M, Elements, Fp8Fnuz, Bf8Fnuz, Fp8Ocp, Bf8Ocp>
                      : &multiply_narrow<M, Elements, Fp8Fnuz, Fp8Fnuz, Fp8Ocp, Fp8Ocp>;
}

Executor narrow_executor(Opcode op) {
    switch (op) {
    case Opcode::v_smfmac_f32_16x16x64_bf8_bf8:
        return narrow<16, 8>(true, true);
    case Opcode::v_smfmac_f32_16x16x64_bf8_fp8:
        return narrow<16, 8>(true, false);
    case Opcode::v_smfmac_f32_16x16x64_fp8_bf8:
        return narrow<16, 8>(false, true);
    case Opcode::v_smfmac_f32_16x16x64_fp8_fp8:
        return narrow<16, 8>(false, false);
    case Opcode::v_smfmac_f32_32x32x32_bf8_bf8:
        return narrow<32, 8>(true, true);
    case Opcode::v_smfmac_f32_32x32x32_bf8_fp8:
        return narrow<32, 8>(true, false);
    case Opcode::v_smfmac_f32_32x32x32_fp8_bf8:
        return narrow<32, 8>(false, true);
    case Opcode::v_smfmac_f32_32x32x32_fp8_fp8:
        return narrow<32, 8>(false, false);
    case Opcode::v_smfmac_f32_16x16x128_bf8_bf8:
        return narrow<16, 16>(true, true);
    case Opcode::v_smfmac_f32_16x16x128_bf8_fp8:
        return narrow<16, 16>(true, false);
    case Opcode::v_smfmac_f32_16x16x128_fp8_bf8:
        return narrow<16, 16>(false, true);
    case Opcode::v_smfmac_f32_16x16x128_fp8_fp8:
        return narrow<16, 16>(false, false);
    case Opcode::v_smfmac_f32_32x32x64_bf8_bf8:
        return narrow<32, 16>(true, true);
    case Opcode::v_smfmac_f32_32x32x64_bf8_fp8:
        return narrow<32, 16>(true, false);
    case Opcode::v_smfmac_f32_32x32x64_fp8_bf8:
        return narrow<32, 16>(false, true);
    case Opcode::v_smfmac_f32_32x32x64_fp8_fp8:
        return narrow<32, 16>(false, false);
    default:
        return nullptr;
    }
}

} // namespace

Executor sparse_executor(Opcode op) {
    switch (op) {
    case Opcode::v_smfmac_f32_16x16x32_f16:
        return &multiply<16, 4, ElementF16, ElementF16, FloatSum>;
    case Opcode::v_smfmac_f32_32x32x16_f16:
        return &multiply<32, 4, ElementF16, ElementF16, FloatSum>;
    case Opcode::v_smfmac_f32_16x16x32_bf16:
        return &multiply<16, 4, ElementBf16, ElementBf16, FloatSum>;
    case Opcode::v_smfmac_f32_32x32x16_bf16:
        return &multiply<32, 4, ElementBf16, ElementBf16, FloatSum>;
    case Opcode::v_smfmac_f32_16x16x64_f16:
        return &multiply<16, 8, ElementF16, ElementF16, FloatSum>;
    case Opcode::v_smfmac_f32_32x32x32_f16:
        return &multiply<32, 8, ElementF16, ElementF16, FloatSum>;
    case Opcode::v_smfmac_f32_16x16x64_bf16:
        return &multiply<16, 8, ElementBf16, ElementBf16, FloatSum>;
    case Opcode::v_smfmac_f32_32x32x32_bf16:
        return &multiply<32, 8, ElementBf16, ElementBf16, FloatSum>;
    case Opcode::v_smfmac_i32_16x16x64_i8:
        return &multiply<16, 8, ElementI8, ElementI8, IntegerSum>;
    case Opcode::v_smfmac_i32_32x32x32_i8:
        return &multiply<32, 8, ElementI8, ElementI8, IntegerSum>;
    case Opcode::v_smfmac_i32_16x16x128_i8:
        return &multiply<16, 16, ElementI8, ElementI8, IntegerSum>;
    case Opcode::v_smfmac_i32_32x32x64_i8:
        return &multiply<32, 16, ElementI8, ElementI8, IntegerSum>;
    default:
        return narrow_executor(op);
    }
}

} // namespace emulator
