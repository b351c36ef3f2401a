#include "sha256.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace amla {

namespace {

constexpr bool is_prime(std::uint32_t number) {
    for (std::uint32_t factor = 2; factor * factor <= number; ++factor) {
        if (number % factor == 0) {
            return false;
        }
    }
    return true;
}

/// floor(2^32 * fractional part of the root), by bisection of the integer root of number << (32 * degree).
template <int Degree> constexpr std::uint32_t root_fraction(std::uint32_t number) {
    using Wide = unsigned _BitInt(160);
    const Wide target = static_cast<Wide>(number) << (32 * Degree);
    Wide low = 0;
    Wide high = Wide{1} << 40;
    while (high - low > 1) {
        const Wide middle = (low + high) / 2;
        const Wide power = Degree == 2 ? middle * middle : middle * middle * middle;
        (power <= target ? low : high) = middle;
    }
    return static_cast<std::uint32_t>(low & 0xffffffffU);
}

/// The standard's constants are roots of the first primes; computing them leaves no digit to mistype.
template <int Degree, std::size_t Count> constexpr std::array<std::uint32_t, Count> prime_roots() {
    std::array<std::uint32_t, Count> values = {};
    std::uint32_t number = 2;
    for (std::uint32_t& value : values) {
        while (!is_prime(number)) {
            ++number;
        }
        value = root_fraction<Degree>(number++);
    }
    return values;
}

constexpr auto kRound = prime_roots<3, 64>();
constexpr auto kStart = prime_roots<2, 8>();

std::uint32_t load_big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

void compress(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) {
    std::uint32_t w[64];
    for (int t = 0; t < 16; ++t) {
        w[t] = load_big_endian(block + 4 * t);
    }
    for (int t = 16; t < 64; ++t) {
        const std::uint32_t a = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        const std::uint32_t b = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + a + w[t - 7] + b;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t choice = (e & f) ^ (~e & g);
        const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kRound[t] + w[t];
        const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const std::uint32_t sum[8] = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) {
        state[i] += sum[i];
    }
}

} // namespace

Digest sha256(const void* data, std::size_t size) {
    std::array<std::uint32_t, 8> state = kStart;
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    std::size_t done = 0;
    for (; size - done >= 64; done += 64) {
        compress(state, bytes + done);
    }
    const std::size_t rest = size - done;
    std::uint8_t tail[128] = {};
    if (rest != 0) {
        std::memcpy(tail, bytes + done, rest);
    }
    tail[rest] = 0x80;
    const std::size_t tail_size = rest < 56 ? 64 : 128;
    const std::uint64_t bits = static_cast<std::uint64_t>(size) * 8;
    for (std::size_t i = 0; i < 8; ++i) {
        tail[tail_size - 1 - i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
    for (std::size_t block = 0; block < tail_size; block += 64) {
        compress(state, tail + block);
    }
    Digest digest = {};
    for (std::size_t i = 0; i < 32; ++i) {
        digest.bytes[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

DigestText to_text(const std::uint8_t (&bytes)[32]) {
    constexpr char kDigits[] = "0123456789abcdef";
    DigestText out = {};
    for (std::size_t i = 0; i < 32; ++i) {
        out.text[2 * i] = kDigits[bytes[i] >> 4];
        out.text[2 * i + 1] = kDigits[bytes[i] & 15];
    }
    return out;
}

} // namespace amla
