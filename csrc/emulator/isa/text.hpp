// Text in a buffer of fixed size; what does not fit is dropped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

class Text {
public:
    Text(char* buffer, std::size_t capacity) : buffer(buffer), capacity(capacity) {
        if (capacity != 0) {
            buffer[0] = 0;
        }
    }

    Text& operator<<(char c) {
        if (length + 1 < capacity) {
            buffer[length++] = c;
            buffer[length] = 0;
        }
        return *this;
    }

    Text& operator<<(const char* text) {
        while (*text != 0) {
            *this << *text++;
        }
        return *this;
    }

    Text& decimal(std::int64_t value) {
        if (value < 0) {
            *this << '-';
            return digits(static_cast<std::uint64_t>(-value), 10);
        }
        return digits(static_cast<std::uint64_t>(value), 10);
    }

    Text& hex(std::uint64_t value) {
        *this << "0x";
        return digits(value, 16);
    }

    /// What stands before an operand: a space before the first, a comma too before the others.
    Text& separate() {
        *this << (first ? " " : ", ");
        first = false;
        return *this;
    }

private:
    Text& digits(std::uint64_t value, unsigned base) {
        char reversed[20];
        int count = 0;
        do {
            reversed[count++] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        while (count != 0) {
            *this << reversed[--count];
        }
        return *this;
    }

    char* buffer;
    std::size_t capacity;
    std::size_t length = 0;
    bool first = true;
};

} // namespace emulator
