#include "hip_binding.hpp"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

namespace amla {

namespace {

constexpr const char* kOverride = "AITER_MLA_AOT_HIP_LIBRARY";
constexpr const char* kSonames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"};

struct Binding {
    const char* symbol;
    std::size_t offset;
};

// hipGetDeviceProperties itself still fills the layout of ROCm 5, headers since ROCm 6 rename it to ...R0600.
constexpr Binding kBindings[] = {
    {"hipGetDeviceCount", offsetof(HipApi, get_device_count)},
    {"hipGetDevice", offsetof(HipApi, get_device)},
    {"hipSetDevice", offsetof(HipApi, set_device)},
    {"hipDeviceGetAttribute", offsetof(HipApi, device_get_attribute)},
    {"hipGetDevicePropertiesR0600", offsetof(HipApi, get_device_properties)},
    {"hipRuntimeGetVersion", offsetof(HipApi, runtime_get_version)},
    {"hipModuleLoadData", offsetof(HipApi, module_load_data)},
    {"hipModuleUnload", offsetof(HipApi, module_unload)},
    {"hipModuleGetFunction", offsetof(HipApi, module_get_function)},
    {"hipModuleLaunchKernel", offsetof(HipApi, module_launch_kernel)},
    {"hipStreamIsCapturing", offsetof(HipApi, stream_is_capturing)},
    {"hipGetLastError", offsetof(HipApi, get_last_error)},
    {"hipGetErrorName", offsetof(HipApi, get_error_name)},
    {"hipGetErrorString", offsetof(HipApi, get_error_string)},
};
static_assert(sizeof(HipApi) == std::size(kBindings) * sizeof(void*));

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Hip g_hip;
std::atomic<const Hip*> g_opened = nullptr;

/// Libraries of this process that are named like HIP.
struct Loaded {
    char path[PATH_MAX]; // the first of them
    const char* except;  // one not to count, or null
    int copies;
};

int note_library(dl_phdr_info* info, std::size_t, void* context) {
    const char* slash = std::strrchr(info->dlpi_name, '/');
    const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
    auto& loaded = *static_cast<Loaded*>(context);
    const bool counted = loaded.except == nullptr || std::strcmp(loaded.except, info->dlpi_name) != 0;
    if (counted && std::strncmp(base, "libamdhip64", 11) == 0) {
        if (loaded.copies == 0) {
            strncpy(loaded.path, info->dlpi_name, sizeof(loaded.path) - 1);
        }
        loaded.copies += 1;
    }
    return 0;
}

Code not_found(Status& status, const char* tried, const char* reason) {
    fail(status, AMLA_HIP_NOT_FOUND);
    detail(status, "%s", tried);
    return detail(status, "%s", reason);
}

Code bind(void* handle, const char* how, Status& status) {
    Hip hip = {};
    for (const Binding& binding : kBindings) {
        void* symbol = dlsym(handle, binding.symbol);
        if (symbol == nullptr) {
            fail(status, AMLA_HIP_NOT_FOUND);
            detail(status, "%s", how);
            return detail(status, "the library has no %s", binding.symbol);
        }
        std::memcpy(reinterpret_cast<char*>(&hip.api) + binding.offset, &symbol, sizeof(symbol));
    }
    Dl_info where = {};
    if (dladdr(reinterpret_cast<void*>(hip.api.module_launch_kernel), &where) != 0 && where.dli_fname != nullptr) {
        strncpy(hip.path, where.dli_fname, sizeof(hip.path) - 1);
    }
    Loaded others = {};
    others.except = hip.path;
    dl_iterate_phdr(note_library, &others);
    hip.how = how;
    hip.copies = 1 + others.copies;
    void* registers = dlsym(handle, "emulator_register_for_launch");
    std::memcpy(&hip.register_for_launch, &registers, sizeof(registers));
    hip.takes_host_memory = dlsym(handle, "emulator_abi_version") != nullptr || dlsym(handle, "hip_recorder_abi_version") != nullptr;
    hip.process = getpid();
    g_hip = hip;
    g_opened.store(&g_hip, std::memory_order_release);
    return AMLA_OK;
}

Code search(const char* path, bool allow_load, Status& status) {
    const char* named = path;
    const char* how = "the path given to hip_open";
    if (named == nullptr || *named == '\0') {
        named = std::getenv(kOverride);
        how = kOverride;
    }
    if (named != nullptr && *named != '\0') {
        void* handle = dlopen(named, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            const char* reason = dlerror();
            return not_found(status, how, reason != nullptr ? reason : named);
        }
        return bind(handle, how, status);
    }
    Loaded loaded = {};
    dl_iterate_phdr(note_library, &loaded);
    if (loaded.copies > 0) {
        if (void* handle = dlopen(loaded.path, RTLD_NOW | RTLD_NOLOAD)) {
            return bind(handle, "library already loaded in this process", status);
        }
    }
    for (const char* soname : kSonames) {
        if (void* handle = dlopen(soname, RTLD_NOW | RTLD_NOLOAD)) {
            return bind(handle, "soname already loaded in this process", status);
        }
    }
    if (dlsym(RTLD_DEFAULT, "hipModuleLaunchKernel") != nullptr) {
        return bind(RTLD_DEFAULT, "global symbols of this process", status);
    }
    if (!allow_load) {
        return not_found(status, "libraries loaded in this process", "none is named libamdhip64*");
    }
    for (const char* soname : kSonames) {
        if (void* handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
            return bind(handle, "loaded by soname", status);
        }
    }
    return not_found(status, "libamdhip64.so.7, libamdhip64.so.6, libamdhip64.so", "the dynamic loader finds none of them");
}

Code check_process(const Hip& hip, Status& status) {
    const int process = getpid();
    if (process == hip.process) {
        return AMLA_OK;
    }
    fail(status, AMLA_USED_AFTER_FORK);
    detail(status, "%d", hip.process);
    return detail(status, "%d", process);
}

bool same_file(const char* left, const char* right) {
    char left_real[PATH_MAX];
    char right_real[PATH_MAX];
    return realpath(left, left_real) != nullptr && realpath(right, right_real) != nullptr && std::strcmp(left_real, right_real) == 0;
}

} // namespace

Code hip_open(const char* path, bool allow_load, const Hip*& hip, Status& status) {
    hip = g_opened.load(std::memory_order_acquire);
    if (hip == nullptr) {
        pthread_mutex_lock(&g_lock);
        hip = g_opened.load(std::memory_order_acquire);
        const Code code = hip != nullptr ? Code{AMLA_OK} : search(path, allow_load, status);
        pthread_mutex_unlock(&g_lock);
        if (code != AMLA_OK) {
            return code;
        }
        hip = g_opened.load(std::memory_order_acquire);
    }
    if (const Code code = check_process(*hip, status); code != AMLA_OK) {
        return code;
    }
    if (path != nullptr && *path != '\0' && !same_file(path, hip->path)) {
        return fail3(status, AMLA_ARGUMENT_INVALID, "path", hip->path, path);
    }
    return AMLA_OK;
}

Code hip_get(const Hip*& hip, Status& status) {
    hip = g_opened.load(std::memory_order_acquire);
    return hip != nullptr ? check_process(*hip, status) : hip_open(nullptr, false, hip, status);
}

Code hip_fail(const Hip& hip, const char* call, HipError error, Status& status) {
    hip.api.get_last_error();
    const char* name = hip.api.get_error_name(error);
    const char* text = hip.api.get_error_string(error);
    fail(status, AMLA_HIP_ERROR);
    detail(status, "%s", call);
    detail(status, "%d", error);
    detail(status, "%s", name != nullptr ? name : "unknown");
    return detail(status, "%s", text != nullptr ? text : "");
}

Code DeviceScope::enter(int device, Status& status) {
    int current = -1;
    if (const HipError error = hip_.api.get_device(&current); error != 0) {
        return hip_fail(hip_, "hipGetDevice", error, status);
    }
    if (current == device) {
        return AMLA_OK;
    }
    if (const HipError error = hip_.api.set_device(device); error != 0) {
        return hip_fail(hip_, "hipSetDevice", error, status);
    }
    previous_ = current;
    return AMLA_OK;
}

Code DeviceScope::leave(Status& status) {
    const HipError error = restore();
    return error != 0 ? hip_fail(hip_, "hipSetDevice", error, status) : Code{AMLA_OK};
}

HipError DeviceScope::restore() {
    const int device = previous_;
    previous_ = -1;
    return device < 0 ? 0 : hip_.api.set_device(device);
}

} // namespace amla
