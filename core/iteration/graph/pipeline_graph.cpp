// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/graph/pipeline_graph.h"

#include "core/engine/timeline/graph_cache.h"
#include "core/iteration/graph/contributors.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Members of a cell differ in their micro-batches only.
bool areNeighbours(const PipelineCosts &member, const PipelineCosts &next)
{
    const auto isWan = [](const BoundaryTimes &a, const BoundaryTimes &b) { return a.isWan == b.isWan; };
    return member.cellMember + 1 == next.cellMember && member.cellMembers == next.cellMembers
        && member.pipelines == next.pipelines && member.program.shape.devices == next.program.shape.devices
        && member.program.shape.chunks == next.program.shape.chunks
        && member.program.placement == next.program.placement
        && std::ranges::equal(member.boundaries, next.boundaries, isWan);
}

Expected<void> checkSizes(const IterationCosts &costs)
{
    if (costs.classes.empty())
        return std::unexpected(Error { ErrorCode::Internal, "schedule", "an iteration without pipelines", "" });
    for (const PipelineCosts &pipeline : costs.classes) {
        const Program &program = pipeline.program;
        const auto stages = static_cast<std::size_t>(program.virtualStages());
        const auto before = static_cast<std::size_t>(&pipeline - costs.classes.data());
        if (pipeline.cellMember < 0 || pipeline.cellMember >= pipeline.cellMembers
            || static_cast<std::size_t>(pipeline.cellMember) > before
            || (pipeline.cellMember > 0 && !areNeighbours(costs.classes[before - 1], pipeline)))
            return std::unexpected(
                Error { ErrorCode::Internal, "schedule", "members of a cell that are not alike or not in order", "" });
        if (pipeline.ops.size() != stages || pipeline.boundaries.size() + 1 < stages
            || pipeline.syncAndStep.size() != static_cast<std::size_t>(program.shape.devices)
            || program.order.size() != pipeline.syncAndStep.size()
            || (!pipeline.pairs.empty()
                && pipeline.pairs.size() != stages * static_cast<std::size_t>(program.shape.chunks)))
            return std::unexpected(
                Error { ErrorCode::Internal, "schedule", "costs that do not fit the program's shape", "" });
        if (const OffloadTimes &offload = pipeline.offload; !offload.isEmpty()
            && (offload.ops.size() != stages || offload.paths.size() != pipeline.syncAndStep.size()
                || offload.ahead.size() != offload.paths.size()))
            return std::unexpected(
                Error { ErrorCode::Internal, "schedule", "offloading that does not fit the program", "" });
        if (const LayerLoopTimes &layers = pipeline.layers; layers.isEmpty() != costs.classes.front().layers.isEmpty()
            || (!layers.isEmpty()
                && (program.shape.devices != 1 || layers.gather.size() != stages || layers.reduce.size() != stages)))
            return std::unexpected(
                Error { ErrorCode::Internal, "schedule", "a layer loop that does not fit the program", "" });
        if (const StateTimes &states = pipeline.states; (!states.moves.empty() && states.moves.size() != stages)
            || (!states.steps.empty() && states.steps.size() != pipeline.syncAndStep.size()))
            return std::unexpected(
                Error { ErrorCode::Internal, "schedule", "states off the GPU that do not fit the program", "" });
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
                if (op.chunk < 0 || op.chunk >= shape.chunks || op.microBatch < 0
                    || op.microBatch >= shape.microBatches)
                    return std::unexpected(
                        Error { ErrorCode::Internal, "schedule", "an operation outside the program's shape", "" });
                if (op.kind == OpKind::PairedForward
                    && (pipeline.pairs.empty() || i + 1 == order.size() || order[i + 1].kind != OpKind::Backward))
                    return std::unexpected(Error {
                        ErrorCode::Internal, "schedule", "a forward paired with no backward, or no time for it", "" });
            }
    }
    return {};
}

