#include "recorder.hpp"

#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace recorder {

namespace {

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
State* g_state;
__thread int g_current;
__thread int g_last_error;

State* make_state() {
    auto* state = static_cast<State*>(calloc(1, sizeof(State)));
    const char* named = getenv("HIP_RECORDER_TARGET_IDS"); // comma separated, one per device
    const char* version = getenv("HIP_RECORDER_RUNTIME_VERSION");
    state->runtime_version = version != nullptr ? atoi(version) : 70'051'831;
    char list[4096] = "gfx942:sramecc+:xnack-,gfx942:sramecc+:xnack-";
    if (named != nullptr) {
        strncpy(list, named, sizeof(list) - 1);
    }
    char* rest = nullptr;
    for (char* id = strtok_r(list, ",", &rest); id != nullptr && state->device_count < kDevices; id = strtok_r(nullptr, ",", &rest)) {
        describe(state->devices[state->device_count++], id);
    }
    return state;
}

} // namespace

Locked::Locked() {
    pthread_mutex_lock(&g_lock);
    if (g_state == nullptr) {
        g_state = make_state();
    }
}

Locked::~Locked() {
    pthread_mutex_unlock(&g_lock);
}

State* Locked::operator->() const {
    return g_state;
}

int& current_device() {
    return g_current;
}

int result(int error) {
    if (error != 0) {
        g_last_error = error;
    }
    return error;
}

int take_last_error() {
    const int error = g_last_error;
    g_last_error = 0;
    return error;
}

int injected(const char* call) {
    const Locked state;
    for (int index = 0; index < state->injections; ++index) {
        Injection& wanted = state->injection[index];
        if (strcmp(wanted.call, call) == 0 && wanted.count > 0 && wanted.skip-- <= 0) {
            wanted.count -= 1;
            return wanted.error;
        }
    }
    return 0;
}

void describe(Device& device, const char* target_id) {
    device = {};
    strncpy(device.target_id, target_id, sizeof(device.target_id) - 1);
    device.compute_units = strncmp(target_id, "gfx942", 6) == 0 ? 304 : 256;
    device.warp_size = 64;
    device.lds_bytes = strncmp(target_id, "gfx942", 6) == 0 ? 65536 : 163840;
}

} // namespace recorder
