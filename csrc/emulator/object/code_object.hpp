// An AMDGPU code object read from bytes that nobody vouches for: every offset is checked, nothing is trusted, errors are values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator_host {

enum class ObjectError : std::uint8_t {
    none,
    not_elf,         // no 64-bit little-endian ELF shared object
    other_machine,   // not an AMDGPU object
    other_processor, // neither gfx942 nor gfx950
    truncated,       // a header or table lies outside the file
    malformed,       // tables contradict each other
    relocation,      // a relocation of a kind that is not supported
    no_metadata,
};

inline constexpr int kMaxSegments = 16;

struct Segment {
    std::uint64_t offset, address, file_bytes, memory_bytes;
    bool executable, writable;
};

struct Bytes {
    const std::uint8_t* data;
    std::size_t size;

    /// True if [offset, offset + count) lies inside.
    bool holds(std::uint64_t offset, std::uint64_t count) const {
        return offset <= size && count <= size - offset;
    }
};

struct Table {
    std::uint64_t offset, count; // file offset, entries
};

struct CodeObject {
    Bytes file;
    int arch; // 0 gfx942, 1 gfx950
    std::uint8_t abi_version;
    Segment segment[kMaxSegments];
    int segments;
    std::uint64_t span;       // bytes of memory, from address 0
    std::uint64_t code_bytes; // of executable segments, in the file
    Table symbols, relocations;
    Bytes strings;  // of the symbols
    Bytes metadata; // the msgpack note; empty if there is none
};

ObjectError read_code_object(Bytes file, CodeObject& out);

/// Value of a dynamic symbol. False if there is none of that name.
bool find_symbol(const CodeObject& object, const char* name, std::uint64_t& address);

/// Copies the segments to `memory` (span bytes, zeroed) and applies relocations for the device address `base`.
ObjectError place_segments(const CodeObject& object, std::uint8_t* memory, std::uint64_t base);

/// Bytes of the ELF file at `image` as its headers give them; 0 if they are no ELF headers. Only the header is read.
std::size_t claimed_size(const std::uint8_t header[64]);

} // namespace emulator_host
