// The line: the blocks of all tiles one after another, item_cost units of room between two tiles, cut into equal segments, one
// for each workgroup. Who does what is a closed form of a block's place on the line, so every item can be worked out alone.
// Shared with the device planner: constexpr functions, C headers only.
#pragma once

#include "geometry.hpp"

namespace planner {

struct Line {
    int64_t length;
    int64_t segments; // never more than units of length, so no segment is empty
};

/// total: sum of blocks + item_cost over the tiles that have blocks.
constexpr Line line_of(const Geometry& g, int64_t total) {
    const int64_t length = most<int64_t>(total - g.item_cost, 0);
    return {length, least(g.busy_workgroups, length)};
}

/// Where the segment of a workgroup begins; the number of segments gives the end of the line.
constexpr int64_t segment_begin(const Line& line, int64_t workgroup) {
    return workgroup * line.length / line.segments;
}

/// The workgroup whose segment holds the unit: the last one that begins at or before it.
constexpr int64_t workgroup_of(const Line& line, int64_t unit) {
    return ((unit + 1) * line.segments - 1) / line.length;
}

/// Blocks [first, end) of a tile that one workgroup does.
struct Piece {
    int64_t workgroup;
    int64_t first;
    int64_t end;
};

constexpr int64_t piece_count(const Line& line, int64_t begin, int64_t blocks) {
    return workgroup_of(line, begin + blocks - 1) - workgroup_of(line, begin) + 1;
}

/// begin: unit of the line where the tile's blocks begin.
constexpr Piece piece_of(const Line& line, int64_t begin, int64_t blocks, int64_t piece) {
    const int64_t workgroup = workgroup_of(line, begin) + piece;
    return {workgroup, most<int64_t>(segment_begin(line, workgroup) - begin, 0), least(segment_begin(line, workgroup + 1) - begin, blocks)};
}

} // namespace planner
