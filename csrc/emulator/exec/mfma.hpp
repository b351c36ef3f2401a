// Matrix multiply-accumulate: operands unpacked to one value per element, then one loop.
//
// Order of accumulation: every element of D starts as its element of C and takes the products in ascending k, rounded to nearest even after
// each. Products of the formats of 16 bits and fewer are exact in float (bfloat16 outside float's range excepted); those of float and
// double are fused into the sum. Denormals are kept whatever the mode, and EXEC is ignored. A NaN result is the default NaN.
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
    static constexpr bool has_special_bytes = false;
    static constexpr bool exponent_fits = false; // of a product of two, into float

    static std::uint32_t widen(std::uint32_t x) {
        return x;
    }
};

/// Float cut to a mantissa of 10 bits, to nearest even.
struct ElementXf32 {
    static constexpr int bits = 32;
    static constexpr bool has_special_bytes = false;
    static constexpr bool exponent_fits = false;

    static std::uint32_t widen(std::uint32_t x) {
        return is_nan32(x) ? x : (x + 0xfffu + ((x >> 13) & 1u)) & ~0x1fffu;
    }
};

struct ElementF16 {
    static constexpr int bits = 16;
    static constexpr bool has_special_bytes = false;
    static constexpr bool exponent_fits = true;

    static std::uint32_t widen(std::uint32_t x) {
        return bits_of(half_to_float(x & 0xffffu));
    }
};

struct ElementBf16 {
    static constexpr int bits = 16;
    static constexpr bool has_special_bytes = false;
    static constexpr bool exponent_fits = false;

    static std::uint32_t widen(std::uint32_t x) {
        return x << 16;
    }
};

template <class F> struct ElementNarrow {
    using Format = F;
    static constexpr int bits = F::bits;
    static constexpr bool has_special_bytes = F::special != Special::none;
    static constexpr bool exponent_fits = true;

    static std::uint32_t widen(std::uint32_t x) {
        return narrow_to_float_bits<F>(x);
    }
};

/// Where no code of an operand is special, which is nearly always, its values are made with fewer steps.
template <class F> struct ElementNumber {
    static constexpr int bits = F::bits;

    static std::uint32_t widen(std::uint32_t x) {
        return narrow_number_to_float_bits<F>(x);
    }
};

struct ElementI8 {
    static constexpr int bits = 8;
    static constexpr bool has_special_bytes = false;

    static std::uint32_t widen(std::uint32_t x) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(x << 24) >> 24);
    }
};

/// Lanes rearranged before use: A's blocks broadcast by cbsz and abid, B's lanes by blgp.
const std::uint32_t* broadcast_a(const Instruction& in, const std::uint32_t* row, int lanes_per_block, Row& buffer);
const std::uint32_t* broadcast_b(const Instruction& in, const std::uint32_t* row, Row& buffer);

/// Elements from bit `shift` of each word. The rows do not overlap, so this becomes vector code.
template <class Element, int M> inline void widen_row(std::uint32_t* __restrict to, const std::uint32_t* __restrict from, int shift) {
#pragma clang loop unroll(disable)
    for (int i = 0; i < M; ++i) {
        to[i] = Element::widen(from[i] >> shift);
    }
}

/// Elements that begin in one word, at bit `shift`, and end in the next.
template <class Element, int M>
inline void widen_split_row(std::uint32_t* __restrict to, const std::uint32_t* __restrict low, const std::uint32_t* __restrict high,
                            int shift) {
#pragma clang loop unroll(disable)
    for (int i = 0; i < M; ++i) {
        to[i] = Element::widen((low[i] >> shift) | (high[i] << (32 - shift)));
    }
}

