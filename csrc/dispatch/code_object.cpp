#include "code_object.hpp"

#include "lookup.hpp"
#include "sha256.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace amla {

namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kFlagsOffset = 48;
constexpr std::uint32_t kMachMask = 0xff;
/// HIP's version number of ROCm 6.3, the first that loads code object version 6.
constexpr int kVersion6Runtime = 60'300'000;

/// Two bits of e_flags for one feature: 0 unsupported, 1 any, 2 off, 3 on.
struct Feature {
    const char* name;
    int shift;
};

constexpr Feature kFeatures[] = {{"xnack", 8}, {"sramecc", 10}};
constexpr std::uint32_t kOff = 2;
constexpr std::uint32_t kOn = 3;

/// State of a feature in a target id: '+', '-', or 0 if the id does not name it.
char feature_state(const char* target_id, const char* name) {
    const std::size_t length = std::strlen(name);
    for (const char* part = std::strchr(target_id, ':'); part != nullptr; part = std::strchr(part, ':')) {
        part += 1;
        if (std::strncmp(part, name, length) == 0) {
            return part[length];
        }
    }
    return 0;
}

} // namespace

Code verify_hash(const table::KernelRow& row, const void* bytes, std::size_t size, Status& status) {
    const Digest digest = sha256(bytes, size);
    if (std::memcmp(digest.bytes, row.sha256, sizeof(row.sha256)) == 0) {
        return AMLA_OK;
    }
    return fail3(status, AMLA_HASH_MISMATCH, row.file, to_text(row.sha256).text, to_text(digest.bytes).text);
}

Code check_target(const table::KernelRow& row, const void* bytes, std::size_t size, const DeviceInfo& device, Status& status) {
    std::uint32_t flags = 0;
    if (size >= kHeaderBytes) {
        std::memcpy(&flags, static_cast<const char*>(bytes) + kFlagsOffset, sizeof(flags));
    }
    const table::ArchRow& arch = table_view().archs[row.arch];
    if ((flags & kMachMask) != arch.mach || std::strcmp(arch.name, device.arch) != 0) {
        return fail3(status, AMLA_OTHER_ARCH, row.file, arch.name, device.arch);
    }
    for (const Feature& feature : kFeatures) {
        const std::uint32_t wanted = (flags >> feature.shift) & 3;
        const char state = feature_state(device.target_id, feature.name);
        if ((wanted == kOn && state != '+') || (wanted == kOff && state != '-')) {
            fail(status, AMLA_TARGET_ID_MISMATCH);
            detail(status, "%s", row.file);
            detail(status, "%s%c", feature.name, wanted == kOn ? '+' : '-');
            return detail(status, "%s", device.target_id);
        }
    }
    if (row.code_object_version >= 6 && device.runtime_version < kVersion6Runtime) {
        fail(status, AMLA_NEEDS_NEWER_ROCM);
        detail(status, "%s", row.file);
        detail(status, "6.3");
        return detail(status, "%d.%d", device.runtime_version / 10'000'000, device.runtime_version / 100'000 % 100);
    }
    return AMLA_OK;
}

} // namespace amla
