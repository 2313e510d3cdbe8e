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

ExchangedBytes exchangedBytes(
    const Workload &workload, const StageCosts &costs, const PipelineClass &pipelines, int stage, Way way)
{
    if (!costs.expert)
        return {};
    const ExchangeChoice &choice = costs.expert->choice;
    const ExpertPasses passes = passesOf(workload, stage);
    const double forwards = (passes.layers + passes.again) * pipelines.microBatches,
                 backwards = passes.layers * pipelines.microBatches;
    return { choice.forwardDispatch.bytes(way) * forwards + choice.backwardDispatch.bytes(way) * backwards,
        choice.forwardCombine.bytes(way) * forwards + choice.backwardCombine.bytes(way) * backwards };
}

Seconds expertsOnWan(const Workload &workload, const StageCosts &costs, int stage)
{
    if (!costs.expert || costs.expert->request.group.sites() <= 1)
        return {};
    const ExchangeChoice &choice = costs.expert->choice;
    const BytesPerSecond rate = costs.expert->request.group.wan.bandwidthOf(wanCopies(choice.dispatch));
    const ExpertPasses passes = passesOf(workload, stage);
    const double forward = choice.forwardDispatch.bytes(Way::Wan) + choice.forwardCombine.bytes(Way::Wan),
                 backward = choice.backwardDispatch.bytes(Way::Wan) + choice.backwardCombine.bytes(Way::Wan);
    const double copies = workload.degrees.copies; // of which passesOf() is the mean
    return rate.value > 0 ? Bytes { copies * (forward * passes.again + backward * passes.layers) } / rate : Seconds {};
}

} // namespace trainyard
