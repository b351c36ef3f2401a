#include "run.hpp"

#include "allocations.hpp"
#include "caller_memory.hpp"
#include "level.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace emulator_host {

namespace {

constexpr std::uint32_t kMaxLanes = 1024;
constexpr std::uint64_t kMaxWorkgroups = 1 << 24; // minutes, even where each ends at once
constexpr std::size_t kPacketBytes = 64;
constexpr std::uint64_t kSharedApertureHigh = 1U << 16; // upper halves of the apertures of the machine
constexpr std::uint64_t kPrivateApertureHigh = 2U << 16;
constexpr std::uint32_t kMaxGrid[3] = {0x7fffffff, 65536, 65536};
constexpr std::uint64_t kMaxItems = 0xffffffff; // of an axis: the packet has 32 bits for them

thread_local Json* t_report = nullptr;

/// The thread's report; null when memory is out.
Json* own_report() {
    if (t_report == nullptr) {
        t_report = static_cast<Json*>(calloc(1, sizeof(Json)));
    }
    return t_report;
}

template <typename T> void put(std::uint8_t* to, std::size_t offset, T value) {
    std::memcpy(to + offset, &value, sizeof(T));
}

std::uint64_t hidden_value(Hidden kind, const Geometry& geometry) {
    const auto axis = [kind](Hidden first) { return static_cast<int>(kind) - static_cast<int>(first); };
    switch (kind) {
    case Hidden::block_count_x:
    case Hidden::block_count_y:
    case Hidden::block_count_z:
        return geometry.grid[axis(Hidden::block_count_x)];
    case Hidden::group_size_x:
    case Hidden::group_size_y:
    case Hidden::group_size_z:
        return geometry.block[axis(Hidden::group_size_x)];
    case Hidden::grid_dims:
        return geometry.grid[2] > 1 || geometry.block[2] > 1 ? 3 : geometry.grid[1] > 1 || geometry.block[1] > 1 ? 2 : 1;
    case Hidden::dynamic_lds_size:
        return geometry.dynamic_lds;
    case Hidden::private_base:
        return kPrivateApertureHigh;
    case Hidden::shared_base:
        return kSharedApertureHigh;
    default:
        return 0; // grids are whole workgroups, so nothing remains
    }
}

void add_hidden(const Kernel& kernel, const Geometry& geometry, std::uint8_t* kernarg) {
    for (int index = 0; index < kernel.arguments; ++index) {
        const Argument& argument = kernel.argument[index];
        if (argument.hidden != Hidden::none) {
            const std::uint64_t value = hidden_value(argument.hidden, geometry);
            std::memcpy(kernarg + argument.offset, &value, argument.size < 8 ? argument.size : 8);
        }
    }
}

void fill_packet(const Kernel& kernel, const Geometry& geometry, std::uint64_t kernarg, std::uint32_t lds_bytes, std::uint8_t* packet) {
    put<std::uint16_t>(packet, 2, 3);
    for (int axis = 0; axis < 3; ++axis) {
        put(packet, 4 + 2 * static_cast<std::size_t>(axis), static_cast<std::uint16_t>(geometry.block[axis]));
        put(packet, 12 + 4 * static_cast<std::size_t>(axis), geometry.grid[axis] * geometry.block[axis]);
    }
    put(packet, 24, kernel.start.private_bytes);
    put(packet, 28, lds_bytes);
    put(packet, 40, kernarg);
}

HipError check_geometry(const Kernel& kernel, const Geometry& geometry, std::uint32_t lds_bytes) {
    for (int axis = 0; axis < 3; ++axis) {
        if (geometry.grid[axis] == 0 || geometry.block[axis] == 0 || geometry.block[axis] > kMaxLanes) {
            return kInvalidConfiguration;
        }
        if (std::uint64_t{geometry.grid[axis]} * geometry.block[axis] > kMaxItems || geometry.grid[axis] > kMaxGrid[axis]) {
            return kInvalidValue;
        }
    }
    std::uint64_t workgroups = 1;
    for (const std::uint32_t count : geometry.grid) {
        // No overflow: the product so far is small, or the launch is refused.
        workgroups *= count;
        if (workgroups > kMaxWorkgroups) {
            return kLaunchOutOfResources;
        }
    }
    const std::uint64_t lanes = std::uint64_t{geometry.block[0]} * geometry.block[1] * geometry.block[2];
    if (lanes > kMaxLanes) {
        return kInvalidConfiguration;
    }
    const bool fits = lanes <= kernel.max_workgroup && lds_bytes >= geometry.dynamic_lds && lds_bytes <= lds_limit(kernel.start.arch);
    return fits ? kSuccess : kLaunchOutOfResources;
}

HipError error_of(const LaunchResult& result) {
    if (result.out_of_memory) {
        return kOutOfMemory;
    }
    if (!result.faulted) {
        return kSuccess;
    }
    const char* kind = engine().fault_name(result.fault.kind);
    return std::strstr(kind, "out_of_bounds") != nullptr ? kIllegalAddress : kLaunchFailure;
}

/// Memory that a launch needs for itself.
struct Block {
    std::uint8_t* data;
    std::size_t bytes;

