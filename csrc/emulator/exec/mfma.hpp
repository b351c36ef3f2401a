// Matrix multiply-accumulate: operands unpacked to one value per element, then one loop.
//
// Order of accumulation: every element of D starts as its element of C and takes the products in ascending k, rounded to nearest even after each. Products of
// the formats of 16 bits and fewer are exact in float (bfloat16 outside float's range excepted); those of float and double are fused into the sum.
// Denormals are kept whatever the mode, and EXEC is ignored. A NaN result is the default NaN.
#pragma once

#include "../numerics/fused.hpp"
#include "../numerics/half.hpp"
#include "../numerics/narrow.hpp"
#include "operands.hpp"

namespace emulator {

/// Sixteen neighbouring columns of a row: one register of the widest machines, several of the others.
using Columns = float __attribute__((vector_size(64)));

/// Rows accumulated at a time: as many as the vector registers of the machine hold.
#if defined(__AVX512F__)
inline constexpr int kRegisterRows = 8;
#elif defined(__AVX2__)
inline constexpr int kRegisterRows = 4;
#else
inline constexpr int kRegisterRows = 2;
#endif

/// Where row i of a block of D lies: register and first lane.
struct Place {
    int word, lane;
};

template <int M> constexpr Place place_of_row(int block, int i) {
    if constexpr (M == 32) {
        return {16 * block + 4 * (i / 8) + i % 4, 32 * ((i / 4) % 2)};
    } else if constexpr (M == 16) {
        return {4 * block + i % 4, 16 * (i / 4)};
    } else {
        return {i, 4 * block};
    }
}

/// Element formats: their width and their value from the low bits of a word that may hold more above.
struct ElementF32 {
    static constexpr int bits = 32;
    static std::uint32_t widen(std::uint32_t x) { return x; }
};

/// Float cut to a mantissa of 10 bits, to nearest even.
struct ElementXf32 {
    static constexpr int bits = 32;
    static std::uint32_t widen(std::uint32_t x) { return is_nan32(x) ? x : (x + 0xfffu + ((x >> 13) & 1u)) & ~0x1fffu; }
};

struct ElementF16 {
    static constexpr int bits = 16;
    static std::uint32_t widen(std::uint32_t x) { return bits_of(half_to_float(x & 0xffffu)); }
};

struct ElementBf16 {
    static constexpr int bits = 16;
    static std::uint32_t widen(std::uint32_t x) { return x << 16; }
};

template <class F> struct ElementNarrow {
    static constexpr int bits = F::bits;
    static std::uint32_t widen(std::uint32_t x) { return narrow_to_float_bits<F>(x); }
};

struct ElementI8 {
    static constexpr int bits = 8;
    static std::uint32_t widen(std::uint32_t x) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(x << 24) >> 24); }
};

/// Lanes rearranged before use: A's blocks broadcast by cbsz and abid, B's lanes by blgp.
const std::uint32_t* broadcast_a(const Instruction& in, const std::uint32_t* row, int lanes_per_block, Row& buffer);
const std::uint32_t* broadcast_b(const Instruction& in, const std::uint32_t* row, Row& buffer);

/// A or B: Elements values per lane, M rows (or columns) to a group of lanes. `order(group, element)` is the k, or the row of `out`, of an element.
template <class Element, int M, int Elements, class Order>
inline void unpack(const std::uint32_t* const* words, Order order, std::uint32_t (*out)[M]) {
    for (int group = 0; group < kLanes / M; ++group) {
        for (int element = 0; element < Elements; ++element) {
            const int bit = element * Element::bits, shift = bit % 32;
            const std::uint32_t* low = words[bit / 32] + M * group;
            std::uint32_t* to = out[order(group, element)];
            if (shift + Element::bits <= 32) {
                // The rows read are registers, the row written is a local array.
#pragma clang loop unroll(disable) vectorize(assume_safety)
                for (int i = 0; i < M; ++i) {
                    to[i] = Element::widen(low[i] >> shift);
                }
            } else {
                const std::uint32_t* high = words[bit / 32 + 1] + M * group;
                // The rows read are registers, the row written is a local array.
#pragma clang loop unroll(disable) vectorize(assume_safety)
                for (int i = 0; i < M; ++i) {
                    to[i] = Element::widen((low[i] >> shift) | (high[i] << (32 - shift)));
                }
            }
        }
    }
}

