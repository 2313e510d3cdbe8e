// SPDX-License-Identifier: GPL-3.0-or-later
// Two passes. The first numbers the tasks, resource by resource: compute tracks, WAN channels, collective tracks of each
// class. The second writes tasks and predecessors in that order. A channel is one direction between two devices; chunks
// that cross between the same devices share it, in the order in which the sender makes what it sends.
#include "core/timeline/pipeline_class.h"
#include "core/timeline/pipeline_costs.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Members of a cell differ in their micro-batches only.
bool areNeighbours(const PipelineCosts &member, const PipelineCosts &next)
{
    const auto isWan = [](const BoundaryTimes &a, const BoundaryTimes &b) { return a.isWan == b.isWan; };
    return member.cellMember + 1 == next.cellMember && member.cellMembers == next.cellMembers && member.pipelines == next.pipelines
        && member.program.shape.devices == next.program.shape.devices && member.program.shape.chunks == next.program.shape.chunks
        && member.program.placement == next.program.placement && std::ranges::equal(member.boundaries, next.boundaries, isWan);
}

Expected<void> checkSizes(const IterationCosts &costs)
{
    if (costs.classes.empty())
        return std::unexpected(Error{ErrorCode::Internal, "schedule", "an iteration without pipelines", ""});
    for (const PipelineCosts &pipeline : costs.classes) {
        const Program &program = pipeline.program;
        const auto stages = static_cast<std::size_t>(program.virtualStages());
        const auto before = static_cast<std::size_t>(&pipeline - costs.classes.data());
        if (pipeline.cellMember < 0 || pipeline.cellMember >= pipeline.cellMembers || static_cast<std::size_t>(pipeline.cellMember) > before
            || (pipeline.cellMember > 0 && !areNeighbours(costs.classes[before - 1], pipeline)))
            return std::unexpected(Error{ErrorCode::Internal, "schedule", "lanes of a cell that are not alike or not in order", ""});
        if (pipeline.ops.size() != stages || pipeline.boundaries.size() + 1 < stages
            || pipeline.syncAndStep.size() != static_cast<std::size_t>(program.shape.devices)
            || program.order.size() != pipeline.syncAndStep.size()
            || (!pipeline.pairs.empty() && pipeline.pairs.size() != stages * static_cast<std::size_t>(program.shape.chunks)))
            return std::unexpected(Error{ErrorCode::Internal, "schedule", "costs that do not fit the program's shape", ""});
        if (const OffloadTimes &offload = pipeline.offload; !offload.isEmpty()
            && (offload.ops.size() != stages || offload.paths.size() != pipeline.syncAndStep.size()))
            return std::unexpected(Error{ErrorCode::Internal, "schedule", "offloading that does not fit the program", ""});
        if (const StateTimes &states = pipeline.states; (!states.moves.empty() && states.moves.size() != stages)
            || (!states.steps.empty() && states.steps.size() != pipeline.syncAndStep.size()))
            return std::unexpected(Error{ErrorCode::Internal, "schedule", "states off the GPU that do not fit the program", ""});
    }
    return {};
}

Expected<void> checkOps(const IterationCosts &costs)
{
    for (const PipelineCosts &pipeline : costs.classes) {
        const ScheduleShape &shape = pipeline.program.shape;
        for (const std::vector<Op> &order : pipeline.program.order)
            for (std::size_t i = 0; i < order.size(); ++i) {
                const Op &op = order[i];
                if (op.chunk < 0 || op.chunk >= shape.chunks || op.microBatch < 0 || op.microBatch >= shape.microBatches)
                    return std::unexpected(Error{ErrorCode::Internal, "schedule", "an operation outside the program's shape", ""});
                if (op.kind == OpKind::PairedForward
                    && (pipeline.pairs.empty() || i + 1 == order.size() || order[i + 1].kind != OpKind::Backward))
                    return std::unexpected(Error{ErrorCode::Internal, "schedule", "a forward paired with no backward, or no time for it", ""});
            }
    }
    return {};
}

