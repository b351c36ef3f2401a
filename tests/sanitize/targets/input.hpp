// The bytes of a fuzzer, taken piece by piece; zeros once they have run out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace fuzz {

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}

    template <typename T> T take() {
        T value = {};
        const std::size_t count = left_ < sizeof(T) ? left_ : sizeof(T);
        std::memcpy(&value, at_, count);
        at_ += count;
        left_ -= count;
        return value;
    }

    /// A number below `limit`.
    unsigned below(unsigned limit) {
        return take<std::uint16_t>() % limit;
    }

    bool empty() const {
        return left_ == 0;
    }

    const std::uint8_t* rest() const {
        return at_;
    }

    std::size_t left() const {
        return left_;
    }

private:
    const std::uint8_t* at_;
    std::size_t left_;
};

/// A copy that ends where the memory ends, so that a sanitizer sees a read of the byte behind it.
class Copy {
public:
    Copy(const std::uint8_t* data, std::size_t size) : data_(static_cast<std::uint8_t*>(malloc(size))) {
        if (size != 0) {
            std::memcpy(data_, data, size);
        }
    }

    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    ~Copy() {
        free(data_);
    }

    std::uint8_t* data() const {
        return data_;
    }

private:
    std::uint8_t* data_;
};

/// What must hold whatever the input is; a sanitizer reports the abort with its stack.
inline void require(bool holds) {
    if (!holds) {
        abort();
    }
}

} // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
