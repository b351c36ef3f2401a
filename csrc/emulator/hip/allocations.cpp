#include "allocations.hpp"

#include <algorithm>
#include <pthread.h>
#include <sys/mman.h>

namespace emulator_host {

namespace {

constexpr std::size_t kGuard = std::size_t{2} << 30;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMaxDense = std::size_t{1} << 30; // larger ones may be sparse, where a huge page for each touch is too much
constexpr std::size_t kMaxBytes = std::size_t{1} << 44;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

// Never destroyed: threads may launch while the process ends.
Array<Allocation>& table() {
    alignas(Array<Allocation>) static unsigned char storage[sizeof(Array<Allocation>)];
    return *reinterpret_cast<Array<Allocation>*>(storage);
}

struct Extents {
    Range* data;
    std::size_t count, room;
};

thread_local Extents g_launch = {};

class Lock {
public:
    Lock() {
        pthread_mutex_lock(&g_lock);
    }

    ~Lock() {
        pthread_mutex_unlock(&g_lock);
    }

    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

/// Gives the pages of a slot back, and its addresses only after many more: what still points there faults for a while.
void retire(std::uint64_t slot, std::size_t bytes) {
    constexpr int kRetired = 64;

    struct Slot {
        void* start;
        std::size_t bytes;
    };

    static Slot retired[kRetired];
    static int next = 0;
    Slot& oldest = retired[next];
    next = (next + 1) % kRetired;
    if (oldest.start != nullptr) {
        munmap(oldest.start, oldest.bytes);
    }
    oldest = {reinterpret_cast<void*>(slot), bytes};
    if (mmap(oldest.start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
        munmap(oldest.start, bytes);
        oldest.start = nullptr;
    }
}

} // namespace

void* allocate(std::size_t bytes, Source source) {
    if (bytes == 0 || bytes > kMaxBytes) {
        return nullptr;
    }
    const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
    const std::size_t whole = pages + 2 * kGuard + kHugePage;
    void* slot = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slot == MAP_FAILED) {
        return nullptr;
    }
    std::uint8_t* memory = static_cast<std::uint8_t*>(slot) + kGuard;
    memory += (kHugePage - reinterpret_cast<std::uint64_t>(memory) % kHugePage) % kHugePage;
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    const std::uint64_t end = source == Source::image ? begin : begin + bytes; // the ranges of an image are its segments
    const Allocation allocation = {begin, end, source, true, reinterpret_cast<std::uint64_t>(slot), whole};
    const Lock lock;
    if (mprotect(memory, pages, PROT_READ | PROT_WRITE) != 0 || !table().add(allocation)) {
        munmap(slot, whole);
        return nullptr;
    }
    if (pages >= kHugePage && pages <= kMaxDense) {
        madvise(memory, pages, MADV_HUGEPAGE); // a wish
    }
    return memory;
}

bool deallocate(void* memory, Source source) {
    const Lock lock;
    Array<Allocation>& all = table();
    for (std::size_t index = 0; index < all.size(); ++index) {
        const Allocation allocation = all[index];
        if (allocation.begin == reinterpret_cast<std::uint64_t>(memory) && allocation.source == source && allocation.slot_bytes != 0) {
            all.remove(index);
            retire(allocation.slot, allocation.slot_bytes);
            return true;
        }
    }
    return false;
}

bool add_range(std::uint64_t begin, std::uint64_t end, Source source, bool writable) {
    if (begin == 0 || end <= begin) {
        return false;
    }
    const Lock lock;
    return table().add({begin, end, source, writable, 0, 0});
}

bool remove_range(std::uint64_t begin, Source source) {
    const Lock lock;
    Array<Allocation>& all = table();
    for (std::size_t index = all.size(); index > 0; --index) {
        const Allocation& allocation = all[index - 1];
        if (allocation.begin == begin && allocation.source == source && allocation.slot_bytes == 0) {
            all.remove(index - 1);
            return true;
        }
    }
    return false;
}

bool is_device_memory(const void* memory, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uint64_t>(memory);
    const Lock lock;
    for (const Allocation& allocation : table()) {
        if (begin >= allocation.begin && begin <= allocation.end && bytes <= allocation.end - begin) {
            return true;
        }
    }
    return false;
}

bool add_for_launch(std::uint64_t begin, std::uint64_t end, bool writable) {
    if (begin == 0 || end <= begin) {
        return false;
    }
    if (g_launch.count == g_launch.room) {
        const std::size_t room = g_launch.room == 0 ? 32 : 2 * g_launch.room;
        auto* larger = static_cast<Range*>(realloc(g_launch.data, room * sizeof(Range)));
        if (larger == nullptr) {
            return false;
        }
        g_launch.data = larger;
        g_launch.room = room;
    }
    g_launch.data[g_launch.count++] = {begin, end, writable};
    return true;
}

bool Snapshot::take() {
    bool complete = true;
    {
        const Lock lock;
        for (const Allocation& allocation : table()) {
            if (allocation.begin != allocation.end) {
                complete = ranges_.add({allocation.begin, allocation.end, allocation.writable}) && complete;
            }
        }
    }
    for (std::size_t index = 0; index < g_launch.count; ++index) {
        complete = ranges_.add(g_launch.data[index]) && complete;
    }
    g_launch.count = 0;
    return complete;
}

bool Snapshot::add(std::uint64_t begin, std::uint64_t end, bool writable) {
    return ranges_.add({begin, end, writable});
}

void Snapshot::finish() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (std::size_t index = 0; index < ranges_.size(); ++index) {
        const Range next = ranges_[index];
        if (kept > 0 && next.begin < ranges_[kept - 1].end) {
            Range& last = ranges_[kept - 1];
            last.end = next.end > last.end ? next.end : last.end;
            last.writable = last.writable || next.writable;
        } else {
            ranges_[kept++] = next;
        }
    }
    ranges_.shrink(kept);
}

} // namespace emulator_host
