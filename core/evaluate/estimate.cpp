// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/estimate.h"

#include "core/assembly/iteration_costs.h"
#include "core/assembly/layer_loop.h"
#include "core/cost/stage_coster.h"
#include "core/cost/wan/wan_reduce.h"
#include "core/cost/wan/wan_traffic.h"
#include "core/evaluate/feasibility.h"
#include "core/layouts/placements.h"
#include "core/memory/bounded_memory.h"
#include "core/memory/in_flight_room.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

struct Sketch { // a class as the closed forms see it
    FormPipeline pipeline;
    double syncAndStep = 0; // reduction, optimizer and gather that nothing hides, of the slowest stage
};

/// All pipelines send at once: a link that is full passes each its share.
double sharedSerialization(const Workload &workload, const BoundaryTimes &b, double serialization)
{
    const double capacity = gbitsPerSecond(workload.plan->cluster.wanLinks[std::size_t(b.wanLink)].capacityGbps).value;
    return std::max(serialization, workload.layout.data * (b.bytes[0] + b.bytes[1]) / 2 / capacity);
}

/// Micro-batches that a stage may hold at once: the measurements' word, else the schedule's habit, else what memory has
/// room for.
std::vector<double> inFlightOf(const Workload &workload, int stages)
{
    const ScheduleTraits &schedule = traitsOf(*workload.plan);
    const StageSource &source = workload.source;
    std::vector<double> most;
    if (schedule.room == RoomUse::RunTime && source.hasMemory) {
        for (const int room : inFlightRoom(workload, kWorkConservingShare).microBatches)
            most.push_back(std::max(1, room));
        return most;
    }
    if (source.inFlight.empty() && schedule.decidesAtRunTime())
        return most;
    for (int i = 0; i < stages; ++i) {
        double here = schedule.decidesAtRunTime() ? double(std::numeric_limits<int>::max()) : stages - i;
        if (!source.inFlight.empty())
            here = std::min(here, double(source.inFlightAt(i)));
        most.push_back(here);
    }
    return most;
}

void addStage(Sketch &sketch, const Workload &workload, const PipelineClass &pipelines, int stage, StageCoster &coster,
    const SiteExchange &across)
{
    StageCosts costs = coster.wholeStage(pipelines, stage);
    addAcrossSites(costs, across, workload.plan->wan);
    const SyncAndStepTimes syncAndStep = syncAndStepTimes(workload, costs);
    sketch.syncAndStep = std::max(sketch.syncAndStep,
        toSeconds(syncAndStep.reduce - syncAndStep.reduceEarly + syncAndStep.optimizer + syncAndStep.gather).value);
    FormStage times;
    for (const ChunkCost &chunk : costs.chunks) {
        times.forward += chunk.forward.total().value;
        times.backward += (chunk.inputGrad.total() + chunk.weightGrad.total()).value;
        times.recompute += chunk.recompute.total().value;
    }
    sketch.pipeline.stages.push_back(times);
}

/// Of the class's pipelines, with what their stages exchange with others across datacenters.
Sketch sketch(const Workload &workload, const PipelineClass &pipelines, StageCoster &coster,
    const std::vector<SiteExchange> &across)
{
    std::vector<WanLinkUse> links(workload.plan->cluster.wanLinks.size());
    const int count = workload.degrees.pipeline;
    Sketch result;
    FormPipeline &pipeline = result.pipeline;
    pipeline.microBatches = pipelines.microBatches;
    pipeline.chunks = workload.degrees.programChunks();
    pipeline.cell = pipelines.cellMembers;
    pipeline.inFlight = inFlightOf(workload, count);
    pipeline.recomputesLastStage = workload.stack.recomputesLastStage && !traitsOf(*workload.plan).recomputesApart();
    pipeline.stages.reserve(std::size_t(count));
    for (int stage = 0; stage < count; ++stage) {
        if (stage == 0 || across[std::size_t(stage)] != across[std::size_t(stage) - 1]
            || !isLikeStageBefore(workload, stage))
            addStage(result, workload, pipelines, stage, coster, across[std::size_t(stage)]);
        else
            pipeline.stages.push_back(FormStage(pipeline.stages.back()));
        if (stage + 1 < count) {
            const BoundaryTimes b =
                boundaryTimes(workload, pipelines, stage, stage + 1, coster.site(pipelines, stage), links);
            const double serialization = toSeconds(b.serialization[0] + b.serialization[1]).value / 2
                * (b.isWan ? pipelines.cellMembers : 1); // in turns: s/Dc
            const double scatter = toSeconds(b.scatter[0] + b.scatter[1] + b.gather[0] + b.gather[1]).value / 2;
            pipeline.boundaries.push_back({ b.isWan ? sharedSerialization(workload, b, serialization) : serialization,
                toSeconds(b.latency[0]).value, scatter, b.isWan });
        }
    }
    return result;
}

FormTime formOf(const Workload &workload, const FormPipeline &pipeline)
{
    const auto own = traitsOf(*workload.plan).form;
    return own ? own(pipeline) : pipeline.chunks > 1 ? interleavedTime(pipeline) : inFlightLimitedTime(pipeline);
}

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
        const Sketch made = sketch(own, pipelines, costers.of(own), across);
        const FormTime form = formOf(workload, made.pipeline);
        if (const Seconds iteration { form.seconds + made.syncAndStep }; iteration > result.iteration)
            result = { iteration, form.bound };
    }
    result.iteration += iterationOverhead(workload);
    result.iteration = std::max(result.iteration, hiddenExchange(across, workload.plan->wan));
    return result;
}

Evaluation placedEstimate(Workload &workload)
{
    Evaluation evaluation = begun(workload);
    Placements open = placements(workload, 1);
    if (open.found.empty()) {
        evaluation.feasibility.isPlaced = false;
        evaluation.layout = std::move(open.unplaced);
        return evaluation;
    }
    workload.layout = std::move(open.found.front().layout);
    setJudged(evaluation, judge(workload, boundedStageMemory(workload)));
    if (evaluation.feasibility.isShaped)
        evaluation.metrics.iterationTime = estimate(workload).iteration.value;
    evaluation.metrics.gpusTotal = workload.layout.gpusTotal;
    evaluation.metrics.gpusUsed = workload.layout.gpusUsed;
    evaluation.layout = std::move(workload.layout);
    return evaluation;
}

} // namespace trainyard
