#include "code_object.hpp"

#include <cstring>

namespace emulator_host {

namespace {

constexpr std::uint16_t kSharedObject = 3;
constexpr std::uint16_t kAmdgpu = 224;
constexpr std::uint32_t kMachGfx942 = 0x4c;
constexpr std::uint32_t kMachGfx950 = 0x4f;
constexpr std::uint32_t kLoad = 1;
constexpr std::uint32_t kDynamic = 2;
constexpr std::uint32_t kNote = 4;
constexpr std::uint32_t kMetadataNote = 32;
constexpr std::uint64_t kMaxSpan = std::uint64_t{1} << 30;
constexpr std::size_t kSymbolBytes = 24;
constexpr std::size_t kRelocationBytes = 24;
constexpr std::uint32_t kRelative64 = 13;

template <typename T> T get(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

/// File offset of memory bytes that a segment holds; false if no segment holds them all.
bool file_offset(const CodeObject& object, std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) {
    for (int index = 0; index < object.segments; ++index) {
        const Segment& segment = object.segment[index];
        if (address >= segment.address && address - segment.address <= segment.file_bytes &&
            bytes <= segment.file_bytes - (address - segment.address)) {
            offset = segment.offset + (address - segment.address);
            return true;
        }
    }
    return false;
}

ObjectError read_load(CodeObject& out, const std::uint8_t* header) {
    if (out.segments == kMaxSegments) {
        return ObjectError::malformed;
    }
    const auto flags = get<std::uint32_t>(header + 4);
    const Segment segment = {get<std::uint64_t>(header + 8),
                             get<std::uint64_t>(header + 16),
                             get<std::uint64_t>(header + 32),
                             get<std::uint64_t>(header + 40),
                             (flags & 1) != 0,
                             (flags & 2) != 0};
    if (!out.file.holds(segment.offset, segment.file_bytes)) {
        return ObjectError::truncated;
    }
    if (segment.memory_bytes < segment.file_bytes || segment.memory_bytes > kMaxSpan || segment.address > kMaxSpan) {
        return ObjectError::malformed;
    }
    // Every byte of code is decoded, so a small file must not claim the same bytes as code many times.
    out.code_bytes += segment.executable ? segment.file_bytes : 0;
    if (out.code_bytes > out.file.size) {
        return ObjectError::malformed;
    }
    const std::uint64_t end = segment.address + segment.memory_bytes;
    out.span = end > out.span ? end : out.span;
    out.segment[out.segments++] = segment;
    return ObjectError::none;
}

/// Looks for the metadata in a segment of notes.
ObjectError read_notes(CodeObject& out, std::uint64_t offset, std::uint64_t size) {
    if (!out.file.holds(offset, size)) {
        return ObjectError::truncated;
    }
    const std::uint8_t* note = out.file.data + offset;
    while (size >= 12) {
        const std::uint64_t name = (std::uint64_t{get<std::uint32_t>(note)} + 3) & ~std::uint64_t{3};
        const std::uint64_t data = get<std::uint32_t>(note + 4);
        const std::uint64_t padded = (data + 3) & ~std::uint64_t{3};
        if (name > size - 12 || data > size - 12 - name) {
            return ObjectError::malformed;
        }
        const bool amdgpu = name >= 8 && std::memcmp(note + 12, "AMDGPU", 7) == 0;
        if (amdgpu && get<std::uint32_t>(note + 8) == kMetadataNote) {
            out.metadata = {note + 12 + name, static_cast<std::size_t>(data)};
        }
        const std::uint64_t step = 12 + name + padded;
        if (step > size) {
            break;
        }
        note += step;
        size -= step;
    }
    return ObjectError::none;
}

/// The number of dynamic symbols is not in the dynamic section; the classic hash table, which AMDGPU objects carry, has it.
bool symbol_count(const CodeObject& out, std::uint64_t hash, std::uint64_t& count) {
    std::uint64_t offset = 0;
    if (!file_offset(out, hash, 8, offset)) {
        return false;
    }
    count = get<std::uint32_t>(out.file.data + offset + 4);
    return true;
}

ObjectError read_dynamic(CodeObject& out, std::uint64_t offset, std::uint64_t size) {
    if (!out.file.holds(offset, size)) {
        return ObjectError::truncated;
    }
    std::uint64_t symbols = 0;
    std::uint64_t strings = 0;
    std::uint64_t string_bytes = 0;
    std::uint64_t hash = 0;
    std::uint64_t relocations = 0;
    std::uint64_t relocation_bytes = 0;
    for (std::uint64_t at = 0; at + 16 <= size; at += 16) {
        const auto tag = get<std::uint64_t>(out.file.data + offset + at);
        const auto value = get<std::uint64_t>(out.file.data + offset + at + 8);
        switch (tag) {
        case 4:
            hash = value;
            break;
        case 5:
            strings = value;
            break;
        case 6:
            symbols = value;
            break;
        case 7:
            relocations = value;
            break;
        case 8:
            relocation_bytes = value;
            break;
        case 10:
            string_bytes = value;
            break;
        default:
            break;
        }
    }
    std::uint64_t at = 0;
    if (symbols != 0) {
        if (!symbol_count(out, hash, out.symbols.count) ||
            !file_offset(out, symbols, out.symbols.count * kSymbolBytes, out.symbols.offset) ||
            !file_offset(out, strings, string_bytes, at)) {
            return ObjectError::malformed;
        }
        out.strings = {out.file.data + at, static_cast<std::size_t>(string_bytes)};
    }
    if (relocation_bytes != 0) {
        if (!file_offset(out, relocations, relocation_bytes, out.relocations.offset)) {
            return ObjectError::malformed;
        }
        out.relocations.count = relocation_bytes / kRelocationBytes;
    }
    return ObjectError::none;
}

ObjectError read_header(CodeObject& out, std::uint64_t& headers, std::uint16_t& count) {
    const Bytes& file = out.file;
    if (file.size < 64 || std::memcmp(file.data, "\177ELF\2\1\1", 7) != 0 || get<std::uint16_t>(file.data + 16) != kSharedObject) {
        return ObjectError::not_elf;
    }
    if (get<std::uint16_t>(file.data + 18) != kAmdgpu) {
        return ObjectError::other_machine;
    }
    const std::uint32_t mach = get<std::uint32_t>(file.data + 48) & 0xff;
    if (mach != kMachGfx942 && mach != kMachGfx950) {
        return ObjectError::other_processor;
    }
    out.arch = mach == kMachGfx942 ? 0 : 1;
    out.abi_version = file.data[8];
    headers = get<std::uint64_t>(file.data + 32);
    count = get<std::uint16_t>(file.data + 56);
    if (get<std::uint16_t>(file.data + 54) != 56) {
        return ObjectError::malformed;
    }
    return file.holds(headers, std::uint64_t{count} * 56) ? ObjectError::none : ObjectError::truncated;
}

} // namespace

ObjectError read_code_object(Bytes file, CodeObject& out) {
    out = {};
    out.file = file;
    std::uint64_t headers = 0;
    std::uint16_t count = 0;
    ObjectError error = read_header(out, headers, count);
    // Loads first: the other tables are given by memory address.
    for (std::uint16_t index = 0; index < count && error == ObjectError::none; ++index) {
        const std::uint8_t* header = file.data + headers + std::size_t{56} * index;
        if (get<std::uint32_t>(header) == kLoad) {
            error = read_load(out, header);
        }
    }
    for (std::uint16_t index = 0; index < count && error == ObjectError::none; ++index) {
        const std::uint8_t* header = file.data + headers + std::size_t{56} * index;
        const auto offset = get<std::uint64_t>(header + 8);
        const auto bytes = get<std::uint64_t>(header + 32);
        if (get<std::uint32_t>(header) == kNote) {
            error = read_notes(out, offset, bytes);
        } else if (get<std::uint32_t>(header) == kDynamic) {
            error = read_dynamic(out, offset, bytes);
        }
    }
    if (error == ObjectError::none && out.metadata.size == 0) {
        error = ObjectError::no_metadata;
    }
    return error;
}

bool find_symbol(const CodeObject& object, const char* name, std::uint64_t& address) {
    const std::size_t length = std::strlen(name) + 1;
    for (std::uint64_t index = 0; index < object.symbols.count; ++index) {
        const std::uint8_t* symbol = object.file.data + object.symbols.offset + index * kSymbolBytes;
        const auto at = get<std::uint32_t>(symbol);
        const bool defined = get<std::uint16_t>(symbol + 6) != 0;
        if (defined && object.strings.holds(at, length) && std::memcmp(object.strings.data + at, name, length) == 0) {
            address = get<std::uint64_t>(symbol + 8);
            return true;
        }
    }
    return false;
}

ObjectError place_segments(const CodeObject& object, std::uint8_t* memory, std::uint64_t base) {
    for (int index = 0; index < object.segments; ++index) {
        const Segment& segment = object.segment[index];
        std::memcpy(memory + segment.address, object.file.data + segment.offset, segment.file_bytes);
    }
    for (std::uint64_t index = 0; index < object.relocations.count; ++index) {
        const std::uint8_t* relocation = object.file.data + object.relocations.offset + index * kRelocationBytes;
        const auto place = get<std::uint64_t>(relocation);
        if (get<std::uint32_t>(relocation + 8) != kRelative64) {
            return ObjectError::relocation;
        }
        if (place > object.span || object.span - place < 8) {
            return ObjectError::malformed;
        }
        const std::uint64_t value = base + get<std::uint64_t>(relocation + 16);
        std::memcpy(memory + place, &value, sizeof(value));
    }
    return ObjectError::none;
}

std::size_t claimed_size(const std::uint8_t header[64]) {
    if (std::memcmp(header, "\177ELF\2\1\1", 7) != 0) {
        return 0;
    }
    // The section headers end the files that linkers write.
    const auto sections = get<std::uint64_t>(header + 40);
    const std::uint64_t bytes = std::uint64_t{get<std::uint16_t>(header + 58)} * get<std::uint16_t>(header + 60);
    return sections > kMaxSpan ? 0 : static_cast<std::size_t>(sections + bytes);
}

} // namespace emulator_host
