// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/planned_times.h"

#include "core/iteration/iteration_costs/recomputed_shares.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/resolve.h"
#include "core/runs/overlay/stage_computing.h"

namespace trainyard {

namespace {

/// From the stage to the next one and back, of all micro-batches.
double transfersBehind(const PipelineCosts &costs, const PipelineClass &pipelines, std::size_t stage)
{
    double nanoseconds = 0;
    const std::size_t stages = pipelines.locations.size();
    for (std::size_t q = stage; q < costs.boundaries.size() && stages > 0; q += stages) {
        const BoundaryTimes &boundary = costs.boundaries[q];
        if (boundary.isWan || (q + 1) % stages == 0)
            return 0;
        nanoseconds += static_cast<double>(
            boundary.serialization[0] + boundary.latency[0] + boundary.serialization[1] + boundary.latency[1]);
    }
    return nanoseconds * 1e-9 * static_cast<double>(pipelines.microBatches);
}

} // namespace

const PlannedStage *PlannedTimes::of(const RankPlace &place, const Evaluation &evaluation) const
{
    for (std::size_t c = 0; c < stages.size(); ++c) {
        const PipelineClass &own = evaluation.layout.classes[c];
        const bool isThere = place.replica >= own.firstPipeline && place.replica < own.firstPipeline + own.pipelines;
        if (isThere && static_cast<std::size_t>(place.stage) < stages[c].size())
            return &stages[c][static_cast<std::size_t>(place.stage)];
    }
    return nullptr;
}

std::optional<PlannedTimes> plannedTimes(const Evaluation &evaluation, const Catalogue &catalogue)
{
    if (evaluation.layout.classes.empty())
        return std::nullopt;
    auto asked = resolve(evaluation.plan, catalogue);
    if (!asked || !asked->source.hasLayers)
        return std::nullopt;
    const Workload workload(*std::move(asked), evaluation.layout);
    const auto costs = cost(workload);
    if (!costs || costs->stages.empty() || costs->stages.size() != workload.layout.classes.size())
        return std::nullopt;
    const auto recomputed = recomputedShares(*workload.plan, *costs);
    PlannedTimes times;
    times.overhead = toSeconds(costs->iteration.overhead).value;
    times.domain = domainOf(workload, workload.layout.classes.front().locations.front());
    for (std::size_t c = 0; c < costs->stages.size(); ++c) {
        std::vector<PlannedStage> &stages = times.stages.emplace_back();
        const PipelineClass &own = workload.layout.classes[c];
        for (std::size_t s = 0; s < costs->stages[c].size(); ++s) {
            const StageCosts &stage = costs->stages[c][s];
            const bool isTold = c < recomputed.size() && s < recomputed[c].size();
            stages.push_back({ .compute =
                                   computingOf(workload, own, stage, isTold ? recomputed[c][s] : RecomputedShares()),
                .gradients = (stage.reduce + stage.gather).value,
                .transfers =
                    c < costs->iteration.classes.size() ? transfersBehind(costs->iteration.classes[c], own, s) : 0 });
        }
    }
    return times;
}

} // namespace trainyard
