// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/lanes_internal.h"

#include "core/engine/timeline/cell_members.h"
#include "core/iteration/placement/degrees.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace trainyard::difference {

namespace {

auto placeOf(const Lane &lane)
{
    return std::tuple(lane.pipelineClass, lane.stage, lane.stream, lane.toStage);
}

const PipelineClass *classOf(const Evaluation &evaluation, int pipelineClass)
{
    const auto &classes = evaluation.layout.classes;
    return pipelineClass >= 0 && std::size_t(pipelineClass) < classes.size() ? &classes[std::size_t(pipelineClass)]
                                                                             : nullptr;
}

} // namespace

std::vector<Lane> lanesOf(const Timeline &timeline)
{
    std::vector<Lane> lanes;
    std::map<std::tuple<int, int, Stream, int>, std::size_t> known;
    const auto laneOf = [&](const Track &track, int pipelineClass) -> Lane & {
        Lane lane { pipelineClass, track.stage, track.toStage, track.stream, {} };
        const auto [at, isNew] = known.try_emplace(placeOf(lane), lanes.size());
        if (isNew)
            lanes.push_back(std::move(lane));
        return lanes[at->second];
    };
    for (const Track &track : timeline.tracks) {
        if (track.first == track.last)
            continue;
        if (hasTurns(timeline, track)) {
            for (std::uint32_t span = track.first; span < track.last; ++span)
                laneOf(track, sendingMember(timeline, span)).spans.push_back(span);
            continue;
        }
        const int owner = track.stream == Stream::Wan ? sendingMember(timeline, track.first) : track.pipelineClass;
        std::vector<std::uint32_t> &spans = laneOf(track, owner).spans;
        const std::size_t before = spans.size();
        spans.resize(before + (track.last - track.first));
        std::iota(spans.begin() + std::ptrdiff_t(before), spans.end(), track.first);
    }
    std::ranges::stable_sort(lanes, {}, placeOf);
    return lanes;
}

ReplicaRange replicasOf(const Evaluation &evaluation, int pipelineClass)
{
    const PipelineClass *pipelines = classOf(evaluation, pipelineClass);
    return pipelines ? ReplicaRange { pipelines->firstPipeline, pipelines->pipelines }
                     : ReplicaRange { std::max(0, pipelineClass), 1 };
}

std::int64_t gpusOf(const Evaluation &evaluation, const Lane &lane)
{
    if (evaluation.metrics.jobs)
        return 1; // a stage is a GPU
    Degrees degrees = degreesOf(*evaluation.plan);
    const PipelineClass *pipelines = classOf(evaluation, lane.pipelineClass);
    if (pipelines && lane.stage >= 0 && std::size_t(lane.stage) < pipelines->locations.size()
        && pipelines->locations[std::size_t(lane.stage)].tensor > 0)
        degrees.tensor = pipelines->locations[std::size_t(lane.stage)].tensor;
    return std::int64_t { degrees.gpusOfStage() } * replicasOf(evaluation, lane.pipelineClass).count;
}

} // namespace trainyard::difference