/// A or B: Elements values per lane, M rows (or columns) to a group of lanes. `order(group, element)` is the k, or the row of `out`, of an
/// element.
template <class Element, int M, int Elements, class Order>
inline void unpack(const std::uint32_t* const* words, Order order, std::uint32_t (*out)[M]) {
    for (int group = 0; group < kLanes / M; ++group) {
        for (int element = 0; element < Elements; ++element) {
            const int bit = element * Element::bits, shift = bit % 32;
            const std::uint32_t* low = words[bit / 32] + M * group;
            std::uint32_t* to = out[order(group, element)];
            if (shift + Element::bits <= 32) {
                widen_row<Element, M>(to, low, shift);
            } else {
                widen_split_row<Element, M>(to, low, words[bit / 32 + 1] + M * group, shift);
            }
        }
    }
}

template <class F, int Words> inline bool any_special(const std::uint32_t* const* words) {
    std::uint32_t found = 0;
    for (int word = 0; word < Words; ++word) {
        for (int lane = 0; lane < kLanes; ++lane) {
            found |= special_bytes<F>(words[word][lane]);
        }
    }
    return found != 0;
}

template <class Element, int M, int Elements, class Order>
inline void unpack_values(const std::uint32_t* const* words, Order order, std::uint32_t (*out)[M]) {
    if constexpr (Element::has_special_bytes) {
        if (!any_special<typename Element::Format, Elements / 4>(words)) {
            unpack<ElementNumber<typename Element::Format>, M, Elements>(words, order, out);
            return;
        }
    }
    unpack<Element, M, Elements>(words, order, out);
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
    unpack_values<Element, M, Elements>(rows, order, out);
}

/// How a product enters a sum. Where products are exact in float, fusing changes no bit: machines that have the instruction use it.
enum class Step : std::uint8_t { rounded_product, exact_product, fused };

template <class A, class B>
inline constexpr Step step_of = A::bits == 32                          ? Step::fused
                                : A::exponent_fits && B::exponent_fits ? Step::exact_product
                                                                       : Step::rounded_product;

template <Step How> inline void advance(float left, const Columns& right, Columns& sum) {
    if constexpr (How == Step::fused) {
        for (int column = 0; column < 16; ++column) {
            sum[column] = fused32(left, right[column], sum[column]);
        }
        return;
    }
#ifdef __FMA__
    if constexpr (How == Step::exact_product) {
        sum = __builtin_elementwise_fma(Columns{} + left, right, sum);
        return;
    }
#endif
    sum += left * right;
}

/// One block: D = A * B + C, A as [k][row], B as [k][column]. `source(row)` and `target(row)` are where a row of C and of D lies.
template <int M, int K, Step How, class Source, class Target>
inline void accumulate(const std::uint32_t (*a)[M], const std::uint32_t (*b)[M], Source source, Target target) {
    constexpr int wide = M / 16, rows = kRegisterRows / wide > 0 ? kRegisterRows / wide : 1;
    for (int first = 0; first < M; first += rows) {
        Columns sums[rows][wide];
#pragma clang loop unroll(full)
        for (int row = 0; row < rows; ++row) {
            __builtin_memcpy(sums[row], source(first + row), sizeof sums[row]);
        }
        for (int k = 0; k < K; ++k) {
            Columns right[wide];
            __builtin_memcpy(right, b[k], sizeof right);
#pragma clang loop unroll(full)
            for (int row = 0; row < rows; ++row) {
                const float left = float_of(a[k][first + row]);
#pragma clang loop unroll(full)
                for (int part = 0; part < wide; ++part) {
                    advance<How>(left, right[part], sums[row][part]);
                }
            }
        }
#pragma clang loop unroll(full)
        for (int row = 0; row < rows; ++row) {
#pragma clang loop unroll(full)
            for (int part = 0; part < wide; ++part) {
                const Columns nan = Columns{} + float_of(kQuietNan32);
                sums[row][part] = sums[row][part] == sums[row][part] ? sums[row][part] : nan;
            }
            __builtin_memcpy(target(first + row), sums[row], sizeof sums[row]);
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

/// The registers of D as rows.
inline std::uint32_t (*destination(Wave& wave, const Instruction& in))
    [kLanes] { return wave.v + in.dst.index + (in.dst.kind == Operand::Kind::agpr ? kAccBase : 0); }

/// The rows of C: registers, or one row shared by all words when C is a constant.
template <int Words>
struct Addend {
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
