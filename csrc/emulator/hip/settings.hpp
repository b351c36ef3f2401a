// Emulated devices and launch options, set by calls or by the environment.
#pragma once

#include "../machine/engine.hpp"

namespace emulator_host {

inline constexpr int kMaxDevices = 16;

struct Device {
    char target[64]; // gfx942:sramecc+:xnack-
    int arch;        // 0 gfx942, 1 gfx950
    int compute_units;
};

/// By default one gfx942 with 304 CUs, or what AITER_MLA_EMULATOR_DEVICES lists: "gfx950:256,gfx942:80".
int device_count();
/// False if there is no such device.
bool device(int index, Device& out);
/// Replaces all devices by the list, in the form of the environment variable. False if it is malformed; nothing changes then.
bool set_devices(const char* list);

int runtime_version();
void set_runtime_version(int version);

/// Options of launches from now on; at first those of AITER_MLA_EMULATOR_OPTIONS.
Options options();
/// Sets options from a list such as "timing=random,seed=7". False at an unknown name or value; nothing changes then.
bool set_options(const char* list);

constexpr std::uint32_t lds_limit(int arch) {
    return arch == 0 ? 64 * 1024 : 160 * 1024;
}

} // namespace emulator_host
