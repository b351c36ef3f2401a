// Memory that kernels may touch: slots handed out here, and memory of the caller registered where it is.
#pragma once

#include "../memory/ranges.hpp"
#include "array.hpp"

namespace emulator_host {

enum class Source : std::uint8_t { slot, registered, image, launch };

struct Allocation {
    std::uint64_t begin, end;
    Source source;
    bool writable;
    std::uint64_t slot, slot_bytes; // address space to give back
};

/// Memory alone in its slot: at least 2 GiB without any memory lie before and after it. Pages exist once they are touched.
/// Kernels may touch all of it, but of an image only what `add_range` says. Null when address space or memory is out.
void* allocate(std::size_t bytes, Source source);
/// False if it is not the start of an allocation of that source.
bool deallocate(void* memory, Source source);
/// Lets kernels read, and perhaps write, memory that is not a slot of its own.
bool add_range(std::uint64_t begin, std::uint64_t end, Source source, bool writable);
/// Removes the newest range of the source that begins there.
bool remove_range(std::uint64_t begin, Source source);

/// True if all bytes lie in one allocation, registered range or image.
bool is_device_memory(const void* memory, std::size_t bytes);

/// Extents that belong to the next launch of this thread only.
bool add_for_launch(std::uint64_t begin, std::uint64_t end, bool writable);

/// What a launch of this thread may touch, sorted and disjoint; overlapping ranges are one. Takes the thread's own extents.
class Snapshot {
public:
    /// False when memory is out.
    bool take();
    bool add(std::uint64_t begin, std::uint64_t end, bool writable);
    void finish();

    Ranges ranges() {
        return {ranges_.begin(), ranges_.size()};
    }

private:
    Array<Range> ranges_;
};

} // namespace emulator_host
