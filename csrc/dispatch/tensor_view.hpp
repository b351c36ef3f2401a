// A tensor as the launch sees it, and the part of DLPack that describes it (declared here from its published layout).
#pragma once

#include <cstddef>
#include <cstdint>

namespace amla {

struct DlDevice {
    std::int32_t type;
    std::int32_t id;
};

struct DlDtype {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

/// DLTensor of DLPack 1.x.
struct DlTensor {
    void* data;
    DlDevice device;
    std::int32_t ndim;
    DlDtype dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

static_assert(sizeof(DlTensor) == 48);

inline constexpr std::int32_t kDlCpu = 1;
inline constexpr std::int32_t kDlCuda = 2; // what torch says for ROCm tensors depends on its build
inline constexpr std::int32_t kDlRocm = 10;

inline constexpr DlDtype kInt32 = {0, 32, 1};
inline constexpr DlDtype kUint8 = {1, 8, 1};
inline constexpr DlDtype kUint64 = {1, 64, 1};
inline constexpr DlDtype kFloat32 = {2, 32, 1};
inline constexpr DlDtype kBfloat16 = {4, 16, 1};
inline constexpr DlDtype kFloat8E4m3fn = {10, 8, 1};
inline constexpr DlDtype kFloat8E4m3fnuz = {11, 8, 1};

constexpr bool same(DlDtype left, DlDtype right) {
    return left.code == right.code && left.bits == right.bits && left.lanes == right.lanes;
}

/// An argument: absent (`present` false), or a tensor whose shape and strides belong to the caller's object.
struct TensorView {
    DlTensor dl;
    bool present;

    void* address() const {
        return present && dl.data != nullptr ? static_cast<char*>(dl.data) + dl.byte_offset : nullptr;
    }

    /// Bytes from the first element to the end of the last.
    std::size_t extent() const {
        std::int64_t last = 0;
        for (std::int32_t axis = 0; axis < dl.ndim; ++axis) {
            if (dl.shape[axis] == 0) {
                return 0;
            }
            last += (dl.shape[axis] - 1) * dl.strides[axis];
        }
        return static_cast<std::size_t>(last + 1) * dl.dtype.bits / 8;
    }

    std::int64_t count() const {
        std::int64_t product = 1;
        for (std::int32_t axis = 0; axis < dl.ndim; ++axis) {
            product *= dl.shape[axis];
        }
        return product;
    }
};

} // namespace amla
