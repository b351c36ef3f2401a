// MFMA of gfx950 whose operands are 8, 6 or 4 bits wide, each of its own format: cbsz names that of A, blgp that of B.
//
// Which k a lane's elements are: lane group g holds 32 consecutive k from 32 g, except that two operands of 8 bits both hold 16 from 16 g
// and 16 from 16 g + K / 2. A scale belongs to 32 consecutive k: it multiplies the sum of their products before that is added to the
// accumulator.
#include "matrix_tables.hpp"
#include "mfma.hpp"

namespace emulator {

namespace {

constexpr int kElements = 32; // per lane

template <int M> using Unpacked = std::uint32_t (*)[M];

template <class F, int M> void unpack_as(Wave& wave, const Instruction& in, int n, bool halves, Unpacked<M> out) {
    using Element = ElementNarrow<F>;
    constexpr int words = Element::bits;
    Row buffers[words];
    const std::uint32_t* rows[words];
    for (int word = 0; word < words; ++word) {
        rows[word] = fetch_raw(wave, in, n, word, buffers[word]);
    }
    constexpr int K = kElements * kLanes / M;
    if (halves) {
        unpack_values<Element, M, kElements>(
            rows, [](int group, int element) { return 16 * group + element % 16 + K / 2 * (element / 16); }, out);
    } else {
        unpack_values<Element, M, kElements>(rows, [](int group, int element) { return kElements * group + element; }, out);
    }
}

/// False for a format code that does not exist.
template <int M> bool read_format(Wave& wave, const Instruction& in, int n, unsigned format, bool halves, Unpacked<M> out) {
    switch (format) {
    case 0:
        unpack_as<Fp8Ocp, M>(wave, in, n, halves, out);
        return true;
    case 1:
        unpack_as<Bf8Ocp, M>(wave, in, n, halves, out);
        return true;
    case 2:
        unpack_as<Fp6, M>(wave, in, n, false, out);
        return true;
    case 3:
        unpack_as<Bf6, M>(wave, in, n, false, out);
        return true;
    case 4:
        unpack_as<Fp4, M>(wave, in, n, false, out);
        return true;
    default:
        fail(wave, FaultKind::unsupported, format);
        return false;
    }
}

template <int M> bool read_both(Wave& wave, const Instruction& in, Unpacked<M> a, Unpacked<M> b) {
    const bool halves = in.cbsz < 2 && in.blgp < 2;
    return read_format<M>(wave, in, 0, in.cbsz, halves, a) && read_format<M>(wave, in, 1, in.blgp, halves, b);
}

template <int M> void multiply(Wave& wave, const Instruction& in) {
    constexpr int K = kElements * kLanes / M;
    alignas(64) std::uint32_t a[K][M], b[K][M];
    if (!read_both<M>(wave, in, a, b)) {
        return;
    }
    const Addend<M * M / kLanes> c(wave, in);
    std::uint32_t (*d)[kLanes] = destination(wave, in);
    const auto source = [&](int row) { return c.rows[place_of_row<M>(0, row).word] + place_of_row<M>(0, row).lane; };
    const auto target = [&](int row) { return d[place_of_row<M>(0, row).word] + place_of_row<M>(0, row).lane; };
    accumulate<M, K, Step::exact_product>(a, b, source, target);
}

/// The scale byte of every lane: op_sel and op_sel_hi of the operand are the low and the high bit of its number.
void read_scales(Wave& wave, const Instruction& in, int n, std::uint8_t* out) {
    Row buffer;
    const Operand& source = in.src[3 + n];
    const std::uint32_t* row = buffer.lane;
    if (source.kind == Operand::Kind::vgpr || source.kind == Operand::Kind::agpr) {
        row = wave.v[source.index + (source.kind == Operand::Kind::agpr ? kAccBase : 0)];
    } else {
        const std::uint32_t value = scalar_value(wave, source, 0);
        for (std::uint32_t& lane : buffer.lane) {
            lane = value;
        }
    }
    const unsigned byte = ((in.op_sel >> n) & 1u) | (((in.op_sel_hi >> n) & 1u) << 1);
    for (int lane = 0; lane < kLanes; ++lane) {
        out[lane] = static_cast<std::uint8_t>(row[lane] >> (8 * byte));
    }
}

template <int M> void multiply_scaled(Wave& wave, const Instruction& in) {
    constexpr int K = kElements * kLanes / M;
    alignas(64) std::uint32_t a[K][M], b[K][M];
    if (!read_both<M>(wave, in, a, b)) {
        return;
    }
    std::uint8_t left[kLanes], right[kLanes];
    read_scales(wave, in, 0, left);
    read_scales(wave, in, 1, right);
    const Addend<M * M / kLanes> c(wave, in);
    alignas(64) std::uint32_t tile[M][M];
    load_tile<M>(c.rows, 0, tile);
    for (int group = 0; group < kLanes / M; ++group) {
        alignas(64) float part[M][M] = {};
        const auto row = [&](int i) { return part[i]; };
        accumulate<M, kElements, Step::exact_product>(a + kElements * group, b + kElements * group, row, row);
        for (int i = 0; i < M; ++i) {
            for (int j = 0; j < M; ++j) {
                const int x = left[M * group + i], y = right[M * group + j];
                const auto scaled = static_cast<float>(static_cast<double>(part[i][j]) * power_of_two(x + y - 254));
                const float sum = float_of(tile[i][j]) + scaled;
                const bool nan = x == 255 || y == 255 || sum != sum; // 255 is the NaN among scales
                tile[i][j] = nan ? kQuietNan32 : bits_of(sum);
            }
        }
    }
    store_tile<M>(destination(wave, in), 0, tile);
}

} // namespace

Executor mfma_mixed_executor(Opcode op) {
    switch (op) {
    case Opcode::v_mfma_f32_16x16x128_f8f6f4:
        return &multiply<16>;
    case Opcode::v_mfma_f32_32x32x64_f8f6f4:
        return &multiply<32>;
    case Opcode::v_mfma_scale_f32_16x16x128_f8f6f4:
        return &multiply_scaled<16>;
    case Opcode::v_mfma_scale_f32_32x32x64_f8f6f4:
        return &multiply_scaled<32>;
    default:
        return nullptr;
    }
}

} // namespace emulator
