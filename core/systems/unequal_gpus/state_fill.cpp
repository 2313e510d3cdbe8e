// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/state_fill.h"

#include "core/base/number_text.h"
#include "core/systems/unequal_gpus/layer_time.h"
#include "core/systems/unequal_gpus/profile_tables.h"

#include <algorithm>
#include <cstddef>

namespace trainyard {

namespace {

constexpr double kHalfFull = 0.5; // utilization below which the released rule keeps shares even

/// A vessel that fills from the level where `base` is covered up to its room: bytes = clamp(level · width − base, 0,
/// room).
struct Vessel {
    double width = 1, base = 0, room = 0;
    int ranks = 1;

    [[nodiscard]] double bytesAt(double level) const { return std::clamp(level * width - base, 0.0, room); }
};

double sumAt(const std::vector<Vessel> &vessels, double level)
{
    double sum = 0;
    for (const Vessel &v : vessels)
        sum += v.ranks * v.bytesAt(level);
    return sum;
}

/// The level at which the vessels hold `bytes`: between two of the levels where one begins or ends to fill, their sum
/// is a line. Where they cannot hold as much, the level at which all are full.
double levelFor(const std::vector<Vessel> &vessels, double bytes)
{
    std::vector<double> turns;
    for (const Vessel &v : vessels) {
        turns.push_back(v.base / v.width);
        turns.push_back((v.base + v.room) / v.width);
    }
    std::ranges::sort(turns);
    const auto reached =
        std::ranges::partition_point(turns, [&](double level) { return sumAt(vessels, level) < bytes; });
    if (reached == turns.end())
        return turns.back();
    if (reached == turns.begin())
        return *reached;
    const double below = *(reached - 1), under = sumAt(vessels, below), over = sumAt(vessels, *reached);
    return below + (*reached - below) * (bytes - under) / (over - under);
}

/// Beside which the rule sees room for states.
double seenCompute(const ShareProblem &problem, const RankShare &rank)
{
    const RankKind &kind = problem.kinds[std::size_t(rank.kind)];
    if (problem.stateFill != StateFill::MinParamsReleased || rank.samples() == 0)
        return rank.computeBytes;
    const int count = rank.microBatches;
    return extrapolated(kind.compute, count)[std::size_t(count) - 1] + kind.perSample * rank.samples();
}

/// Of the ranks whose share is not pinned.
std::vector<Vessel> vessels(const ShareProblem &problem, const Shares &shares)
{
    std::vector<Vessel> all;
    for (const RankShare &rank : shares.ranks) {
        const RankKind &kind = problem.kinds[std::size_t(rank.kind)];
        if (kind.stateShare)
            continue;
        const double compute = seenCompute(problem, rank);
        Vessel vessel { 1, 0, std::max(0.0, kind.room - compute), rank.ranks };
        if (problem.stateFill == StateFill::MinUtilization) {
            vessel.width = std::max(1.0, kind.capacity > 0 ? kind.capacity : kind.room);
            vessel.base = (kind.capacity > 0 ? kind.buffers : 0) + compute;
        }
        all.push_back(vessel);
    }
    return all;
}

bool staysEven(const ShareProblem &problem, const std::vector<Vessel> &vessels, double even)
{
    const bool fits =
        std::ranges::all_of(vessels, [even](const Vessel &v) { return even <= v.room + kByteOfRounding; });
    if (!problem.balancesState || problem.stateFill != StateFill::MinUtilization)
        return !problem.balancesState || fits;
    return fits
        && std::ranges::all_of(vessels, [even](const Vessel &v) { return v.base + even < kHalfFull * v.width; });
}

} // namespace

Expected<void> fillStates(const ShareProblem &problem, Shares &shares)
{
    const double even = evenShare(problem), evenBytes = even * problem.stateBytes;
    const std::vector<Vessel> open = vessels(problem, shares);
    const bool isEven = problem.stateBytes <= 0 || staysEven(problem, open, evenBytes);
    double rest = 0, level = 0;
    if (!isEven) {
        for (const Vessel &v : open)
            rest += v.ranks * evenBytes;
        level = levelFor(open, rest);
        if (const double held = sumAt(open, level); held + kByteOfRounding < rest)
            return std::unexpected(
                Error { ErrorCode::OutOfRange, "states", bytesText(rest) + " have to be kept beside the micro-batches",
                    "at most " + bytesText(held) + ", the room that is left" });
    }
    std::size_t next = 0;
    shares.usedBytes = shares.roomBytes = 0;
    for (RankShare &rank : shares.ranks) {
        const RankKind &kind = problem.kinds[std::size_t(rank.kind)];
        if (kind.stateShare)
            rank.stateShare = *kind.stateShare;
        else
            rank.stateShare = isEven ? even : open[next++].bytesAt(level) / problem.stateBytes;
        shares.usedBytes += rank.ranks * (rank.computeBytes + rank.stateShare * problem.stateBytes);
        shares.roomBytes += rank.ranks * kind.room;
    }
    return {};
}

} // namespace trainyard
