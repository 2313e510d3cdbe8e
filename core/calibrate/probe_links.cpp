// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibrate/probe_links.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kPasses = 8;
constexpr double kNudge = 1e-3;
constexpr double kMostSteps = 2.0 / 3; // of a time: what is left would tell more of the steps than of the way

RankGroup groupOf(const BenchmarkPoint &point, const Link &way, const Link &inside)
{
    const int nodes = std::max(1, point.nodes);
    RankGroup group { .ranks = point.ranks, .ranksPerNode = (point.ranks + nodes - 1) / nodes };
    group.inside = nodes > 1 && inside.kind ? inside : way;
    group.between = way;
    return group;
}

} // namespace

bool isModelledCollective(const BenchmarkPoint &point)
{
    return point.what == "all_reduce" || point.what == "all_gather" || point.what == "reduce_scatter"
        || point.what == "all_to_all";
}

Seconds modelledCollective(const BenchmarkPoint &point, const RankGroup &group)
{
    const Bytes size { point.bytes };
    return point.what == "all_reduce" ? allReduceTime(size, group)
        : point.what == "all_gather"  ? allGatherTime(size, group)
        : point.what == "all_to_all"  ? allToAllTime(size, group)
                                      : reduceScatterTime(size, group);
}

Expected<WayFit> fitWay(std::span<const BenchmarkPoint> points, const LinkClass &kind, const Link &inside)
{
    LinkClass bare = kind; // what calibration leaves of the class (core/placement/calibrated.cpp)
    bare.startUs = bare.rampUs = 0;
    double rate = 1; // that large messages get
    for (const BenchmarkPoint &point : points)
        rate = std::max(rate, point.busBytesPerSecond);
    WayFit fit;
    for (int pass = 0; pass < kPasses; ++pass) {
        const Link way { BytesPerSecond { rate / bare.fraction }, &bare };
        const Link slower { BytesPerSecond { way.bandwidth.value / (1 + kNudge) }, &bare };
        std::vector<double> moved, seconds;
        for (const BenchmarkPoint &point : points) {
            // Times are straight lines of the seconds a byte takes: the slope is what the model counts as moved.
            const double at = modelledCollective(point, groupOf(point, way, inside)).value;
            const double further = modelledCollective(point, groupOf(point, slower, inside)).value;
            const double volume = (further - at) / (kNudge / rate), steps = at - volume / rate;
            if (steps <= kMostSteps * point.seconds && volume > 0) {
                moved.push_back(volume);
                seconds.push_back(point.seconds - std::max(0.0, steps));
            }
        }
        fit.leftOut = int(points.size() - moved.size());
        const auto line = fitAlphaBeta(moved, seconds);
        if (!line)
            return std::unexpected(line.error());
        fit.line = *line;
        if (!(line->bytesPerSecond > 0))
            break;
        rate = line->bytesPerSecond;
    }
    return fit;
}

} // namespace trainyard
