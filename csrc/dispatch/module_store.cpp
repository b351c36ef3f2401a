#include "module_store.hpp"

#include "code_object.hpp"
#include "lookup.hpp"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace amla {

namespace {

constexpr int kWarpSize = 64;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
PreparedDevice g_devices[kMaxDevices];
std::atomic<const PreparedDevice*> g_ready[kMaxDevices];
char g_root[PATH_MAX];
/// Verified bytes by kernel row, shared by all devices: HIP may read an image after hipModuleLoadData returns.
void** g_images;

/// A device this wheel has kernels for.
Code check_device(const DeviceInfo& info, int expected_arch, int& arch, Status& status) {
    if (expected_arch != AMLA_ARCH_OTHER && std::strcmp(arch_name(expected_arch), info.arch) != 0) {
        return fail3(status, AMLA_OTHER_ARCH, "prepare", arch_name(expected_arch), info.arch);
    }
    arch = arch_number(info.arch);
    if (arch != AMLA_ARCH_OTHER && info.warp_size == kWarpSize) {
        return AMLA_OK;
    }
    fail(status, AMLA_DEVICE_UNSUPPORTED);
    detail(status, "%d", info.device);
    detail(status, "%s, wave size %d", info.target_id, info.warp_size);
    return detail(status, "%s, wave size %d", arch_list(" or ").text, kWarpSize);
}

/// Private, verified and page-aligned copy of a kernel's bytes, made once per process.
Code verified_image(std::uint32_t index, const KernelSource& source, const DeviceInfo& info, Status& status) {
    const table::KernelRow& row = table_view().kernels[index];
    if (g_images[index] == nullptr) {
        const void* bytes = nullptr;
        std::size_t size = 0;
        if (const Code code = source.read(source.context, row, bytes, size, status); code != AMLA_OK) {
            return code;
        }
        void* copy = nullptr;
        if (posix_memalign(&copy, 4096, size != 0 ? size : 1) != 0) {
            return out_of_memory(status);
        }
        std::memcpy(copy, bytes, size);
        if (const Code code = verify_hash(row, copy, size, status); code != AMLA_OK) {
            free(copy);
            return code;
        }
        g_images[index] = copy;
    }
    return check_target(row, g_images[index], row.bytes, info, status);
}

Code load(const Hip& hip, const table::KernelRow& row, const void* image, HipModule& module, HipFunction& function, Status& status) {
    if (const HipError error = hip.api.module_load_data(&module, image); error != 0) {
        module = nullptr;
        return hip_fail(hip, "hipModuleLoadData", error, status);
    }
    const HipError error = hip.api.module_get_function(&function, module, row.symbol);
    return error != 0 ? hip_fail(hip, "hipModuleGetFunction", error, status) : Code{AMLA_OK};
}

/// Loads the kernels of `arch` into `functions` and unloads what it loaded if one fails.
Code load_all(const Hip& hip, const DeviceInfo& info, int arch, const KernelSource& source, HipFunction* functions, HipModule* modules,
              Status& status) {
    const TableView& view = table_view();
    DeviceScope scope(hip);
    Code code = scope.enter(info.device, status);
    for (std::uint32_t index = 0; index < view.kernel_count && code == AMLA_OK; ++index) {
        if (view.kernels[index].arch == arch) {
            code = verified_image(index, source, info, status);
            if (code == AMLA_OK) {
                code = load(hip, view.kernels[index], g_images[index], modules[index], functions[index], status);
            }
        }
    }
    for (std::uint32_t index = 0; index < view.kernel_count && code != AMLA_OK; ++index) {
        if (modules[index] != nullptr) {
            hip.api.module_unload(modules[index]);
        }
    }
    return code != AMLA_OK ? code : scope.leave(status);
}

Code prepare_locked(const Hip& hip, int device, int expected_arch, const KernelSource& source, Status& status) {
    DeviceInfo info;
    if (const Code code = device_info(hip, device, info, status); code != AMLA_OK) {
        return code;
    }
    int arch = AMLA_ARCH_OTHER;
    if (const Code code = check_device(info, expected_arch, arch, status); code != AMLA_OK) {
        return code;
    }
    const std::size_t count = table_view().kernel_count;
    if (g_images == nullptr) {
        g_images = static_cast<void**>(calloc(count, sizeof(void*)));
    }
    auto* functions = static_cast<HipFunction*>(calloc(count, sizeof(HipFunction)));
    auto* modules = static_cast<HipModule*>(calloc(count, sizeof(HipModule)));
    const bool allocated = g_images != nullptr && functions != nullptr && modules != nullptr;
    const Code code = allocated ? load_all(hip, info, arch, source, functions, modules, status) : out_of_memory(status);
    free(modules);
    if (code != AMLA_OK) {
        free(functions);
        return code;
    }
    g_devices[device] = {info, arch, functions};
    g_ready[device].store(&g_devices[device], std::memory_order_release);
    return AMLA_OK;
}

} // namespace

Code prepare(const Hip& hip, int device, int arch, const KernelSource& source, const PreparedDevice*& prepared, Status& status) {
    if (device < 0 || device >= kMaxDevices) {
        fail(status, AMLA_ARGUMENT_INVALID);
        detail(status, "device");
        detail(status, "an index from 0 to %d", kMaxDevices - 1);
        return detail(status, "%d", device);
    }
    pthread_mutex_lock(&g_lock);
    Code code = AMLA_OK;
    if (g_ready[device].load(std::memory_order_acquire) == nullptr) {
        code = prepare_locked(hip, device, arch, source, status);
    } else if (arch != AMLA_ARCH_OTHER && arch != g_devices[device].arch) {
        code = fail3(status, AMLA_OTHER_ARCH, "prepare", arch_name(arch), g_devices[device].info.arch);
    }
    pthread_mutex_unlock(&g_lock);
    prepared = prepared_device(device);
    return code;
}

const PreparedDevice* prepared_device(int device) {
    return device >= 0 && device < kMaxDevices ? g_ready[device].load(std::memory_order_acquire) : nullptr;
}

Code set_kernel_directory(const char* root, Status& status) {
    const std::size_t length = std::strlen(root);
    if (length == 0 || length >= sizeof(g_root)) {
        return fail3(status, AMLA_ARGUMENT_INVALID, "kernels", "the path of a directory", root);
    }
    pthread_mutex_lock(&g_lock);
    std::memcpy(g_root, root, length + 1);
    pthread_mutex_unlock(&g_lock);
    return AMLA_OK;
}

Code prepare_default(const Hip& hip, int device, const PreparedDevice*& prepared, Status& status) {
    char root[sizeof(g_root)];
    pthread_mutex_lock(&g_lock);
    std::memcpy(root, g_root, sizeof(root));
    pthread_mutex_unlock(&g_lock);
    if (*root == '\0') {
        fail(status, AMLA_MODULE_NOT_PREPARED);
        detail(status, "%d", device);
        return detail(status, "no kernel directory is set");
    }
    KernelDirectory directory(root);
    return prepare(hip, device, AMLA_ARCH_OTHER, directory.source(), prepared, status);
}

} // namespace amla
