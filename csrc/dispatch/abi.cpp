#include "abi.h"

#include "lookup.hpp"

// Layout that callers outside of this binary rely on.
static_assert(sizeof(amla_status) == 8 + AMLA_MAX_DETAILS * AMLA_DETAIL_BYTES);
static_assert(sizeof(amla_problem) == 72);
static_assert(sizeof(amla_plan) == 16);

uint32_t amla_abi_version(void) {
    return AMLA_ABI_VERSION;
}

uint32_t amla_struct_size(uint32_t which) {
    switch (which) {
    case AMLA_STRUCT_STATUS:
        return sizeof(amla_status);
    case AMLA_STRUCT_PROBLEM:
        return sizeof(amla_problem);
    case AMLA_STRUCT_PLAN:
        return sizeof(amla_plan);
    default:
        return 0;
    }
}

int32_t amla_arch_number(const char* name) {
    return name != nullptr ? amla::arch_number(name) : AMLA_ARCH_OTHER;
}

int32_t amla_lookup(const amla_problem* problem, amla_plan* plan, amla_status* status) {
    if (problem == nullptr || plan == nullptr || status == nullptr) {
        return AMLA_ARGUMENT_INVALID;
    }
    return amla::lookup(*problem, *plan, *status);
}

const char* amla_refusal_text(uint16_t leaf) {
    const amla::TableView& view = amla::table_view();
    const uint32_t index = leaf & ~uint32_t{amla::table::kRefusalBit};
    return (leaf & amla::table::kRefusalBit) != 0 && index < view.refusal_count ? view.refusals[index] : nullptr;
}
