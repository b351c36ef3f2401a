// From a problem to its only answer: scalar checks, walk of the decision diagram, arithmetic of the plan.
#pragma once

#include "status.hpp"
#include "table_types.hpp"

#include <cstdint>

namespace amla {

using Problem = amla_problem;
using Plan = amla_plan;

inline constexpr int kMaxHeads = 128;
inline constexpr int kMaxQLen = 16;
inline constexpr int kPageSizes = 9; // 1, 2, 4 .. 256
inline constexpr int kDtypePairs = 4;
inline constexpr std::int64_t kKvSpanLimit = std::int64_t{1} << 32;
/// Problems of one arch that the diagram distinguishes: the product of its axes.
inline constexpr std::uint32_t kDomainSize = 2U * kDtypePairs * kMaxHeads * kMaxQLen * 2U * kPageSizes * 2U * 2U * 2U * 2U * 2U;

/// Rows of the generated table, for callers that may not include it.
struct TableView {
    const table::KernelRow* kernels;
    std::uint32_t kernel_count;
    const table::PlanRow* plans;
    std::uint32_t plan_count;
    const char* const* refusals;
    std::uint32_t refusal_count;
    std::uint32_t node_count;
    const table::ArchRow* archs;
    std::uint32_t arch_count;
};

/// The table this binary was compiled with.
const TableView& table_view();

/// Number of a processor name such as gfx942, or AMLA_ARCH_OTHER.
int arch_number(const char* processor);

struct ArchList {
    char text[128];
};

/// Names of the archs of this binary with `separator` between them, cut to fit.
ArchList arch_list(const char* separator);

/// Name of an arch of this binary.
const char* arch_name(int arch);

/// AMLA_OK, or AMLA_INVALID_PROBLEM for a value outside the problem domain.
Code check_domain(const Problem& problem, Status& status);

/// Leaf of a problem inside the domain: plan or refusal. Never fails.
std::uint16_t lookup_leaf(const Problem& problem);

/// Concrete plan of a leaf for a problem; only `leaf` is set for a refusal.
Plan make_plan(std::uint16_t leaf, const Problem& problem);

/// check_domain, lookup_leaf and make_plan in one.
Code lookup(const Problem& problem, Plan& plan, Status& status);

/// Answers every problem of `arch`, in the order of the diagram's axes (last axis fastest), into `leaves[kDomainSize]`.
void lookup_domain(std::int32_t arch, std::uint16_t* leaves);

} // namespace amla
