// A bounded reader of msgpack, as far as the metadata of code objects uses it.
#pragma once

#include "code_object.hpp"

#include <cstring>

namespace emulator_host {

class Msgpack {
public:
    explicit Msgpack(Bytes bytes) : at_(bytes.data), end_(bytes.data + bytes.size) {}

    bool failed() const {
        return failed_;
    }

    /// Entries of a map or an array; 0 and a failure if something else comes next.
    std::uint32_t map() {
        return container(0x80, 0xde);
    }

    std::uint32_t array() {
        return container(0x90, 0xdc);
    }

    std::uint64_t number() {
        const std::uint8_t tag = byte();
        if (tag < 0x80) {
            return tag;
        }
        switch (tag) {
        case 0xcc:
        case 0xd0:
            return big_endian(1);
        case 0xcd:
        case 0xd1:
            return big_endian(2);
        case 0xce:
        case 0xd2:
            return big_endian(4);
        case 0xcf:
        case 0xd3:
            return big_endian(8);
        default:
            failed_ = true;
            return 0;
        }
    }

    Bytes text() {
        const std::uint8_t tag = byte();
        std::uint64_t length = 0;
        if ((tag & 0xe0) == 0xa0) {
            length = tag & 31;
        } else if (tag >= 0xd9 && tag <= 0xdb) {
            length = big_endian(1 << (tag - 0xd9));
        } else {
            failed_ = true;
        }
        return take(length);
    }

    /// Passes over the next value, whatever it is.
    void skip() {
        // Values left to pass over; a container adds its entries. Every step consumes a byte, so hostile counts end with the data.
        std::uint64_t left = 1;
        while (left > 0 && !failed_) {
            left -= 1;
            left += skip_one();
        }
    }

private:
    std::uint64_t skip_one() {
        if (at_ == end_) {
            failed_ = true;
            return 0;
        }
        const std::uint8_t tag = *at_;
        if ((tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf) {
            return std::uint64_t{map()} * 2;
        }
        if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd) {
            return array();
        }
        if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) {
            text();
            return 0;
        }
        byte();
        if (tag >= 0xc4 && tag <= 0xc6) {
            take(big_endian(1 << (tag - 0xc4)));
        } else if (tag == 0xca || tag == 0xcb) {
            take(tag == 0xca ? 4 : 8);
        } else if (tag >= 0xcc && tag <= 0xd3) {
            take(std::uint64_t{1} << ((tag - 0xcc) & 3));
        } else if (tag >= 0xc1 && tag < 0xe0 && tag != 0xc2 && tag != 0xc3) {
            failed_ = true; // extension types do not occur
        }
        return 0;
    }

    std::uint32_t container(std::uint8_t fixed, std::uint8_t wide) {
        const std::uint8_t tag = byte();
        if ((tag & 0xf0) == fixed) {
            return tag & 15;
        }
        if (tag == wide || tag == wide + 1) {
            return static_cast<std::uint32_t>(big_endian(tag == wide ? 2 : 4));
        }
        failed_ = true;
        return 0;
    }

    std::uint8_t byte() {
        const Bytes one = take(1);
        return one.size == 1 ? *one.data : 0xc1;
    }

    std::uint64_t big_endian(int bytes) {
        const Bytes raw = take(static_cast<std::uint64_t>(bytes));
        std::uint64_t value = 0;
        for (std::size_t index = 0; index < raw.size; ++index) {
            value = value << 8 | raw.data[index];
        }
        return value;
    }

    Bytes take(std::uint64_t count) {
        if (count > static_cast<std::uint64_t>(end_ - at_)) {
            failed_ = true;
            at_ = end_;
            return {at_, 0};
        }
        const Bytes taken = {at_, static_cast<std::size_t>(count)};
        at_ += count;
        return taken;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool failed_ = false;
};

inline bool same_text(Bytes bytes, const char* text) {
    return bytes.size == std::strlen(text) && std::memcmp(bytes.data, text, bytes.size) == 0;
}

} // namespace emulator_host
