// What tests call: describe devices, ask for errors, read the record as JSON.
#include "recorder.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CONTROL extern "C" __attribute__((visibility("default")))

using namespace recorder;

namespace {

/// Growing text; what does not fit is an error of the recorder, and the JSON then does not parse.
class Text {
public:
    [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
        va_list values;
        va_start(values, format);
        char piece[1024];
        const int wrote = vsnprintf(piece, sizeof(piece), format, values);
        va_end(values);
        const std::size_t more = wrote > 0 && wrote < 1024 ? static_cast<std::size_t>(wrote) : 0;
        if (size_ + more + 1 > room_) {
            room_ = 2 * (size_ + more + 1);
            data_ = static_cast<char*>(realloc(data_, room_));
        }
        std::memcpy(data_ + size_, piece, more + 1);
        size_ += more;
    }

    char* data() const {
        return data_;
    }

private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

void add_launch(Text& out, const State& state, const Launch& launch) {
    out.add("{\"function\": \"%s\", \"device\": %d, ", state.function[launch.function].name, launch.device);
    out.add("\"sha256\": \"%s\", ", state.module[state.function[launch.function].module].sha256);
    out.add("\"grid\": [%u, %u, %u], ", launch.grid[0], launch.grid[1], launch.grid[2]);
    out.add("\"block\": [%u, %u, %u], ", launch.block[0], launch.block[1], launch.block[2]);
    out.add("\"shared_bytes\": %u, \"stream\": %llu, ", launch.shared_bytes, static_cast<unsigned long long>(launch.stream));
    out.add("\"size\": %zu, \"kernarg\": \"", launch.size);
    for (std::size_t index = 0; index < launch.size; ++index) {
        out.add("%02x", launch.kernarg[index]);
    }
    out.add("\"}");
}

} // namespace

CONTROL int hip_recorder_abi_version() {
    return 1;
}

CONTROL void recorder_set_device_count(int count) {
    const Locked state;
    state->device_count = count;
}

CONTROL void recorder_set_device(int device, const char* target_id, int compute_units, int warp_size) {
    const Locked state;
    describe(state->devices[device], target_id);
    state->devices[device].compute_units = compute_units;
    state->devices[device].warp_size = warp_size;
}

CONTROL void recorder_set_runtime_version(int version) {
    const Locked state;
    state->runtime_version = version;
}

CONTROL void recorder_set_capturing(std::uint64_t stream) {
    const Locked state;
    state->capturing[state->capturing_count++] = stream;
}

CONTROL void recorder_inject(const char* call, int error, int skip, int count) {
    const Locked state;
    Injection& wanted = state->injection[state->injections++];
    strncpy(wanted.call, call, sizeof(wanted.call) - 1);
    wanted.error = error;
    wanted.skip = skip;
    wanted.count = count;
}

/// The record as JSON. The caller frees it with recorder_free.
CONTROL char* recorder_report() {
    const Locked state;
    Text out;
    out.add("{\"current_device\": %d, \"set_device_calls\": %d, \"loads\": [", current_device(), state->set_device_calls);
    for (int index = 0; index < state->modules; ++index) {
        const Module& module = state->module[index];
        out.add("%s{\"device\": %d, \"sha256\": \"%s\", \"size\": %zu, \"unloaded\": %s}", index != 0 ? ", " : "", module.device,
                module.sha256, module.size, module.unloaded ? "true" : "false");
    }
    out.add("], \"launches\": [");
    for (int index = 0; index < state->launches; ++index) {
        out.add("%s", index != 0 ? ", " : "");
        add_launch(out, *state.operator->(), state->launch[index]);
    }
    out.add("]}");
    return out.data();
}

CONTROL void recorder_free(char* text) {
    free(text);
}
