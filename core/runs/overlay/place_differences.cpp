// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/place_differences.h"

#include "core/evaluation/evaluate/metrics/stage_seconds.h"
#include "core/evaluation/evaluate/track_names.h"

#include <map>
#include <utility>

namespace trainyard {

namespace {

/// Sums over the GPUs of a place, of the reference and of what was measured.
struct PlaceTime {
    std::string name;
    std::array<SecondsByKind, 2> seconds {};
    std::array<int, 2> told {}; // GPUs that tell of it
    int gpus = 1; // that it has

    void add(std::size_t side, const SecondsByKind &one)
    {
        for (std::size_t k = 0; k < one.size(); ++k)
            seconds[side][k] += one[k];
        ++told[side];
    }
};

void addKindsOf(const PlaceTime &time, std::vector<PlaceDifference> &rows)
{
    const auto meanOf = [&](std::size_t side, std::size_t kind) {
        return time.told[side] > 0 ? time.seconds[side][kind] / time.told[side] : 0.0;
    };
    for (std::size_t k = 0; k < std::size_t(DifferenceKind::Untold); ++k) {
        const double reference = meanOf(0, k), measured = meanOf(1, k);
        if (reference != 0 || measured != 0)
            rows.push_back(
                { time.name, DifferenceKind(k), reference, measured, time.told[0] > 0, time.told[1] > 0, time.gpus });
    }
}

template <class Key> std::vector<PlaceDifference> placeRows(const std::map<Key, PlaceTime> &places)
{
    std::vector<PlaceDifference> rows;
    for (const auto &[key, time] : places)
        addKindsOf(time, rows);
    return rows;
}

std::string placeName(const Evaluation &plan, const StageSeconds &stage)
{
    const Track track { .stream = Stream::Compute, .pipelineClass = stage.pipelineClass, .stage = stage.stage };
    const std::string name = trackName(plan, track);
    return plan.layout.classes.size() > 1 ? pipelinesName(plan, track) + ", " + name : name;
}

/// Waiting in a collective is waiting, as a plan has it.
SecondsByKind underPlan(const TimeShares &shares)
{
    SecondsByKind seconds = secondsByKind(shares);
    double &stragglers = seconds[std::size_t(DifferenceKind::Stragglers)];
    seconds[std::size_t(DifferenceKind::Bubble)] += std::exchange(stragglers, 0);
    return seconds;
}

void addPlacesOf(const Run &run, const RunStep &step, std::size_t side, std::map<int, PlaceTime> &ranks)
{
    for (const RankStep &one : sharesOf(run, step))
        if (const int rank = run.recording->ranks[one.rank].rank; rank >= 0) {
            PlaceTime &time = ranks[rank];
            time.name = "rank " + std::to_string(rank);
            time.add(side, secondsByKind(one.shares));
        }
}

bool isAnyOf(const std::map<int, PlaceTime> &ranks, std::size_t side)
{
    for (const auto &[rank, time] : ranks)
        if (time.told[side] > 0)
            return true;
    return false;
}

} // namespace

std::vector<PlaceDifference> placeDifferences(
    const Evaluation &plan, const Run &run, const RunStep &step, RankOrder order)
{
    const std::vector<RankStep> shares = sharesOf(run, step, planStages(plan));
    if (!plan.plan || plan.metrics.jobs || plan.timeline.isEmpty() || shares.empty())
        return {};
    const RankMap map(*plan.plan, plan.layout, order);
    std::map<std::pair<int, int>, PlaceTime> places; // class, stage
    for (const StageSeconds &stage : secondsOfStages(plan.timeline)) {
        PlaceTime &time = places[{ stage.pipelineClass, stage.stage }];
        time.name = placeName(plan, stage);
        time.add(0, secondsByKind(stage.spent));
        const PipelineClass &of = plan.layout.classes[std::size_t(stage.pipelineClass)];
        time.gpus = int(map.ranksOf(stage.stage, of.firstPipeline, of.pipelines).size());
    }
    for (const RankStep &one : shares) {
        const int rank = run.recording->ranks[one.rank].rank;
        if (rank < 0 || rank >= map.worldSize())
            continue;
        const RankPlace at = map.placeOf(rank);
        for (std::size_t c = 0; c < plan.layout.classes.size(); ++c) {
            const PipelineClass &own = plan.layout.classes[c];
            const auto place = places.find({ int(c), at.stage });
            if (at.replica >= own.firstPipeline && at.replica < own.firstPipeline + own.pipelines
                && place != places.end())
                place->second.add(1, underPlan(one.shares));
        }
    }
    return placeRows(places);
}

std::vector<PlaceDifference> placeDifferences(
    const Run &reference, const RunStep &referenceStep, const Run &run, const RunStep &step)
{
    std::map<int, PlaceTime> ranks;
    addPlacesOf(reference, referenceStep, 0, ranks);
    addPlacesOf(run, step, 1, ranks);
    return isAnyOf(ranks, 0) && isAnyOf(ranks, 1) ? placeRows(ranks) : std::vector<PlaceDifference>();
}

std::vector<PlaceDifference> kindDifferences(const std::vector<PlaceDifference> &places)
{
    std::array<PlaceDifference, kDifferenceKindCount> sums {};
    std::map<std::string, int> gpus; // of the places that both tell
    for (const PlaceDifference &row : places) {
        if (!row.isTold())
            continue;
        sums[std::size_t(row.kind)].reference += row.reference * row.gpus;
        sums[std::size_t(row.kind)].measured += row.measured * row.gpus;
        gpus[row.place] = row.gpus;
    }
    int all = 0;
    for (const auto &[place, count] : gpus)
        all += count;
    std::vector<PlaceDifference> rows;
    for (std::size_t kind = 0; kind < sums.size(); ++kind)
        if (sums[kind].reference != 0 || sums[kind].measured != 0)
            rows.push_back(
                { {}, DifferenceKind(kind), sums[kind].reference / all, sums[kind].measured / all, true, true, all });
    return rows;
}

} // namespace trainyard
