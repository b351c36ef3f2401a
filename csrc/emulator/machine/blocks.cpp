#include "blocks.hpp"

#include <cstdint>
#include <pthread.h>
#include <sys/mman.h>

namespace emulator {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kKept = 64;

struct Kept {
    void* block;
    std::size_t bytes;
};

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Kept g_kept[kKept];
int g_count = 0;

constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

void* take_kept(std::size_t bytes) {
    void* found = nullptr;
    pthread_mutex_lock(&g_lock);
    for (int index = 0; index < g_count && found == nullptr; ++index) {
        if (g_kept[index].bytes == bytes) {
            found = g_kept[index].block;
            g_kept[index] = g_kept[--g_count];
        }
    }
    pthread_mutex_unlock(&g_lock);
    return found;
}

} // namespace

void* take_block(std::size_t bytes) {
    const std::size_t size = rounded(bytes);
    if (void* kept = take_kept(size)) {
        return kept;
    }
    // Mapped larger and cut to a boundary of huge pages.
    void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return nullptr;
    }
    auto* start = static_cast<char*>(mapped);
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(start) % kHugePage) % kHugePage;
    if (before != 0) {
        munmap(start, before);
    }
    munmap(start + before + size, kHugePage - before);
    madvise(start + before, size, MADV_HUGEPAGE); // a wish: small pages only cost time
    return start + before;
}

void give_block(void* block, std::size_t bytes) {
    pthread_mutex_lock(&g_lock);
    const bool kept = g_count < kKept;
    if (kept) {
        g_kept[g_count++] = {block, rounded(bytes)};
    }
    pthread_mutex_unlock(&g_lock);
    if (!kept) {
        munmap(block, rounded(bytes));
    }
}

} // namespace emulator
