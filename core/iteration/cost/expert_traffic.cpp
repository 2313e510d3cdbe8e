// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/expert_traffic.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/recompute.h"

namespace trainyard {

namespace {

/// Layers with experts that a micro-batch goes through on a stage, in the mean of the copies of the model, and those of
/// them whose forward is done again.
struct ExpertPasses {
    double layers = 0, again = 0;
};

ExpertPasses passesOf(const Workload &workload, int stage)
{
    ExpertPasses passes;
    const auto &chunks = workload.layout.chunks[std::size_t(stage)];
    const std::vector<RecomputedLayers> recomputed = recomputedLayers(workload, stage);
    const double share = 1.0 / workload.degrees.copies;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        passes.layers += share * chunks[c].expertLayers;
        if (workload.plan->memory.recompute == Recompute::Full)
            passes.again +=
                share * (workload.plan->memory.recomputeLayers ? recomputed[c].experts : chunks[c].expertLayers);
        if (chunks[c].hasHead && hasExpertPredictor(workload.model)) { // layers that predict further tokens
            const double predictors = share * workload.model.mtpLayers;
            passes.layers += predictors;
            passes.again += workload.plan->memory.recompute == Recompute::Full ? predictors : 0;
        }
    }
    return passes;
}

} // namespace

double expertBytes(
    const Workload &workload, const StageCosts &costs, const PipelineClass &pipelines, int stage, Way way)
{
    if (!costs.expert)
        return 0;
    const ExchangeChoice &choice = costs.expert->choice;
    const ExpertPasses passes = passesOf(workload, stage);
    const double forward = choice.forwardDispatch.bytes(way) + choice.forwardCombine.bytes(way),
                 backward = choice.backwardDispatch.bytes(way) + choice.backwardCombine.bytes(way);
    return (forward * (passes.layers + passes.again) + backward * passes.layers) * pipelines.microBatches;
}

} // namespace trainyard