void allocate(TaskGraph &graph, const std::vector<PipelineClassTasks> &classes, std::size_t tasks)
{
    for (const PipelineClassTasks &tasksOfClass : classes)
        graph.resources.insert(graph.resources.end(), tasksOfClass.resources().begin(), tasksOfClass.resources().end());
    graph.kind.resize(tasks);
    graph.resource.resize(tasks);
    graph.durationClass.resize(tasks);
    graph.microBatch.resize(tasks);
    graph.chunk.resize(tasks);
    graph.flow.resize(graph.flows.empty() ? 0 : tasks);
    // What else has a queue is served as it comes, in the order of its numbers.
    if (std::ranges::any_of(graph.resources, [](const Resource &r) { return r.discipline == Discipline::Turns; }))
        graph.priority.assign(tasks, 0);
    if (std::ranges::any_of(classes, &PipelineClassTasks::hasPairs)) {
        graph.pairedMicroBatch.assign(tasks, -1);
        graph.pairedChunk.assign(tasks, 0);
    }
    if (std::ranges::any_of(classes, &PipelineClassTasks::offloads)) {
        graph.partner.assign(tasks, kNoSpan);
        graph.endsForwarded.assign(tasks, 0);
    }
    if (std::ranges::any_of(classes, &PipelineClassTasks::cutsAtRunTime))
        graph.continues.assign(tasks, 0);
    graph.predBegin.resize(tasks + 1);
    graph.pred.reserve(tasks + tasks / 2);
    graph.lagClass.reserve(tasks + tasks / 2);
}

} // namespace

Expected<TaskGraph> buildPipelineGraph(const IterationCosts &costs)
{
    if (const auto checked = checkSizes(costs); !checked)
        return std::unexpected(checked.error());
    if (const auto checked = checkOps(costs); !checked)
        return std::unexpected(checked.error());
    TaskGraph graph;
    writeCosts(graph, costs);
    const std::vector<ClassCosts> layout = layOutCosts(costs);
    std::vector<PipelineClassTasks> classes;
    classes.reserve(layout.size());
    std::uint32_t tasks = 0, resources = 0;
    for (std::size_t c = 0; c < layout.size(); ++c) {
        classes.emplace_back(costs, static_cast<int>(c), layout[c]);
        const auto member = static_cast<std::size_t>(costs.classes[c].cellMember);
        classes.back().number(tasks, resources, member > 0 ? &classes[c - 1] : nullptr);
    }
    allocate(graph, classes, tasks);
    for (PipelineClassTasks &tasksOfClass : classes)
        if (const auto written = tasksOfClass.write(graph, classes); !written)
            return std::unexpected(written.error());
    graph.predBegin[tasks] = static_cast<std::uint32_t>(graph.pred.size());
    // Where a resource decides while it runs, the event loop needs no order, and finds circles itself.
    const auto isFixed = [](const Resource &r) { return r.discipline == Discipline::FixedOrder; };
    if (std::ranges::all_of(graph.resources, isFixed))
        if (const auto sorted = sortTopologically(graph); !sorted)
            return std::unexpected(sorted.error());
    graph.fingerprint = topologyFingerprint(costs);
    return graph;
}

bool updatePipelineGraph(TaskGraph &graph, const IterationCosts &costs)
{
    if (!checkSizes(costs) || graph.fingerprint != topologyFingerprint(costs))
        return false;
    writeCosts(graph, costs);
    return true;
}

void recordExecutedOrder(IterationCosts &costs, const Timeline &timeline)
{
    for (const Track &track : timeline.tracks) {
        Program &program = costs.classes[static_cast<std::size_t>(track.pipelineClass)].program;
        if (track.stream != Stream::Compute || program.rule != OrderRule::WorkConserving)
            continue;
        std::vector<Op> &order = program.order[static_cast<std::size_t>(track.stage)];
        order.clear();
        for (std::uint32_t span = track.first; span < track.last; ++span)
            if (timeline.kind[span] <= WorkKind::Recompute) {   // the first work kinds are the op kinds, in the same order
                const Op op{static_cast<OpKind>(timeline.kind[span]), false, static_cast<std::int16_t>(timeline.chunk[span]), timeline.microBatch[span]};
                if (order.empty() || order.back() != op)   // one that is cut has several spans
                    order.push_back(op);
            }
    }
}

} // namespace trainyard
