#include "device_info.hpp"

#include <cstdio>
#include <cstring>

namespace amla {

namespace {

// hipDeviceProp_tR0600 has 1472 bytes; the spare room keeps a longer successor from writing past the buffer.
constexpr std::size_t kPropertiesBytes = 8192;
constexpr std::size_t kArchNameOffset = 1160;
constexpr std::size_t kArchNameBytes = 256;

/// gfx, hexadecimal digits, then the end or a feature list.
bool is_target_id(const char* name) {
    if (std::strncmp(name, "gfx", 3) != 0) {
        return false;
    }
    const std::size_t digits = std::strspn(name + 3, "0123456789abcdef");
    return digits > 0 && (name[3 + digits] == '\0' || name[3 + digits] == ':');
}

} // namespace

Code device_count(const Hip& hip, int& count, Status& status) {
    count = 0;
    const HipError error = hip.api.get_device_count(&count);
    return error != 0 ? hip_fail(hip, "hipGetDeviceCount", error, status) : Code{AMLA_OK};
}

Code device_info(const Hip& hip, int device, DeviceInfo& info, Status& status) {
    int count = 0;
    if (const Code code = device_count(hip, count, status); code != AMLA_OK) {
        return code;
    }
    if (device < 0 || device >= count) {
        fail(status, AMLA_ARGUMENT_INVALID);
        detail(status, "device");
        detail(status, "an index below the device count %d", count);
        return detail(status, "%d", device);
    }
    info = {};
    info.device = device;
    alignas(16) char properties[kPropertiesBytes] = {};
    if (const HipError error = hip.api.get_device_properties(properties, device); error != 0) {
        return hip_fail(hip, "hipGetDevicePropertiesR0600", error, status);
    }
    std::memcpy(info.target_id, properties + kArchNameOffset, kArchNameBytes - 1);
    if (!is_target_id(info.target_id)) {
        fail(status, AMLA_DEVICE_UNSUPPORTED);
        detail(status, "%d", device);
        detail(status, "hipGetDevicePropertiesR0600 names no gfx processor where gcnArchName is expected");
        return detail(status, "a HIP run time with the device properties of ROCm 6 or later");
    }
    snprintf(info.arch, sizeof(info.arch), "%.*s", static_cast<int>(std::strcspn(info.target_id, ":")), info.target_id);

    struct Query {
        HipAttribute attribute;
        int* value;
    };

    const Query queries[] = {
        {HipAttribute::compute_units, &info.compute_units},
        {HipAttribute::warp_size, &info.warp_size},
        {HipAttribute::lds_per_block, &info.lds_bytes},
        {HipAttribute::major, &info.major},
        {HipAttribute::minor, &info.minor},
    };
    for (const Query& query : queries) {
        if (const HipError error = hip.api.device_get_attribute(query.value, static_cast<int>(query.attribute), device); error != 0) {
            return hip_fail(hip, "hipDeviceGetAttribute", error, status);
        }
    }
    const HipError error = hip.api.runtime_get_version(&info.runtime_version);
    return error != 0 ? hip_fail(hip, "hipRuntimeGetVersion", error, status) : Code{AMLA_OK};
}

} // namespace amla
