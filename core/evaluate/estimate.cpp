// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/estimate.h"

#include "core/cost/stage_coster.h"
#include "core/cost/wan_traffic.h"
#include "core/schedule/chunks.h"

#include <algorithm>

namespace trainyard {

namespace {

struct StageTimes { double forward = 0, backward = 0, tail = 0; };
struct Edge { double hold = 0, latency = 0; bool isWan = false; };

struct Pipeline {                  // the fullest class
    std::vector<StageTimes> stages;
    std::vector<Edge> edges;       // between stages i and i + 1
    double microBatches = 1, chunks = 1;
};

Pipeline pipelineOf(const Workload &workload)
{
    const PipelineClass &fullest = *std::max_element(
        workload.layout.classes.begin(), workload.layout.classes.end(),
        [](const PipelineClass &a, const PipelineClass &b) { return a.microBatches < b.microBatches; });
    StageCoster coster(workload);
    std::vector<WanLinkUse> links(workload.plan->cluster.wanLinks.size());
    Pipeline pipeline;
    pipeline.microBatches = fullest.microBatches;
    pipeline.chunks = programChunks(*workload.plan);
    const int count = workload.plan->parallelism.pipeline;
    pipeline.stages.reserve(std::size_t(count));
    for (int stage = 0; stage < count; ++stage) {
        StageCosts costs = coster.wholeStage(fullest, stage);
        if (workload.layout.mode == PlacementMode::DataAcross)
            costs.reduce += wanReduceTime(workload, stage, stageGradient(workload, stage), links);
        const TailTimes tail = tailTimes(workload, costs);
        StageTimes times;
        times.tail = toSeconds(tail.reduce - tail.reduceEarly + tail.optimizer + tail.gather).value;
        const bool recomputes = workload.stack.recomputesLastStage || stage + 1 < count;
        for (const ChunkCost &chunk : costs.chunks) {
            times.forward += chunk.forward.total().value;
            times.backward += (chunk.inputGrad.total() + chunk.weightGrad.total()).value + (recomputes ? chunk.recompute.total().value : 0);
        }
        pipeline.stages.push_back(times);
        if (stage + 1 < count) {
            const BoundaryTimes b = boundaryTimes(workload, fullest, stage, stage + 1,
                                                  coster.site(fullest, stage), links);
            pipeline.edges.push_back({toSeconds(b.hold[0] + b.hold[1]).value / 2, toSeconds(b.latency[0]).value, b.isWan});
        }
    }
    return pipeline;
}

/// All forwards, then all backwards: fill, then the slowest stage or channel sets the pace, twice.
Estimate gpipe(const Pipeline &p)
{
    double fill = 0, forward = 0, backward = 0, hold = 0;
    for (const StageTimes &stage : p.stages) {
        fill += stage.forward + stage.backward;
        forward = std::max(forward, stage.forward);
        backward = std::max(backward, stage.backward);
    }
    for (const Edge &edge : p.edges) {
        fill += 2 * (edge.hold + edge.latency);
        hold = edge.isWan ? std::max(hold, edge.hold) : hold;
    }
    const double pace = std::max(forward, hold) + std::max(backward, hold);
    return {Seconds{fill + (p.microBatches - 1) * pace}, hold > forward ? "WAN" : "compute"};
}

/// Loop_i: from a micro-batch's forward on stage i to the end of its backward there; K_i of them may be under way.
Estimate oneForwardOneBackward(const Pipeline &p)
{
    const std::size_t count = p.stages.size();
    double loop = 0, compute = 0, hold = 0, inFlight = 0;
    for (std::size_t i = count; i-- > 0;) {
        loop += p.stages[i].forward + p.stages[i].backward;
        if (i + 1 < count) {
            loop += 2 * (p.edges[i].hold + p.edges[i].latency);
            hold = p.edges[i].isWan ? std::max(hold, p.edges[i].hold) : hold;
        }
        compute = std::max(compute, p.stages[i].forward + p.stages[i].backward);
        inFlight = std::max(inFlight, loop / std::min(double(count - i), p.microBatches));
    }
    const double pace = std::max({compute, hold, inFlight});
    return {Seconds{loop + (p.microBatches - 1) * pace}, pace == compute ? "compute" : pace == hold ? "WAN" : "in flight"};
}

/// Balanced interleaving: the fill shrinks by the chunks, boundaries are crossed once a chunk.
Estimate interleaved(const Pipeline &p)
{
    double compute = 0, fill = 0, edges = 0, hold = 0;
    for (const StageTimes &stage : p.stages) {
        compute = std::max(compute, stage.forward + stage.backward);
        fill += stage.forward + stage.backward;
    }
    for (const Edge &edge : p.edges) {
        edges += 2 * (edge.hold + edge.latency);
        hold = edge.isWan ? std::max(hold, edge.hold) : hold;
    }
    const double pace = std::max(compute, hold * p.chunks);
    return {Seconds{p.microBatches * pace + (fill - compute) / p.chunks + edges}, pace == compute ? "compute" : "WAN"};
}

} // namespace

Estimate estimate(const Workload &workload)
{
    const Pipeline pipeline = pipelineOf(workload);
    Estimate result = workload.plan->schedule == ScheduleKind::GPipe ? gpipe(pipeline)
        : pipeline.chunks > 1 ? interleaved(pipeline) : oneForwardOneBackward(pipeline);
    double tail = 0;
    for (const StageTimes &stage : pipeline.stages)
        tail = std::max(tail, stage.tail);
    result.iteration += Seconds{tail};
    if (!workload.plan->profile)
        result.iteration += milliseconds(workload.stack.iterationOverheadMs);
    return result;
}

} // namespace trainyard
