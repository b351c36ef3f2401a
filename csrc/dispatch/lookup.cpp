#include "lookup.hpp"

#include "dispatch_table.hpp"
#include "kernarg.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

namespace amla {

namespace {

using table::kArchs;
using table::kNodes;
using table::kRefusalBit;
using table::kRefusals;

constexpr std::uint16_t refusal_leaf(std::string_view code) {
    for (std::size_t index = 0; index < std::size(kRefusals); ++index) {
        if (code == kRefusals[index]) {
            return static_cast<std::uint16_t>(kRefusalBit | index);
        }
    }
    return 0;
}

// Refusals that are given before the diagram is walked. A table without one of them does not compile.
constexpr std::uint16_t kArchNotInWheel = refusal_leaf("arch_not_in_wheel");
constexpr std::uint16_t kOutDtype = refusal_leaf("out_dtype");
constexpr std::uint16_t kHeadDims = refusal_leaf("head_dims");
constexpr std::uint16_t kLogitCap = refusal_leaf("logit_cap");
constexpr std::uint16_t kDtypes = refusal_leaf("dtypes");
static_assert(kArchNotInWheel != 0 && kOutDtype != 0 && kHeadDims != 0 && kLogitCap != 0 && kDtypes != 0);

/// Every kernel is of an arch of this binary.
constexpr bool kernels_have_archs() {
    for (const table::KernelRow& kernel : table::kKernels) {
        if (kernel.arch >= std::size(kArchs)) {
            return false;
        }
    }
    return true;
}

static_assert(kernels_have_archs());

/// Every kernel that a plan names can be launched: the arithmetic below divides by these, the launch passes these sizes.
constexpr bool plans_are_launchable() {
    for (const table::PlanRow& plan : table::kPlans) {
        if (plan.kernel >= std::size(table::kKernels)) {
            return false;
        }
        const table::KernelRow& kernel = table::kKernels[plan.kernel];
        const bool fits = kernel.kernarg_size <= kKernargCapacity && kernel.last_arg_end <= kHostBlockBytes;
        const bool sized = kernel.heads > 0 && kernel.tokens > 0 && kernel.workgroup > 0;
        if (!fits || !sized || (!is_persistent(kernel.recipe) && kernel.sub_q == 0)) {
            return false;
        }
    }
    return true;
}

static_assert(plans_are_launchable());

constexpr TableView kView = {
    table::kKernels,      std::size(table::kKernels), table::kPlans, std::size(table::kPlans), kRefusals,
    std::size(kRefusals), std::size(kNodes),          kArchs,        std::size(kArchs),
};

/// Row of the dtype axis: bf16/bf16, bf16/fp8, fp8/fp8, bf16/byte; -1 for any other pair.
constexpr int dtype_pair(std::int32_t q, std::int32_t kv) {
    constexpr signed char kPairs[3][3] = {{0, 1, 3}, {-1, 2, -1}, {-1, -1, -1}};
    return kPairs[q][kv];
}

constexpr double kLargestDouble = 1.7976931348623157e308;

Code outside(Status& status, const char* field, const char* expected, std::int64_t got) {
    fail(status, AMLA_INVALID_PROBLEM);
    detail(status, "%s", field);
    detail(status, "%s", expected);
    return detail(status, "%lld", static_cast<long long>(got));
}

/// low <= value <= high with one comparison.
constexpr bool within(std::int32_t value, std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(value) - low <= high - low;
}

/// The check of the domain without the texts; check_domain then finds the field to name.
bool in_domain(const Problem& p) {
    const bool choices = p.arch >= AMLA_ARCH_OTHER && within(p.mode, 0, AMLA_MODE_SPLIT) && within(p.q_dtype, 0, AMLA_DTYPE_BYTE) &&
                         within(p.kv_dtype, 0, AMLA_DTYPE_BYTE) && within(p.out_dtype, 0, AMLA_OUT_FP32);
    const bool sizes = within(p.heads, 1, kMaxHeads) && within(p.q_len, 1, kMaxQLen) && within(p.page_size, 1, 1 << (kPageSizes - 1)) &&
                       std::has_single_bit(static_cast<std::uint32_t>(p.page_size));
    const bool positive = p.cp_world_size > 0 && p.batch > 0 && p.qk_head_dim > 0 && p.v_head_dim > 0 && p.kv_bytes >= 0;
    const bool flags = (p.causal | p.lse | p.ragged | p.sparse) <= 1;
    return choices && sizes && positive && flags && p.logit_cap >= 0.0 && p.logit_cap <= kLargestDouble;
}

} // namespace

const TableView& table_view() {
    return kView;
}

int arch_number(const char* processor) {
    for (std::size_t arch = 0; arch < std::size(kArchs); ++arch) {
        if (std::strcmp(processor, kArchs[arch].name) == 0) {
            return static_cast<int>(arch);
        }
    }
    return AMLA_ARCH_OTHER;
}

ArchList arch_list(const char* separator) {
    ArchList list = {};
    for (const table::ArchRow& arch : kArchs) {
        const std::size_t used = std::strlen(list.text);
        snprintf(list.text + used, sizeof(list.text) - used, "%s%s", used != 0 ? separator : "", arch.name);
    }
    return list;
}

const char* arch_name(int arch) {
    return kArchs[arch].name;
}

Code check_domain(const Problem& p, Status& status) {
    if (in_domain(p)) {
        return AMLA_OK;
    }

    struct Range {
        const char* field;
        const char* expected;
        std::int64_t value, low, high;
    };

    const Range ranges[] = {
        {"arch", "a number of amla_arch_number", p.arch, AMLA_ARCH_OTHER, INT32_MAX},
        {"mode", "persistent or split", p.mode, 0, AMLA_MODE_SPLIT},
        {"q_dtype", "bf16, fp8 or byte", p.q_dtype, 0, AMLA_DTYPE_BYTE},
        {"kv_dtype", "bf16, fp8 or byte", p.kv_dtype, 0, AMLA_DTYPE_BYTE},
        {"out_dtype", "bf16, fp16 or fp32", p.out_dtype, 0, AMLA_OUT_FP32},
        {"heads", "an integer from 1 to 128", p.heads, 1, kMaxHeads},
        {"q_len", "an integer from 1 to 16", p.q_len, 1, kMaxQLen},
        {"page_size", "a power of two from 1 to 256", p.page_size, 1, 1 << (kPageSizes - 1)},
        {"cp_world_size", "an integer, 1 or more", p.cp_world_size, 1, INT32_MAX},
        {"batch", "an integer, 1 or more", p.batch, 1, INT32_MAX},
        {"qk_head_dim", "an integer, 1 or more", p.qk_head_dim, 1, INT32_MAX},
        {"v_head_dim", "an integer, 1 or more", p.v_head_dim, 1, INT32_MAX},
        {"kv_bytes", "an integer, 0 or more", p.kv_bytes, 0, INT64_MAX},
        {"causal", "0 or 1", p.causal, 0, 1},
        {"lse", "0 or 1", p.lse, 0, 1},
        {"ragged", "0 or 1", p.ragged, 0, 1},
        {"sparse", "0 or 1", p.sparse, 0, 1},
    };
    for (const Range& range : ranges) {
        if (range.value < range.low || range.value > range.high) {
            return outside(status, range.field, range.expected, range.value);
        }
    }
    if (!std::has_single_bit(static_cast<std::uint32_t>(p.page_size))) {
        return outside(status, "page_size", "a power of two from 1 to 256", p.page_size);
    }
    fail(status, AMLA_INVALID_PROBLEM);
    detail(status, "logit_cap");
    detail(status, "a finite number, 0 or more");
    return detail(status, "%g", p.logit_cap);
}

std::uint16_t lookup_leaf(const Problem& p) {
    if (static_cast<std::uint32_t>(p.arch) >= std::size(kArchs)) {
        return kArchNotInWheel;
    }
    if (p.out_dtype != AMLA_OUT_BF16) {
        return kOutDtype;
    }
    if (p.qk_head_dim != 576 || p.v_head_dim != 512) {
        return kHeadDims;
    }
    if (p.logit_cap != 0.0) {
        return kLogitCap;
    }
    const int pair = dtype_pair(p.q_dtype, p.kv_dtype);
    if (pair < 0) {
        return kDtypes;
    }
    // Each axis' place is known before its node: adding it to the base address leaves one load per axis on the critical path.
    std::uint64_t node = static_cast<std::uint64_t>(kArchs[p.arch].root);
    const auto step = [&node](std::int32_t place) {
        const table::Node* column = kNodes + place;
        asm("" : "+r"(column)); // or the compiler adds the two numbers instead
        node = column[node];
    };
    step(p.mode);
    step(pair);
    step(p.heads - 1);
    step(p.q_len - 1);
    step(p.ragged);
    step(std::countr_zero(static_cast<std::uint32_t>(p.page_size)));
    step(p.causal);
    step(p.lse);
    step(p.cp_world_size > 1);
    step(p.sparse);
    step(p.kv_bytes > kKvSpanLimit);
    return static_cast<std::uint16_t>(node);
}

Plan make_plan(std::uint16_t leaf, const Problem& problem) {
    Plan plan = {};
    plan.leaf = leaf;
    if ((leaf & kRefusalBit) != 0) {
        return plan;
    }
    const table::PlanRow& row = table::kPlans[leaf];
    const table::KernelRow& kernel = table::kKernels[row.kernel];
    const std::uint32_t heads = static_cast<std::uint32_t>(problem.heads);
    const std::uint32_t q_len = static_cast<std::uint32_t>(problem.q_len);
    const std::uint32_t groups = (heads + kernel.heads - 1) / kernel.heads;
    const std::uint32_t tokens = row.single != 0 || q_len < 2 ? 1 : (q_len < kernel.tokens ? q_len : kernel.tokens);
    const bool by_heads = kernel.recipe == table::Recipe::persistent_rows;
    plan.kernel = row.kernel;
    plan.padded_heads = static_cast<std::uint16_t>(groups * kernel.heads);
    plan.head_groups = static_cast<std::uint16_t>(groups);
    plan.tokens_per_item = static_cast<std::uint16_t>(tokens);
    plan.items_per_request = static_cast<std::uint16_t>(groups * ((q_len + tokens - 1) / tokens));
    plan.rows_per_item = by_heads ? kernel.heads : kernel.heads * tokens;
    return plan;
}

Code lookup(const Problem& problem, Plan& plan, Status& status) {
    if (const Code code = check_domain(problem, status); code != AMLA_OK) {
        return code;
    }
    plan = make_plan(lookup_leaf(problem), problem);
    return AMLA_OK;
}

void lookup_domain(std::int32_t arch, std::uint16_t* leaves) {
    constexpr std::int32_t kQ[kDtypePairs] = {AMLA_DTYPE_BF16, AMLA_DTYPE_BF16, AMLA_DTYPE_FP8, AMLA_DTYPE_BF16};
    constexpr std::int32_t kKv[kDtypePairs] = {AMLA_DTYPE_BF16, AMLA_DTYPE_FP8, AMLA_DTYPE_FP8, AMLA_DTYPE_BYTE};
    Problem problem = {};
    problem.arch = arch;
    problem.batch = 1;
    problem.qk_head_dim = 576;
    problem.v_head_dim = 512;
    for (std::uint32_t index = 0; index < kDomainSize; ++index) {
        std::uint32_t rest = index;
        const auto take = [&rest](std::uint32_t width) {
            const std::uint32_t value = rest % width;
            rest /= width;
            return value;
        };
        problem.kv_bytes = take(2) != 0 ? kKvSpanLimit + 1 : kKvSpanLimit;
        problem.sparse = static_cast<std::uint8_t>(take(2));
        problem.cp_world_size = static_cast<std::int32_t>(1 + take(2));
        problem.lse = static_cast<std::uint8_t>(take(2));
        problem.causal = static_cast<std::uint8_t>(take(2));
        problem.page_size = 1 << take(kPageSizes);
        problem.ragged = static_cast<std::uint8_t>(take(2));
        problem.q_len = static_cast<std::int32_t>(1 + take(kMaxQLen));
        problem.heads = static_cast<std::int32_t>(1 + take(kMaxHeads));
        const std::uint32_t pair = take(kDtypePairs);
        problem.q_dtype = kQ[pair];
        problem.kv_dtype = kKv[pair];
        problem.mode = static_cast<std::int32_t>(take(2));
        leaves[index] = lookup_leaf(problem);
    }
}

} // namespace amla
