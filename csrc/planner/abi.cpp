#include "abi.h"

extern "C" uint32_t amla_planner_abi_version(void) {
    return AMLA_PLANNER_ABI_VERSION;
}

extern "C" uint32_t amla_planner_struct_size(uint32_t which) {
    switch (which) {
    case AMLA_PLANNER_SCHEDULE_REQUEST:
        return sizeof(amla_schedule_request);
    case AMLA_PLANNER_SCHEDULE_SIZES:
        return sizeof(amla_schedule_sizes);
    case AMLA_PLANNER_SCHEDULE_TENSORS:
        return sizeof(amla_schedule_tensors);
    case AMLA_PLANNER_REDUCE_REQUEST:
        return sizeof(amla_reduce_request);
    case AMLA_PLANNER_SPLIT_REQUEST:
        return sizeof(amla_split_request);
    case AMLA_PLANNER_EMPTY_REQUEST:
        return sizeof(amla_empty_request);
    case AMLA_PLANNER_SPLIT_CHOICE:
        return sizeof(amla_split_choice);
    default:
        return 0;
    }
}
