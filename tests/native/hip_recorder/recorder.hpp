// State of the HIP recorder: devices that tests describe, errors they ask for, and everything the code under test did.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recorder {

inline constexpr int kDevices = 16;
inline constexpr int kEvents = 4096;
inline constexpr int kInjections = 32;
inline constexpr std::size_t kKernargBytes = 4096;

// hipError_t values the recorder returns by itself.
inline constexpr int kInvalidValue = 1;
inline constexpr int kNoDevice = 100;
inline constexpr int kInvalidDevice = 101;
inline constexpr int kInvalidImage = 200;
inline constexpr int kNoBinaryForGpu = 209;
inline constexpr int kInvalidHandle = 400;
inline constexpr int kNotFound = 500;

struct Device {
    char target_id[256];
    int compute_units;
    int warp_size;
    int lds_bytes;
};

struct Module {
    int device;
    const std::uint8_t* image;
    std::size_t size;
    char sha256[65];
    bool unloaded;
};

struct Function {
    int module;
    char name[256];
};

struct Launch {
    int function;
    int device;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    std::uint64_t stream;
    std::size_t size;
    std::uint8_t kernarg[kKernargBytes];
};

/// One error to return: from call number `skip` on, `count` times.
struct Injection {
    char call[64];
    int error;
    int skip;
    int count;
};

struct State {
    int device_count;
    int runtime_version;
    Device devices[kDevices];
    int modules, functions, launches, injections;
    Module module[kEvents];
    Function function[kEvents];
    Launch launch[kEvents];
    Injection injection[kInjections];
    std::uint64_t capturing[16];
    int capturing_count;
    int set_device_calls;
};

/// The state, locked while this object lives.
class Locked {
public:
    Locked();
    ~Locked();
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    State* operator->() const;
};

/// Device that is current in this thread, as in HIP.
int& current_device();

/// Remembers an error as HIP's last error of this thread and returns it.
int result(int error);

/// The last error, which is cleared.
int take_last_error();

/// The error a test wants from this call, or 0.
int injected(const char* call);

/// Device `index` becomes a healthy one of that target id.
void describe(Device& device, const char* target_id);

} // namespace recorder
