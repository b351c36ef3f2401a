// hipError_t values that this run time gives.
#pragma once

namespace emulator_host {

enum HipError : int {
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kInvalidConfiguration = 9,
    kInvalidMemcpyDirection = 21,
    kInvalidDevice = 101,
    kInvalidImage = 200,
    kNoBinaryForGpu = 209,
    kInvalidKernelFile = 218,
    kInvalidHandle = 400,
    kNotFound = 500,
    kIllegalAddress = 700,
    kLaunchOutOfResources = 701,
    kLaunchFailure = 719,
};

/// Keeps the error as the thread's last one and gives it back.
HipError note(HipError error);
HipError take_last_error();
const char* error_name(int error);
const char* error_text(int error);

} // namespace emulator_host
