#include "level.hpp"

#include <cpuid.h>
#include <cstdlib>

namespace emulator_v1 {
extern const emulator_host::Engine kEngine;
}

namespace emulator_v3 {
extern const emulator_host::Engine kEngine;
}

namespace emulator_v4 {
extern const emulator_host::Engine kEngine;
}

namespace emulator_host {

namespace {

constexpr unsigned kLeaf1 = 1U << 12 | 1U << 22 | 1U << 23 | 1U << 27 | 1U << 28 | 1U << 29; // fma, movbe, popcnt, osxsave, avx, f16c
constexpr unsigned kLeaf7 = 1U << 3 | 1U << 5 | 1U << 8;                                     // bmi1, avx2, bmi2
constexpr unsigned kAvx512 = 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 | 1U << 31;           // f, dq, cd, bw, vl
constexpr unsigned kYmmState = 6;
constexpr unsigned kZmmState = 0xe6;

unsigned saved_state() {
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

int cpu_level() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kLeaf1) != kLeaf1) {
        return 1;
    }
    const unsigned state = saved_state();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kLeaf7) != kLeaf7 || (state & kYmmState) != kYmmState) {
        return 1;
    }
    const bool avx512 = (b & kAvx512) == kAvx512 && (state & kZmmState) == kZmmState;
    unsigned extended = 0;
    if (__get_cpuid(0x80000001, &a, &b, &extended, &d) == 0 || (extended & (1U << 5)) == 0) { // lzcnt
        return 1;
    }
    return avx512 ? 4 : 3;
}

const Engine* choose() {
    const int level = cpu_level();
    const char* wanted = std::getenv("AITER_MLA_EMULATOR_LEVEL");
    const int limit = wanted != nullptr && wanted[0] >= '1' && wanted[0] <= '4' && wanted[1] == '\0' ? wanted[0] - '0' : 4;
    if (level >= 4 && limit >= 4) {
        return &emulator_v4::kEngine;
    }
    return level >= 3 && limit >= 3 ? &emulator_v3::kEngine : &emulator_v1::kEngine;
}

} // namespace

const Engine& engine() {
    static const Engine* chosen = nullptr;
    // Threads that come here together choose the same.
    const Engine* known = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    if (known == nullptr) {
        known = choose();
        __atomic_store_n(&chosen, known, __ATOMIC_RELEASE);
    }
    return *known;
}

} // namespace emulator_host
