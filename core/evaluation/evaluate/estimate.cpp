// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/estimate.h"

#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/closed_form_input.h"
#include "core/evaluation/evaluate/feasibility.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_reduce.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/iteration_costs/layer_loop.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/memory/layered_memory.h"
#include "core/iteration/placement/location_book.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Accumulation layer by layer: in each layer and direction all wait for the slowest, and collectives hide behind the
/// layer before. With G, R a layer's gather and reduction, F, B, C what the slowest replica takes for its forwards,
/// backwards and recomputations of a layer, of L layers:
///   G + (L − 1) · max(G, F) + F + B + (L − 1) · max(G + R, C + B) + R,  with sums for maxima where nothing is
///   prefetched, and G, R times the penalty in layers whose shares are uneven.
Estimate layeredEstimate(const Workload &workload)
{
    Costers costers(workload);
    const int layers = workload.degrees.chunks;
    double forward = 0, both = 0, ends = 0, gather = 0, reduce = 0, tail = 0;
    for (const PipelineClass &pipelines : workload.layout.classes) {
        StageCoster &coster = costers.of(costers.view(pipelines));
        const StageCosts stage = coster.wholeStage(pipelines, 0);
        const ChunkCost &whole = stage.chunks.front();
        const double ofLayer = double(pipelines.microBatches) / layers;
        const double f = whole.forward.total().value * ofLayer,
                     b = (whole.inputGrad.total() + whole.weightGrad.total()).value * ofLayer;
        forward = std::max(forward, f);
        both = std::max(both, b + whole.recompute.total().value * ofLayer);
        ends = std::max(ends, f + b);
        const SyncAndStepTimes times = syncAndStepTimes(workload, stage);
        tail = std::max(tail, toSeconds(times.reduce - times.reduceEarly + times.optimizer + times.gather).value);
        const ShardTimes exchange = coster.layerExchange(pipelines, layers / 2);
        gather = std::max(gather, exchange.gather.value);
        reduce = std::max(reduce, exchange.scatter.value);
    }
    const bool hides = workload.plan->heterogeneity.gatherPrefetch;
    const auto beside = [&](double exchange, double work) {
        return hides ? std::max(exchange, work) : exchange + work;
    };
    const auto behind = [&](double factor) {
        return beside(factor * gather, forward) + beside(factor * (gather + reduce), both);
    };
    const std::vector<bool> &shares = workload.layout.shares.layersUneven;
    const double penalty = workload.plan->heterogeneity.unevenPenalty;
    const double uneven = shares.empty() ? 0 : double(std::count(shares.begin() + 1, shares.end(), true));
    const double first = !shares.empty() && shares.front() ? penalty : 1;
    const double seconds =
        first * gather + (layers - 1 - uneven) * behind(1) + uneven * behind(penalty) + ends + first * reduce + tail;
    const bool isExchange = gather + reduce > both;
    return { Seconds { seconds } + iterationOverhead(workload), isExchange ? Bound::Link : Bound::Compute };
}

/// Of the slowest stage; what it exchanges across datacenters may differ between stages that are alike.
double slowestEnd(const Workload &workload, const ClosedFormInput &made, const std::vector<SiteExchange> &across)
{
    double slowest = 0;
    std::size_t kind = 0;
    for (std::size_t stage = 0; stage < across.size(); ++stage) {
        const bool isNext = kind + 1 < made.kinds.size() && made.kinds[kind + 1].stage == int(stage);
        kind += isNext ? 1 : 0;
        if (stage > 0 && !isNext && across[stage] == across[stage - 1])
            continue;
        StageCosts costs = made.kinds[kind].costs;
        addAcrossSites(costs, across[stage], workload.plan->wan);
        slowest = std::max(slowest, shownAtTheEnd(syncAndStepTimes(workload, costs)).value);
    }
    return slowest;
}

} // namespace

Estimate estimate(const Workload &workload)
{
    if (workload.plan->heterogeneity.isLayered())
        return layeredEstimate(workload);
    const auto &classes = workload.layout.classes;
    Costers costers(workload);
    std::vector<WanLinkUse> links(workload.plan->cluster.wanLinks.size());
    const bool crosses = workload.layout.mode == PlacementMode::DataAcross;
    const std::vector<SiteExchange> across =
        crosses ? siteExchanges(workload, links) : std::vector<SiteExchange>(std::size_t(workload.degrees.pipeline));
    Estimate result;
    for (const PipelineClass &pipelines :
        classes) { // of those in the same places the fullest; the slowest of all decides
        const auto isFuller = [&](const PipelineClass &other) {
            return other.locations == pipelines.locations && other.microBatch == pipelines.microBatch
                && std::pair(-other.microBatches, &other) < std::pair(-pipelines.microBatches, &pipelines);
        };
        if (std::ranges::any_of(classes, isFuller))
            continue;
        const Workload &own = costers.view(pipelines);
        const ClosedFormInput made = closedFormInput(own, pipelines, costers.of(own));
        const FormTime form = formTime(traitsOf(*workload.plan), made.pipeline);
        if (const Seconds iteration { form.seconds + slowestEnd(own, made, across) }; iteration > result.iteration)
            result = { iteration, form.bound };
    }
    result.iteration += iterationOverhead(workload);
    result.iteration = std::max(result.iteration, hiddenExchange(across, workload.plan->wan));
    return result;
}

double estimatedSeconds(const Workload &workload)
{
    return hasRunnableShape(workload) ? estimate(workload).iteration.value : 0;
}

Evaluation placedEstimate(const Requested &asked)
{
    Evaluation evaluation = begun(asked);
    Placements open = undealtPlacements(asked);
    if (open.found.empty()) {
        evaluation.feasibility.isPlaced = false;
        evaluation.layout = std::move(open.unplaced);
        return evaluation;
    }
    const bool isBold = !offloadFreesShares(*asked.plan); // its memory is judged as if all stayed
    Workload workload = dealt({ asked, std::move(open.found.front().layout) }, isBold);
    setJudged(evaluation, judge(workload, boundedStageMemory(workload)));
    if (evaluation.feasibility.isShaped)
        evaluation.metrics.iterationTime = estimate(workload).iteration.value;
    evaluation.metrics.gpusTotal = workload.layout.gpusTotal;
    evaluation.metrics.gpusUsed = workload.layout.gpusUsed;
    evaluation.layout = std::move(workload.layout);
    return evaluation;
}

} // namespace trainyard
