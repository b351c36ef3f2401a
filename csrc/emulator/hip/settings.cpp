#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace emulator_host {

namespace {

constexpr const char* kDevicesVariable = "AITER_MLA_EMULATOR_DEVICES";
constexpr const char* kOptionsVariable = "AITER_MLA_EMULATOR_OPTIONS";
constexpr int kMinUnits = 1;
constexpr int kMaxUnits = 1024;
constexpr int kRocm7 = 70000000;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
bool g_ready = false;
Device g_devices[kMaxDevices];
int g_count = 0;
int g_version = kRocm7;
Options g_options;

/// The text up to a separator, which is passed over.
bool next_word(const char*& text, char separator, char* word, std::size_t room) {
    if (*text == '\0') {
        return false;
    }
    const char* end = std::strchr(text, separator);
    const std::size_t length = end != nullptr ? static_cast<std::size_t>(end - text) : std::strlen(text);
    const std::size_t kept = length < room - 1 ? length : room - 1;
    std::memcpy(word, text, kept);
    word[kept] = '\0';
    text += length + (end != nullptr ? 1 : 0);
    return true;
}

bool number(const char* text, std::uint64_t& value) {
    char* end = nullptr;
    value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

bool parse_device(const char* word, Device& out) {
    const char* colon = std::strchr(word, ':');
    const std::size_t length = colon != nullptr ? static_cast<std::size_t>(colon - word) : std::strlen(word);
    const bool gfx942 = length == 6 && std::memcmp(word, "gfx942", 6) == 0;
    const bool gfx950 = length == 6 && std::memcmp(word, "gfx950", 6) == 0;
    std::uint64_t units = gfx950 ? 256 : 304;
    if ((!gfx942 && !gfx950) || (colon != nullptr && !number(colon + 1, units)) || units < kMinUnits || units > kMaxUnits) {
        return false;
    }
    out.arch = gfx950 ? 1 : 0;
    out.compute_units = static_cast<int>(units);
    snprintf(out.target, sizeof(out.target), "%s:sramecc+:xnack-", gfx950 ? "gfx950" : "gfx942");
    return true;
}

bool parse_devices(const char* list) {
    Device devices[kMaxDevices];
    int count = 0;
    char word[64];
    while (next_word(list, ',', word, sizeof(word))) {
        if (count == kMaxDevices || !parse_device(word, devices[count])) {
            return false;
        }
        ++count;
    }
    if (count == 0) {
        return false;
    }
    std::memcpy(g_devices, devices, sizeof(devices));
    g_count = count;
    return true;
}

template <typename T> struct Named {
    const char* name;
    T value;
};

template <typename T, std::size_t count> bool choose(const Named<T> (&names)[count], const char* text, T& value) {
    for (const Named<T>& named : names) {
        if (std::strcmp(named.name, text) == 0) {
            value = named.value;
            return true;
        }
    }
    return false;
}

constexpr Named<Timing> kTimings[] = {{"latency", Timing::latency},
                                      {"instant", Timing::instant},
                                      {"at_wait", Timing::at_wait},
                                      {"random", Timing::random},
                                      {"slow_index", Timing::slow_index}};
constexpr Named<Poison> kPoisons[] = {{"zero", Poison::zero}, {"finite", Poison::finite}, {"nan", Poison::nan}};
constexpr Named<bool> kSwitches[] = {{"0", false}, {"1", true}};

template <typename T> bool set_number(const char* text, T& target) {
    std::uint64_t value = 0;
    if (!number(text, value) || value > static_cast<T>(~T{0})) {
        return false;
    }
    target = static_cast<T>(value);
    return true;
}

bool set_option(Options& options, const char* name, const char* value) {
    if (std::strcmp(name, "timing") == 0) {
        return choose(kTimings, value, options.timing);
    }
    if (std::strcmp(name, "poison") == 0) {
        return choose(kPoisons, value, options.poison);
    }
    if (std::strcmp(name, "lds_latency") == 0) {
        return set_number(value, options.lds_latency);
    }
    if (std::strcmp(name, "memory_latency") == 0) {
        return set_number(value, options.memory_latency);
    }
    if (std::strcmp(name, "seed") == 0) {
        return set_number(value, options.seed);
    }
    if (std::strcmp(name, "budget") == 0) {
        return set_number(value, options.instruction_budget);
    }
    if (std::strcmp(name, "threads") == 0) {
        return set_number(value, options.threads);
    }
    if (std::strcmp(name, "uninitialised") == 0) {
        return choose(kSwitches, value, options.check_uninitialised);
    }
    if (std::strcmp(name, "hazards") == 0) {
        return choose(kSwitches, value, options.find_hazards);
    }
    return false;
}

bool parse_options(const char* list) {
    Options changed = g_options;
    char word[64];
    while (next_word(list, ',', word, sizeof(word))) {
        char* equals = std::strchr(word, '=');
        if (equals == nullptr) {
            return false;
        }
        *equals = '\0';
        if (!set_option(changed, word, equals + 1)) {
            return false;
        }
    }
    g_options = changed;
    return true;
}

void complain(const char* variable) {
    fprintf(stderr, "libaiter_mla_emulator: %s is malformed and not used\n", variable);
}

/// Locks, and reads the environment the first time.
class Settings {
public:
    Settings() {
        pthread_mutex_lock(&g_lock);
        if (g_ready) {
            return;
        }
        g_ready = true;
        const char* devices = std::getenv(kDevicesVariable);
        if (devices == nullptr || !parse_devices(devices)) {
            if (devices != nullptr) {
                complain(kDevicesVariable);
            }
            parse_devices("gfx942");
        }
        const char* options = std::getenv(kOptionsVariable);
        if (options != nullptr && !parse_options(options)) {
            complain(kOptionsVariable);
        }
    }

    ~Settings() {
        pthread_mutex_unlock(&g_lock);
    }

    Settings(const Settings&) = delete;
    Settings& operator=(const Settings&) = delete;
};

} // namespace

int device_count() {
    const Settings settings;
    return g_count;
}

bool device(int index, Device& out) {
    const Settings settings;
    if (index < 0 || index >= g_count) {
        return false;
    }
    out = g_devices[index];
    return true;
}

bool set_devices(const char* list) {
    const Settings settings;
    return parse_devices(list);
}

int runtime_version() {
    const Settings settings;
    return g_version;
}

void set_runtime_version(int version) {
    const Settings settings;
    g_version = version;
}

Options options() {
    const Settings settings;
    return g_options;
}

bool set_options(const char* list) {
    const Settings settings;
    return parse_options(list);
}

} // namespace emulator_host