/// Reads the registers of A (n = 0) or B (n = 1).
template <class Element, int M, int Blocks, int Elements, class Order>
inline void read_operand(Wave& wave, const Instruction& in, int n, Order order, std::uint32_t (*out)[M]) {
    constexpr int words = (Element::bits * Elements + 31) / 32;
    Row buffers[words];
    const std::uint32_t* rows[words];
    for (int word = 0; word < words; ++word) {
        rows[word] = fetch_raw(wave, in, n, word, buffers[word]);
        if (n == 0 && Blocks > 1 && in.cbsz != 0) [[unlikely]] {
            rows[word] = broadcast_a(in, rows[word], kLanes / Blocks, buffers[word]);
        }
        if (n == 1 && in.blgp != 0) [[unlikely]] {
            rows[word] = broadcast_b(in, rows[word], buffers[word]);
        }
    }
    unpack<Element, M, Elements>(rows, order, out);
}

/// One block: D = A * B + C, A as [k][row], B as [k][column], C and D in place in `tile`.
template <int M, int K, bool Fused> inline void accumulate(const std::uint32_t (*a)[M], const std::uint32_t (*b)[M], float (*tile)[M]) {
    constexpr int wide = M / 16, rows = kRegisterRows / wide > 0 ? kRegisterRows / wide : 1;
    for (int first = 0; first < M; first += rows) {
        Columns sums[rows][wide];
#pragma clang loop unroll(full)
        for (int row = 0; row < rows; ++row) {
            __builtin_memcpy(sums[row], tile[first + row], sizeof sums[row]);
        }
        for (int k = 0; k < K; ++k) {
            Columns right[wide];
            __builtin_memcpy(right, b[k], sizeof right);
#pragma clang loop unroll(full)
            for (int row = 0; row < rows; ++row) {
                const float left = float_of(a[k][first + row]);
#pragma clang loop unroll(full)
                for (int part = 0; part < wide; ++part) {
                    if constexpr (Fused) {
                        for (int column = 0; column < 16; ++column) {
                            sums[row][part][column] = fused32(left, right[part][column], sums[row][part][column]);
                        }
                    } else {
                        sums[row][part] += left * right[part];
                    }
                }
            }
        }
#pragma clang loop unroll(full)
        for (int row = 0; row < rows; ++row) {
            __builtin_memcpy(tile[first + row], sums[row], sizeof sums[row]);
        }
    }
}

template <int M> inline void load_tile(const std::uint32_t* const* c, int block, std::uint32_t (*tile)[M]) {
    for (int i = 0; i < M; ++i) {
        const Place place = place_of_row<M>(block, i);
        __builtin_memcpy(tile[i], c[place.word] + place.lane, sizeof tile[i]);
    }
}

template <int M> inline void store_tile(std::uint32_t (*d)[kLanes], int block, const std::uint32_t (*tile)[M]) {
    for (int i = 0; i < M; ++i) {
        const Place place = place_of_row<M>(block, i);
        __builtin_memcpy(d[place.word] + place.lane, tile[i], sizeof tile[i]);
    }
}

template <int M> inline void settle_tile(std::uint32_t (*tile)[M]) {
    std::uint32_t* all = &tile[0][0];
    for (int n = 0; n < M * M; ++n) {
        all[n] = is_nan32(all[n]) ? kQuietNan32 : all[n];
    }
}

/// The registers of D as rows.
inline std::uint32_t (*destination(Wave& wave, const Instruction& in))[kLanes] {
    return wave.v + in.dst.index + (in.dst.kind == Operand::Kind::agpr ? kAccBase : 0);
}

/// The rows of C: registers, or one row shared by all words when C is a constant.
template <int Words> struct Addend {
    Row constant;
    const std::uint32_t* rows[Words];

    Addend(Wave& wave, const Instruction& in) {
        const Operand& source = in.src[2];
        const bool vector = source.kind == Operand::Kind::vgpr || source.kind == Operand::Kind::agpr;
        for (int word = 0; word < Words; ++word) {
            rows[word] = word == 0 || vector ? fetch_raw(wave, in, 2, word, constant) : rows[0];
        }
    }
};

} // namespace emulator
