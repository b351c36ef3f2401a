// SHA-256 (FIPS 180-4) of a byte string.
#pragma once

#include <cstddef>
#include <cstdint>

namespace amla {

struct Digest {
    std::uint8_t bytes[32];
};

/// Text form of a digest: 64 hexadecimal digits and the final NUL.
struct DigestText {
    char text[65];
};

Digest sha256(const void* data, std::size_t size);
DigestText to_text(const std::uint8_t (&bytes)[32]);

} // namespace amla
