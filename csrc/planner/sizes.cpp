// Upper bounds of a schedule's sizes, from what is known before the lengths are.
#include "checks.hpp"

extern "C" int32_t amla_schedule_bounds(const amla_schedule_request* request, amla_schedule_sizes* sizes, amla_planner_error* error) {
    using namespace planner;
    if (const int32_t code = check_request(*request, error); code != AMLA_PLANNER_OK) {
        return code;
    }
    const Geometry g = geometry_of(*request);
    // Every cut between two workgroups adds one piece, and splits at most one tile more.
    const int64_t cuts = most<int64_t>(g.busy_workgroups - 1, 0);
    const int64_t pieces = g.tiles > 0 ? g.tiles + cuts : 0;
    const int64_t parts = g.partial_always ? pieces : least(pieces, 2 * cuts);
    sizes->work_metadata = 2;
    sizes->work_indptr = int64_t{g.workgroups} + 1;
    sizes->work_info_rows = most<int64_t>(pieces, 1); // a kernel is given its address even if there is no work
    sizes->reduce_indptr = g.tiles + 1;
    sizes->reduce_final_rows = g.tiles;
    sizes->reduce_partial_map = parts;
    sizes->partial_rows = parts * g.tokens;
    return AMLA_PLANNER_OK;
}