    explicit Block(std::size_t size) : data(static_cast<std::uint8_t*>(aligned_alloc(64, (size + 63) / 64 * 64))), bytes(size) {
        if (data != nullptr) {
            std::memset(data, 0, bytes);
        }
    }

    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    ~Block() {
        free(data);
    }

    std::uint64_t address() const {
        return reinterpret_cast<std::uint64_t>(data);
    }
};

HipError run_with(const Function& function, const Geometry& geometry, const Block& kernarg, const Block& packet, std::uint32_t lds_bytes) {
    Snapshot snapshot;
    if (!snapshot.take() || !snapshot.add(kernarg.address(), kernarg.address() + kernarg.bytes, false) ||
        !snapshot.add(packet.address(), packet.address() + packet.bytes, false)) {
        return kOutOfMemory;
    }
    snapshot.finish();
    LaunchRequest request;
    request.code = function.code;
    request.kernel = function.kernel.start;
    std::memcpy(request.grid, geometry.grid, sizeof(request.grid));
    std::memcpy(request.block, geometry.block, sizeof(request.block));
    request.lds_bytes = lds_bytes;
    request.kernarg = kernarg.address();
    request.kernarg_bytes = kernarg.data;
    request.dispatch_packet = packet.address();
    request.memory = snapshot.ranges();
    request.options = options();
    LaunchResult result;
    engine().launch(request, result);
    if (Json* report = own_report()) {
        write_report(*report, function, request, result);
    }
    return error_of(result);
}

} // namespace

std::size_t explicit_bytes(const Kernel& kernel) {
    std::size_t end = kernel.kernarg_bytes;
    for (int index = 0; index < kernel.arguments; ++index) {
        const Argument& argument = kernel.argument[index];
        if (argument.hidden != Hidden::none && argument.offset < end) {
            end = argument.offset;
        }
    }
    return end;
}

HipError run_kernel(const Function& function, const Geometry& geometry, const void* bytes, std::size_t size) {
    const Kernel& kernel = function.kernel;
    const std::uint64_t lds = std::uint64_t{kernel.lds_bytes} + geometry.dynamic_lds;
    if (size > kernel.kernarg_bytes || (size != 0 && bytes == nullptr)) {
        return kInvalidValue;
    }
    if (lds > ~std::uint32_t{0}) {
        return kLaunchOutOfResources;
    }
    const auto lds_bytes = static_cast<std::uint32_t>(lds);
    if (const HipError error = check_geometry(kernel, geometry, lds_bytes); error != kSuccess) {
        return error;
    }
    // Loads of arguments are made wider up to the alignment of the segment.
    const Block kernarg((std::size_t{kernel.kernarg_bytes} + 15) / 16 * 16 + 16);
    const Block packet(kPacketBytes);
    if (kernarg.data == nullptr || packet.data == nullptr) {
        return kOutOfMemory;
    }
    if (size != 0 && !copy_readable(bytes, kernarg.data, size)) {
        return kInvalidValue;
    }
    add_hidden(kernel, geometry, kernarg.data);
    fill_packet(kernel, geometry, kernarg.address(), lds_bytes, packet.data);
    return run_with(function, geometry, kernarg, packet, lds_bytes);
}

const char* audit(const Function& function) {
    Json* report = own_report();
    if (report != nullptr) {
        write_audit(*report, function);
    }
    return last_report();
}

void clear_report() {
    if (t_report != nullptr) {
        t_report->clear();
    }
}

const char* last_report() {
    return t_report != nullptr ? t_report->c_str() : "";
}

} // namespace emulator_host
