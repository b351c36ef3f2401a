#include "kernel.hpp"

#include "msgpack.hpp"

#include <cstdio>

namespace emulator_host {

namespace {

constexpr std::uint32_t kMaxKernarg = 1 << 16;
constexpr std::uint32_t kMaxPrivate = 1 << 20;
constexpr std::uint32_t kDynamicStackBytes = 16384; // what a kernel of unknown stack depth gets on top
constexpr std::size_t kDescriptorBytes = 64;

Hidden hidden_kind(Bytes kind) {
    struct Known {
        const char* text;
        Hidden hidden;
    };

    constexpr Known kKnown[] = {
        {"hidden_block_count_x", Hidden::block_count_x},       {"hidden_block_count_y", Hidden::block_count_y},
        {"hidden_block_count_z", Hidden::block_count_z},       {"hidden_group_size_x", Hidden::group_size_x},
        {"hidden_group_size_y", Hidden::group_size_y},         {"hidden_group_size_z", Hidden::group_size_z},
        {"hidden_remainder_x", Hidden::remainder_x},           {"hidden_remainder_y", Hidden::remainder_y},
        {"hidden_remainder_z", Hidden::remainder_z},           {"hidden_grid_dims", Hidden::grid_dims},
        {"hidden_dynamic_lds_size", Hidden::dynamic_lds_size}, {"hidden_private_base", Hidden::private_base},
        {"hidden_shared_base", Hidden::shared_base},
    };
    for (const Known& known : kKnown) {
        if (same_text(kind, known.text)) {
            return known.hidden;
        }
    }
    return kind.size >= 7 && std::memcmp(kind.data, "hidden_", 7) == 0 ? Hidden::zero : Hidden::none;
}

void read_arguments(Msgpack& pack, Kernel& out) {
    const std::uint32_t count = pack.array();
    for (std::uint32_t index = 0; index < count && !pack.failed(); ++index) {
        Argument argument = {};
        const std::uint32_t entries = pack.map();
        for (std::uint32_t entry = 0; entry < entries && !pack.failed(); ++entry) {
            const Bytes key = pack.text();
            if (same_text(key, ".offset")) {
                argument.offset = static_cast<std::uint32_t>(pack.number());
            } else if (same_text(key, ".size")) {
                argument.size = static_cast<std::uint32_t>(pack.number());
            } else if (same_text(key, ".value_kind")) {
                argument.hidden = hidden_kind(pack.text());
            } else {
                pack.skip();
            }
        }
        if (out.arguments < kMaxArguments) {
            out.argument[out.arguments++] = argument;
        }
    }
}

/// Reads one kernel's map. True if it is the kernel of that name.
bool read_entry(Msgpack& pack, const char* name, Kernel& out) {
    bool named = false;
    const std::uint32_t entries = pack.map();
    for (std::uint32_t entry = 0; entry < entries && !pack.failed(); ++entry) {
        const Bytes key = pack.text();
        if (same_text(key, ".symbol")) {
            // The symbol is that of the descriptor, the kernel's with .kd behind it.
            const Bytes symbol = pack.text();
            const std::size_t length = std::strlen(name);
            named = symbol.size == length + 3 && std::memcmp(symbol.data, name, length) == 0 &&
                    std::memcmp(symbol.data + length, ".kd", 3) == 0;
        } else if (same_text(key, ".kernarg_segment_size")) {
            out.kernarg_bytes = static_cast<std::uint32_t>(pack.number());
        } else if (same_text(key, ".group_segment_fixed_size")) {
            out.lds_bytes = static_cast<std::uint32_t>(pack.number());
        } else if (same_text(key, ".private_segment_fixed_size")) {
            out.start.private_bytes = static_cast<std::uint32_t>(pack.number());
        } else if (same_text(key, ".max_flat_workgroup_size")) {
            out.max_workgroup = static_cast<std::uint32_t>(pack.number());
        } else if (same_text(key, ".args")) {
            read_arguments(pack, out);
        } else {
            pack.skip();
        }
    }
    return named && !pack.failed();
}

KernelError read_metadata(const CodeObject& object, const char* name, Kernel& out) {
    Msgpack pack(object.metadata);
    const std::uint32_t entries = pack.map();
    for (std::uint32_t entry = 0; entry < entries && !pack.failed(); ++entry) {
        if (!same_text(pack.text(), "amdhsa.kernels")) {
            pack.skip();
            continue;
        }
        const std::uint32_t kernels = pack.array();
        for (std::uint32_t index = 0; index < kernels && !pack.failed(); ++index) {
            out = {};
            out.max_workgroup = 1024;
            if (read_entry(pack, name, out)) {
                return KernelError::none;
            }
        }
    }
    return pack.failed() ? KernelError::bad_metadata : KernelError::not_found;
}

template <typename T> T get(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

/// The bytes of an address range in the file, or null.
const std::uint8_t* file_bytes(const CodeObject& object, std::uint64_t address, std::uint64_t count) {
    for (int index = 0; index < object.segments; ++index) {
        const Segment& segment = object.segment[index];
        if (address >= segment.address && address - segment.address <= segment.file_bytes &&
            count <= segment.file_bytes - (address - segment.address)) {
            return object.file.data + segment.offset + (address - segment.address);
        }
    }
    return nullptr;
}

KernelError read_descriptor(const CodeObject& object, std::uint64_t address, Kernel& out) {
    const std::uint8_t* descriptor = file_bytes(object, address, kDescriptorBytes);
    if (descriptor == nullptr) {
        return KernelError::bad_descriptor;
    }
    KernelStart& start = out.start;
    start.arch = object.arch;
    const std::uint64_t entry = address + get<std::uint64_t>(descriptor + 16);
    start.rsrc3 = get<std::uint32_t>(descriptor + 44);
    start.rsrc1 = get<std::uint32_t>(descriptor + 48);
    start.rsrc2 = get<std::uint32_t>(descriptor + 52);
    start.properties = get<std::uint16_t>(descriptor + 56);
    const auto preload = get<std::uint16_t>(descriptor + 58);
    start.preload_dwords = preload & 127;
    start.preload_offset = preload >> 7;
    const auto lds = get<std::uint32_t>(descriptor);
    const auto kernarg = get<std::uint32_t>(descriptor + 8);
    out.lds_bytes = lds > out.lds_bytes ? lds : out.lds_bytes;
    out.kernarg_bytes = kernarg > out.kernarg_bytes ? kernarg : out.kernarg_bytes;
    if ((start.properties >> 11 & 1) != 0) {
        start.private_bytes += kDynamicStackBytes;
    }
    for (int index = 0; index < object.segments; ++index) {
        const Segment& segment = object.segment[index];
        if (segment.executable && entry >= segment.address && entry - segment.address < segment.file_bytes) {
            out.text_address = segment.address;
            start.entry = static_cast<std::uint32_t>(entry - segment.address);
            // Code before the entry loads the preloaded arguments where the firmware does not: 256 bytes.
            start.entry += start.preload_dwords != 0 ? 256 : 0;
            const bool fits = out.kernarg_bytes <= kMaxKernarg && start.private_bytes <= kMaxPrivate &&
                              4U * (start.preload_offset + start.preload_dwords) <= out.kernarg_bytes;
            return fits && start.entry % 4 == 0 ? KernelError::none : KernelError::bad_descriptor;
        }
    }
    return KernelError::bad_descriptor;
}

} // namespace

KernelError read_kernel(const CodeObject& object, const char* name, Kernel& out) {
    char symbol[kMaxName];
    const int length = snprintf(symbol, sizeof(symbol), "%s.kd", name);
    std::uint64_t address = 0;
    if (length < 0 || length >= kMaxName || !find_symbol(object, symbol, address)) {
        return KernelError::not_found;
    }
    if (const KernelError error = read_metadata(object, name, out); error != KernelError::none) {
        return error;
    }
    snprintf(out.name, sizeof(out.name), "%s", name);
    for (int index = 0; index < out.arguments; ++index) {
        const Argument& argument = out.argument[index];
        if (argument.offset > kMaxKernarg || argument.size > kMaxKernarg || argument.offset + argument.size > out.kernarg_bytes) {
            return KernelError::bad_metadata;
        }
    }
    return read_descriptor(object, address, out);
}

} // namespace emulator_host
