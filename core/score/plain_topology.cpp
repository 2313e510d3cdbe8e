// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/score/plain_topology.h"

#include "core/assembly/iteration_costs.h"
#include "core/score/short_order.h"
#include "core/timeline/simulator.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Marks are far above each other, so that none is a sum or difference of others: durations [kMark, …), and small ones
/// for what is taken off a lag.
constexpr Nanoseconds kMark = 1'000'000'000;

bool isOfPlainTimes(const IterationCosts &iteration, const PlainFrame &frame, const PlainTimes &times)
{
    if (iteration.classes.size() != 1 || iteration.overhead != times.overhead
        || iteration.isRecomputing != times.isRecomputing || iteration.optimizerBarrier != times.optimizerBarrier)
        return false;
    const PipelineCosts &pipelines = iteration.classes.front();
    const std::size_t chunks = times.ops.size() / frame.firstOf.size();
    if (!pipelines.pairs.empty() || !pipelines.offload.isEmpty() || !pipelines.states.isEmpty()
        || !pipelines.layers.isEmpty() || pipelines.ops.size() != frame.kindOf.size() * chunks
        || pipelines.boundaries.size() != frame.boundaryKind.size() || pipelines.program.rule != OrderRule::Strict)
        return false;
    for (std::size_t slot = 0; slot < pipelines.ops.size(); ++slot)
        if (pipelines.ops[slot] != times.ops[frame.kindOf[slot / chunks] * chunks + slot % chunks])
            return false;
    for (std::size_t d = 0; d < frame.kindOf.size(); ++d)
        if (pipelines.syncAndStep[d] != times.syncAndStep[frame.kindOf[d]])
            return false;
    for (std::size_t q = 0; q < frame.boundaryKind.size(); ++q) {
        const std::size_t kind = frame.boundaryKind[q];
        if (pipelines.boundaries[q].isWan
            || pipelines.boundaries[q] != (kind > 0 ? times.boundaries[kind - 1] : BoundaryTimes {}))
            return false;
    }
    return true;
}

/// The iteration with marks: what a class takes says its place in the list of durations.
void mark(IterationCosts &iteration, const PlainFrame &frame, const PlainTimes &times)
{
    PipelineCosts &pipelines = iteration.classes.front();
    const std::size_t chunks = times.ops.size() / frame.firstOf.size();
    const auto markOf = [](std::uint32_t place) { return kMark + Nanoseconds(place); };
    for (std::size_t slot = 0; slot < pipelines.ops.size(); ++slot) {
        const std::size_t of = frame.kindOf[slot / chunks] * chunks + slot % chunks;
        const auto first = std::uint32_t(1 + PlainTimes::kParts * of);
        OpTimes &op = pipelines.ops[slot];
        op.forward = markOf(first);
        op.recompute = op.recompute > 0 ? markOf(first + 4) : 0;
        op.backward = markOf(first + 1) + op.recompute;
        op.inputGrad = markOf(first + 2) + op.recompute;
        op.weightGrad = markOf(first + 3);
    }
    for (std::size_t d = 0; d < frame.kindOf.size(); ++d) {
        SyncAndStepTimes &end = pipelines.syncAndStep[d];
        const std::uint32_t kind = frame.kindOf[d], first = times.syncAt() + 3 * kind;
        end.reduceEarly = 1 + kind; // a lag: its place in that list, below 0
        end.reduce = end.reduce > 0 ? markOf(first) : 0;
        end.optimizer = end.optimizer > 0 ? markOf(first + 1) : 0;
        end.gather = end.gather > 0 ? markOf(first + 2) : 0;
    }
    const auto kinds = std::uint32_t(frame.firstOf.size());
    iteration.overhead = iteration.overhead > 0 ? markOf(times.syncAt() + 3 * kinds) : 0;
    for (std::size_t q = 0; q < frame.boundaryKind.size(); ++q)
        for (std::uint32_t way = 0; way < 2; ++way)
            pipelines.boundaries[q].serialization[way] =
                frame.boundaryKind[q] > 0 ? markOf(1 + kinds + 2 * (frame.boundaryKind[q] - 1u) + way) : 0;
}

/// Classes and lags become the places that their marks say. False where one says none.
bool readMarks(TaskGraph &graph, const PlainTimes &times)
{
    std::vector<std::uint32_t> durationOf, lagOf; // [class], [lag]
    const auto placeOf = [](Nanoseconds marked, std::size_t places) {
        const Nanoseconds place = marked == 0 ? 0 : marked < 0 ? -marked : marked - kMark;
        return place >= 0 && place < Nanoseconds(places) && (place > 0 || marked == 0) ? std::uint32_t(place) : kNoSpan;
    };
    for (const Nanoseconds marked : graph.table.durations)
        durationOf.push_back(placeOf(marked, times.durations.size()));
    for (const Nanoseconds marked : graph.table.lags)
        lagOf.push_back(placeOf(marked, times.lags.size()));
    for (std::uint32_t &taskClass : graph.taskClass)
        if ((taskClass = durationOf[taskClass]) == kNoSpan)
            return false;
    for (std::uint32_t &lag : graph.lag) {
        const std::uint32_t place = lagOf[lag & ~TaskGraph::kFromStart];
        if (place == kNoSpan)
            return false;
        lag = place | (lag & TaskGraph::kFromStart);
    }
    return true;
}

} // namespace

std::optional<PlainTopology> plainTopology(const Workload &workload, const PlainFrame &frame, const PlainTimes &times)
{
    auto costs = cost(workload);
    if (!costs || !costs->offload.empty() || costs->hiddenExchange.value > 0
        || !isOfPlainTimes(costs->iteration, frame, times))
        return std::nullopt;
    mark(costs->iteration, frame, times);
    auto graph = buildPipelineGraph(costs->iteration);
    if (!graph || needsEvents(*graph) || !readMarks(*graph, times))
        return std::nullopt;
    std::optional<LaneSteps> steps = laneSteps(*graph);
    if (!steps)
        return std::nullopt;
    PlainTopology made { *std::move(steps), shortOrder(costs->iteration.classes.front().program, times.isRecomputing),
        {} };
    for (std::size_t d = 0; d < made.work.order.size(); ++d) {
        std::size_t like = 0;
        while (frame.kindOf[like] != frame.kindOf[d] || made.work.order[like] != made.work.order[d])
            ++like;
        made.orderOf.push_back(static_cast<std::uint16_t>(like));
    }
    return made;
}

} // namespace trainyard
