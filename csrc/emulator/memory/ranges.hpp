// The device memory a launch may touch: a sorted list of byte ranges of this process.
//
// A device address is the host address of the byte. Memory of hipMalloc lies alone in a large slot of address space, so that an
// access outside it is seen to the byte; memory of the caller (CPU tensors) is registered where it is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator_host {

struct Range {
    std::uint64_t begin, end; // end exclusive
    bool writable;
};

/// Sorted by begin, disjoint.
struct Ranges {
    const Range* data;
    std::size_t count;

    /// The range that holds `address`, or null.
    const Range* find(std::uint64_t address) const {
        std::size_t low = 0;
        std::size_t high = count;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (data[middle].end <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < count && data[low].begin <= address ? data + low : nullptr;
    }
};

} // namespace emulator_host
