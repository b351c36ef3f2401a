// A growable array of plain values.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace emulator_host {

template <typename T> class Array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Array() = default;
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    ~Array() {
        free(data_);
    }

    /// False when memory is out; the array is as before then.
    bool add(const T& value) {
        if (count_ == room_) {
            const std::size_t room = room_ == 0 ? 16 : 2 * room_;
            auto* larger = static_cast<T*>(realloc(data_, room * sizeof(T)));
            if (larger == nullptr) {
                return false;
            }
            data_ = larger;
            room_ = room;
        }
        data_[count_++] = value;
        return true;
    }

    void remove(std::size_t index) {
        std::memmove(data_ + index, data_ + index + 1, (count_ - index - 1) * sizeof(T));
        count_ -= 1;
    }

    void shrink(std::size_t count) {
        count_ = count;
    }

    std::size_t size() const {
        return count_;
    }

    T& operator[](std::size_t index) {
        return data_[index];
    }

    const T& operator[](std::size_t index) const {
        return data_[index];
    }

    T* begin() {
        return data_;
    }

    T* end() {
        return data_ + count_;
    }

private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

} // namespace emulator_host