/// The list of contributors: class by class, each kind once.
class Iteration {
public:
    Iteration(const IterationCosts &costs, std::span<const PartOf> more)
        : m_costs(costs)
    {
        std::vector<Transfers *> transfers;
        for (int c = 0; c < static_cast<int>(costs.classes.size()); ++c) {
            ClassTasks &tasks = *m_classes.emplace_back(std::make_unique<ClassTasks>(costs, c));
            const auto member = static_cast<std::size_t>(tasks.pipeline.cellMember);
            auto crossing =
                std::make_unique<Transfers>(tasks, member > 0 ? transfers[transfers.size() - member] : nullptr);
            auto states = std::make_unique<StateRows>(tasks);
            auto layers = std::make_unique<LayerLoop>(tasks, m_layers);
            auto sync = std::make_unique<SyncAndStep>(tasks, m_sync, *states);
            m_layers.push_back(layers.get());
            transfers.push_back(crossing.get());
            m_sync.push_back(sync.get());
            add(std::make_unique<Operations>(tasks, *crossing));
            add(std::make_unique<ActivationMoves>(tasks));
            add(std::move(states));
            add(std::move(crossing));
            add(std::move(layers));
            add(std::move(sync));
            for (const PartOf part : more)
                add(part(tasks));
        }
    }

    [[nodiscard]] std::uint64_t fingerprint() const
    {
        Fingerprint print;
        print.add(m_costs.classes.size());
        for (const auto &part : m_parts)
            part->shape(print);
        return print.value();
    }

    void times(ClassTable &table)
    {
        table.clear();
        table.linkCapacity = m_costs.linkCapacity;
        for (const auto &part : m_parts)
            part->times(table);
    }

    Expected<TaskGraph> build(std::uint64_t fingerprint)
    {
        ClassTable table;
        times(table);
        GraphBuilder builder(std::move(table));
        std::size_t operations = 0;
        for (const PipelineCosts &pipeline : m_costs.classes)
            for (const std::vector<Op> &order : pipeline.program.order)
                operations += order.size();
        builder.reserve(operations + operations / 8);
        for (const auto &part : m_parts)
            part->tasks(builder);
        for (const auto &part : m_parts)
            if (const auto ordered = part->order(builder); !ordered)
                return std::unexpected(ordered.error());
        return std::move(builder).finish(fingerprint);
    }

private:
    void add(std::unique_ptr<Contributor> part) { m_parts.push_back(std::move(part)); }

    const IterationCosts &m_costs;
    std::vector<std::unique_ptr<ClassTasks>> m_classes;
    std::vector<LayerLoop *> m_layers;
    std::vector<SyncAndStep *> m_sync;
    std::vector<std::unique_ptr<Contributor>> m_parts;
};

} // namespace

Expected<TaskGraph> buildPipelineGraph(const IterationCosts &costs, std::span<const PartOf> more)
{
    if (const auto checked = checkSizes(costs); !checked)
        return std::unexpected(checked.error());
    if (const auto checked = checkOps(costs); !checked)
        return std::unexpected(checked.error());
    Iteration iteration(costs, more);
    return iteration.build(iteration.fingerprint());
}

Expected<TaskGraph> pipelineGraph(const IterationCosts &costs, GraphCache &cache, std::span<const PartOf> more)
{
    if (const auto checked = checkSizes(costs); !checked)
        return std::unexpected(checked.error());
    Iteration iteration(costs, more);
    const std::uint64_t fingerprint = iteration.fingerprint();
    if (std::optional<TaskGraph> graph = cache.take(fingerprint)) {
        iteration.times(graph->table);
        return std::move(*graph);
    }
    if (const auto checked = checkOps(costs); !checked)
        return std::unexpected(checked.error());
    return iteration.build(fingerprint);
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
            if (timeline.kind[span]
                <= WorkKind::Recompute) { // the first work kinds are the op kinds, in the same order
                const Op op { static_cast<OpKind>(timeline.kind[span]), false,
                    static_cast<std::int16_t>(timeline.chunk[span]), timeline.microBatch[span] };
                if (order.empty() || order.back() != op) // one that is cut has several spans
                    order.push_back(op);
            }
    }
}

} // namespace trainyard
