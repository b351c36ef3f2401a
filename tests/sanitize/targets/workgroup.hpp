// A workgroup whose parts each lie alone in memory, so that a sanitizer sees every byte outside them.
#pragma once

#include "input.hpp"

#include "machine/checks.hpp"
#include "machine/schedule.hpp"
#include "machine/start.hpp"

namespace fuzz {

inline constexpr std::size_t kMemoryBytes = 16384;
inline constexpr std::size_t kKernargBytes = 64;
inline constexpr int kMostWaves = 3;

/// Memory of exactly so many bytes, kept for the next that asks for as many: most of a run would be spent in getting it.
inline void* kept_block(std::size_t bytes, std::size_t alignment) {
    struct Block {
        std::size_t bytes, alignment;
        void* data;
    };

    static Block blocks[64];
    for (Block& block : blocks) {
        if (block.data == nullptr) {
            void* data = nullptr;
            require(posix_memalign(&data, alignment, bytes) == 0);
            block = {bytes, alignment, data};
        }
        if (block.bytes == bytes && block.alignment == alignment) {
            return block.data;
        }
    }
    abort();
}

template <typename T> T* kept(std::size_t count) {
    return static_cast<T*>(kept_block(count * sizeof(T), alignof(T) < 8 ? 8 : alignof(T)));
}

inline std::uint8_t* page_of(std::size_t bytes) {
    return static_cast<std::uint8_t*>(aligned_alloc(64, bytes));
}

/// Memory that a launch may read and write, may only read, and its arguments. Filled anew for every run.
struct DeviceMemory {
    std::uint8_t* writable = page_of(kMemoryBytes);
    std::uint8_t* constant = page_of(kMemoryBytes);
    std::uint8_t* kernarg = page_of(kKernargBytes);
    emulator_host::Range ranges[3];

    DeviceMemory() {
        std::memset(constant, 0x35, kMemoryBytes);
        std::memset(kernarg, 1, kKernargBytes);
        ranges[0] = range(writable, kMemoryBytes, true);
        ranges[1] = range(constant, kMemoryBytes, false);
        ranges[2] = range(kernarg, kKernargBytes, false);
        for (int pass = 0; pass < 2; ++pass) {
            for (int at = 0; at < 2; ++at) {
                if (ranges[at + 1].begin < ranges[at].begin) {
                    const emulator_host::Range kept = ranges[at];
                    ranges[at] = ranges[at + 1];
                    ranges[at + 1] = kept;
                }
            }
        }
    }

    bool constant_is_whole() const {
        return constant[0] == 0x35 && std::memcmp(constant, constant + 1, kMemoryBytes - 1) == 0;
    }

private:
    static emulator_host::Range range(const std::uint8_t* bytes, std::size_t count, bool writable) {
        const auto begin = reinterpret_cast<std::uint64_t>(bytes);
        return {begin, begin + count, writable};
    }
};

/// Its registers hold addresses of `memory`, descriptors, small offsets and numbers in turn, so that accesses may be legal.
class LoneWorkgroup {
public:
    LoneWorkgroup(const emulator_host::LaunchRequest& request, const emulator::Code& code) : request_(request) {
        group_.wave_count = emulator::wave_count(request);
        const auto count = static_cast<std::size_t>(group_.wave_count);
        group_.waves = kept<emulator::Wave>(count);
        group_.wave_memory = kept<emulator::WaveMemory>(count);
        group_.lds_bytes = request.lds_bytes;
        group_.lds = kept<std::uint8_t>(request.lds_bytes);
        group_.private_bytes = request.kernel.private_bytes;
        group_.scratch = kept<std::uint8_t>(count * emulator::kLanes * request.kernel.private_bytes);
        if (request.options.check_uninitialised || request.options.find_hazards) {
            group_.checks = kept<emulator::Checks>(1);
            group_.checks->uninitialised = request.options.check_uninitialised;
            group_.checks->hazards = request.options.find_hazards;
        }
        group_.code_base = request.kernel.code_address;
        group_.memory = request.memory;
        group_.options = &request.options;
        group_.code = &code;
    }

    void start(std::uint64_t memory) {
        const std::uint32_t ids[3] = {1, 0, 0};
        group_.traffic = {};
        if (group_.checks != nullptr) {
            group_.checks->findings = 0;
        }
        emulator::start_workgroup(group_, request_, ids);
        group_.used = true;
        for (int index = 0; index < group_.wave_count; ++index) {
            set_registers(group_.waves[index], memory);
        }
    }

    bool run(std::uint64_t* executed, emulator::GroupFault& fault) {
        return emulator::run_workgroup(group_, *group_.code, request_.options.instruction_budget, executed, fault);
    }

    const emulator::Workgroup& group() const {
        return group_;
    }

private:
    static void set_registers(emulator::Wave& wave, std::uint64_t memory) {
        const auto low = static_cast<std::uint32_t>(memory);
        const auto high = static_cast<std::uint32_t>(memory >> 32);
        const std::uint32_t scalars[8] = {low, high, 64, 0x3f800000, low, high, kMemoryBytes / 2, 0};
        for (int index = 8; index < 102; ++index) {
            wave.s[index] = scalars[index % 8];
            emulator::mark_defined_scalar(wave, index);
        }
        for (int row = 1; row < 256; ++row) {
            for (std::uint32_t lane = 0; lane < emulator::kLanes; ++lane) {
                const std::uint32_t vectors[4] = {low + 16 * lane, high, 4 * lane, 0x3f800000 + lane};
                wave.v[row][lane] = vectors[row % 4];
            }
            emulator::mark_defined_vector(wave, row);
        }
    }

    const emulator_host::LaunchRequest& request_;
    emulator::Workgroup group_ = {};
};

} // namespace fuzz
