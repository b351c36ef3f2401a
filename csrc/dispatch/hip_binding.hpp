// The HIP run time of this process, found without linking it and without ever loading a second copy.
#pragma once

#include "status.hpp"

#include <cstddef>
#include <cstdint>

namespace amla {

using HipError = int; // 0 is success
using HipModule = void*;
using HipFunction = void*;
using HipStream = void*;

/// hipDeviceAttribute_t values; device properties are not used for these because their layout changed in ROCm 6.
enum class HipAttribute : int {
    minor = 61,
    compute_units = 63,
    lds_per_block = 74,
    warp_size = 87,
    major = 23,
};

/// Entry points, each bound by name.
struct HipApi {
    HipError (*get_device_count)(int*);
    HipError (*get_device)(int*);
    HipError (*set_device)(int);
    HipError (*device_get_attribute)(int*, int, int);
    HipError (*get_device_properties)(void*, int);
    HipError (*runtime_get_version)(int*);
    HipError (*module_load_data)(HipModule*, const void*);
    HipError (*module_unload)(HipModule);
    HipError (*module_get_function)(HipFunction*, HipModule, const char*);
    HipError (*module_launch_kernel)(HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, HipStream, void**,
                                     void**);
    HipError (*stream_is_capturing)(HipStream, int*);
    HipError (*get_last_error)();
    const char* (*get_error_name)(HipError);
    const char* (*get_error_string)(HipError);
};

/// The opened run time.
struct Hip {
    HipApi api;
    char path[1024];        // file it came from
    const char* how;        // step of the search that found it
    int copies;             // this one and every other library named libamdhip64* in this process
    bool takes_host_memory; // an emulator or a recorder: CPU tensors stand for device memory
    /// Of an emulator, else null: makes bytes of this process device memory for the thread's next launch.
    int (*register_for_launch)(const void* memory, std::size_t bytes, int writable);
    int process; // process that opened it
};

/// Finds HIP and binds it; later calls return the same library.
///
/// Order: `path`, else the environment variable AITER_MLA_AOT_HIP_LIBRARY (either must load); a library libamdhip64* already
/// mapped; the sonames .so.7, .so.6, .so if already loaded; the global symbols; and only with `allow_load` a load by soname.
/// Errors: AMLA_HIP_NOT_FOUND, AMLA_USED_AFTER_FORK, AMLA_ARGUMENT_INVALID for a `path` other than the opened library.
Code hip_open(const char* path, bool allow_load, const Hip*& hip, Status& status);

/// The run time, opened if need be with hip_open(nullptr, false).
Code hip_get(const Hip*& hip, Status& status);

/// Turns a failed HIP call into AMLA_HIP_ERROR and clears HIP's sticky last error, which torch would report as its own.
Code hip_fail(const Hip& hip, const char* call, HipError error, Status& status);

/// Makes `device` current for a scope. leave() restores the previous device and reports a failure; the destructor restores
/// it on every other way out.
class DeviceScope {
public:
    explicit DeviceScope(const Hip& hip) : hip_(hip) {}

    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

    ~DeviceScope() {
        restore();
    }

    Code enter(int device, Status& status);
    Code leave(Status& status);

private:
    HipError restore();

    const Hip& hip_;
    int previous_ = -1;
};

} // namespace amla
