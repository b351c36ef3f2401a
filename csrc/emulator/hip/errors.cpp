#include "errors.hpp"

namespace emulator_host {

namespace {

struct Known {
    int error;
    const char* name;
    const char* text;
};

constexpr Known kKnown[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "an argument is out of its range"},
    {kOutOfMemory, "hipErrorOutOfMemory", "no memory left"},
    {kInvalidConfiguration, "hipErrorInvalidConfiguration", "the grid or the workgroup is empty or too large"},
    {kInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "there is no such direction of a copy"},
    {kInvalidDevice, "hipErrorInvalidDevice", "no device has this number"},
    {kInvalidImage, "hipErrorInvalidImage", "the image is no code object"},
    {kNoBinaryForGpu, "hipErrorNoBinaryForGpu", "the code object is for another device"},
    {kInvalidKernelFile, "hipErrorInvalidKernelFile", "the code object contradicts itself"},
    {kInvalidHandle, "hipErrorInvalidHandle", "no such module or kernel"},
    {kNotFound, "hipErrorNotFound", "the code object has no such kernel"},
    {kIllegalAddress, "hipErrorIllegalAddress", "a kernel reached outside memory; emulator_report() says where"},
    {kLaunchOutOfResources, "hipErrorLaunchOutOfResources", "the workgroup needs more LDS or lanes than there are"},
    {kLaunchFailure, "hipErrorLaunchFailure", "a kernel was stopped; emulator_report() says why"},
};

thread_local HipError g_last = kSuccess;

const Known* find(int error) {
    for (const Known& known : kKnown) {
        if (known.error == error) {
            return &known;
        }
    }
    return nullptr;
}

} // namespace

HipError note(HipError error) {
    if (error != kSuccess) {
        g_last = error;
    }
    return error;
}

HipError take_last_error() {
    const HipError error = g_last;
    g_last = kSuccess;
    return error;
}

const char* error_name(int error) {
    const Known* known = find(error);
    return known != nullptr ? known->name : "hipErrorUnknown";
}

const char* error_text(int error) {
    const Known* known = find(error);
    return known != nullptr ? known->text : "unknown error";
}

} // namespace emulator_host
