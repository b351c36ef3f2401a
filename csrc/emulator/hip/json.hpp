// Text of a report, grown as it is written.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulator_host {

class Json {
public:
    Json() = default;
    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;

    ~Json() {
        free(text_);
    }

    void clear() {
        length_ = 0;
        first_ = true;
        put("");
    }

    /// A key, or nothing inside an array; then the value follows.
    void key(const char* name) {
        if (!first_) {
            put(",");
        }
        first_ = false;
        if (name != nullptr) {
            put("\"%s\":", name);
        }
    }

    void open(const char* name, char bracket) {
        key(name);
        put("%c", bracket);
        first_ = true;
    }

    void close(char bracket) {
        put("%c", bracket);
        first_ = false;
    }

    void number(const char* name, std::uint64_t value) {
        key(name);
        put("%llu", static_cast<unsigned long long>(value));
    }

    void signed_number(const char* name, std::int64_t value) {
        key(name);
        put("%lld", static_cast<long long>(value));
    }

    /// Addresses are text: readers of JSON keep no more than 53 bits of a number.
    void address(const char* name, std::uint64_t value) {
        key(name);
        put("\"0x%llx\"", static_cast<unsigned long long>(value));
    }

    void text(const char* name, const char* value) {
        key(name);
        put("\"");
        for (; *value != '\0'; ++value) {
            const auto byte = static_cast<unsigned char>(*value);
            if (byte == '"' || byte == '\\') {
                put("\\%c", byte);
            } else if (byte < 0x20) {
                put("\\u%04x", byte);
            } else {
                put("%c", byte);
            }
        }
        put("\"");
    }

    void boolean(const char* name, bool value) {
        key(name);
        put(value ? "true" : "false");
    }

    const char* c_str() const {
        return text_ != nullptr ? text_ : "";
    }

private:
    __attribute__((format(printf, 2, 3))) void put(const char* format, ...) {
        for (int attempt = 0; attempt < 2; ++attempt) {
            va_list arguments;
            va_start(arguments, format);
            const std::size_t left = room_ - length_;
            const int written = vsnprintf(text_ != nullptr ? text_ + length_ : nullptr, left, format, arguments);
            va_end(arguments);
            if (written >= 0 && static_cast<std::size_t>(written) < left) {
                length_ += static_cast<std::size_t>(written);
                return;
            }
            const std::size_t room = 2 * room_ + 4096 + static_cast<std::size_t>(written < 0 ? 0 : written);
            auto* larger = static_cast<char*>(realloc(text_, room));
            if (larger == nullptr) {
                return; // a report that memory has no room for stays cut
            }
            text_ = larger;
            room_ = room;
        }
    }

    char* text_ = nullptr;
    std::size_t length_ = 0;
    std::size_t room_ = 0;
    bool first_ = true;
};

} // namespace emulator_host
