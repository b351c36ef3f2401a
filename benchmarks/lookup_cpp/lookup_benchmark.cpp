// Time of a table lookup over random problems, printed as one JSON object.
//
// "independent" lookups may overlap in the processor; in a "dependent" chain each problem is chosen by the answer before it,
// which is what a single call pays. Three in four problems are plain decodes, the rest use every axis.
#include "lookup.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <time.h>

namespace {

constexpr std::uint32_t kProblems = 1 << 9;
constexpr int kRounds = 9;
constexpr std::uint32_t kPasses = 1024;

std::uint64_t g_random = 0x9e3779b97f4a7c15;

std::uint32_t random_below(std::uint32_t limit) {
    g_random ^= g_random << 13;
    g_random ^= g_random >> 7;
    g_random ^= g_random << 17;
    return static_cast<std::uint32_t>((g_random >> 33) % limit);
}

amla::Problem random_problem() {
    constexpr int kQ[] = {AMLA_DTYPE_BF16, AMLA_DTYPE_BF16, AMLA_DTYPE_FP8, AMLA_DTYPE_BF16};
    constexpr int kKv[] = {AMLA_DTYPE_BF16, AMLA_DTYPE_FP8, AMLA_DTYPE_FP8, AMLA_DTYPE_BYTE};
    const auto any = [](std::uint32_t limit) { return static_cast<std::int32_t>(random_below(limit)); };
    const std::uint32_t pair = random_below(amla::kDtypePairs);
    amla::Problem p = {};
    p.arch = any(2);
    p.mode = any(2);
    p.q_dtype = kQ[pair];
    p.kv_dtype = kKv[pair];
    p.heads = 1 + any(amla::kMaxHeads);
    p.q_len = 1 + any(amla::kMaxQLen);
    p.page_size = 1 << any(amla::kPageSizes);
    p.cp_world_size = 1;
    p.batch = 1 + any(512);
    p.qk_head_dim = 576;
    p.v_head_dim = 512;
    p.causal = static_cast<std::uint8_t>(any(2));
    if (any(4) == 0) {
        p.cp_world_size = 1 + any(2);
        p.lse = static_cast<std::uint8_t>(any(2));
        p.ragged = static_cast<std::uint8_t>(any(2));
        p.sparse = static_cast<std::uint8_t>(any(2));
        p.kv_bytes = amla::kKvSpanLimit + any(2);
    } else {
        p.page_size = 1;
    }
    return p;
}

double now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Best of some rounds, in ns per call. `step` takes a problem's number and returns the next one.
template <typename Step> double best(Step step) {
    double least = 1e30;
    for (int round = 0; round < kRounds; ++round) {
        const double start = now_ns();
        std::uint32_t number = 0;
        for (std::uint32_t call = 0; call < kPasses * kProblems; ++call) {
            number = step(call, number);
        }
        const double time = (now_ns() - start) / (static_cast<double>(kPasses) * kProblems);
        least = time < least ? time : least;
        asm volatile("" : : "r"(number));
    }
    return least;
}

} // namespace

int main() {
    auto* problems = static_cast<amla::Problem*>(calloc(kProblems, sizeof(amla::Problem)));
    if (problems == nullptr) {
        return 1;
    }
    for (std::uint32_t index = 0; index < kProblems; ++index) {
        problems[index] = random_problem();
    }
    amla::Plan plan = {};
    amla::Status status;
    std::uint32_t served = 0;
    for (std::uint32_t index = 0; index < kProblems; ++index) {
        served += amla::lookup_leaf(problems[index]) < amla::table::kRefusalBit ? 1 : 0;
    }
    const auto after = [](std::uint32_t number, std::uint32_t leaf) { return (number * 5 + leaf + 1) % kProblems; };
    const double leaf_independent =
        best([&](std::uint32_t call, std::uint32_t sum) { return sum + amla::lookup_leaf(problems[call % kProblems]); });
    const double leaf_dependent =
        best([&](std::uint32_t, std::uint32_t number) { return after(number, amla::lookup_leaf(problems[number])); });
    const double full_independent = best([&](std::uint32_t call, std::uint32_t sum) {
        amla::lookup(problems[call % kProblems], plan, status);
        return sum + plan.leaf;
    });
    const double full_dependent = best([&](std::uint32_t, std::uint32_t number) {
        amla::lookup(problems[number], plan, status);
        return after(number, plan.leaf);
    });
    printf("{\"problems\": %u, \"served\": %u, \"node_bytes\": %zu, ", kProblems, served,
           amla::table_view().node_count * sizeof(amla::table::Node));
    printf("\"leaf_independent_ns\": %.2f, \"leaf_dependent_ns\": %.2f, ", leaf_independent, leaf_dependent);
    printf("\"plan_independent_ns\": %.2f, \"plan_dependent_ns\": %.2f}\n", full_independent, full_dependent);
    free(problems);
    return 0;
}
