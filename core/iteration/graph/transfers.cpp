// SPDX-License-Identifier: GPL-3.0-or-later
// Temporal sharing (Atlas, arXiv 2411.14458): a cell's channel carries the transfers of all its members, one member
// after the other in number. Whose turn it is goes by the place of a transfer among those that its sender makes: in the
// order of micro-batches where the schedule keeps it, in reverse where gradients are made so.
#include "core/iteration/graph/contributors.h"

#include <algorithm>

namespace trainyard {

void Transfers::shape(Fingerprint &print) const
{
    print.add(
        static_cast<std::uint64_t>(m_.pipeline.cellMembers) << 32 | static_cast<std::uint64_t>(m_.pipeline.cellMember));
    print.add((m_.costs.linkCapacity.empty() ? 1u : 0u) | (m_.costs.turns == TurnOrder::DrainFirst ? 2u : 0u));
    for (const BoundaryTimes &boundary : m_.pipeline.boundaries)
        print.add((boundary.isWan ? static_cast<std::uint64_t>(boundary.wanLink + 2) : 0u) << 4
            | (boundary.scatter[0] > 0 ? 1u : 0u) | (boundary.scatter[1] > 0 ? 2u : 0u)
            | (boundary.gather[0] > 0 ? 4u : 0u) | (boundary.gather[1] > 0 ? 8u : 0u));
}

void Transfers::times(ClassTable &table)
{
    const bool isShared = m_.pipeline.cellMembers > 1;
    m_serialization = static_cast<std::uint32_t>(table.durations.size());
    m_latency = static_cast<std::uint32_t>(table.lags.size());
    for (const BoundaryTimes &boundary : m_.pipeline.boundaries)
        for (int direction = 0; direction < 2; ++direction) {
            std::uint32_t flow = kNoSpan;
            if (boundary.isWan && !m_.costs.linkCapacity.empty()) {
                flow = static_cast<std::uint32_t>(table.flows.size());
                table.flows.push_back({ boundary.bytes[direction], boundary.rateCap[direction],
                    static_cast<double>(m_.pipeline.pipelines),
                    { static_cast<std::uint32_t>(boundary.linkDirection[direction]) } });
            }
            table.add(WorkKind::WanTransfer, boundary.serialization[direction], boundary.bytes[direction], flow);
            table.addLag(boundary.latency[direction]);
        }
    m_pieces = static_cast<std::uint32_t>(table.durations.size());
    for (std::size_t q = 0; q < m_.pipeline.boundaries.size() && isShared; ++q)
        for (int direction = 0; direction < 2; ++direction) {
            table.add(WorkKind::PipelineTransfer, m_.pipeline.boundaries[q].scatter[direction]);
            table.add(WorkKind::PipelineTransfer, m_.pipeline.boundaries[q].gather[direction]);
        }
}

void Transfers::findChannels()
{
    m_sends.assign(m_.stages.size(), { -1, -1 });
    for (std::size_t q = 0; q + 1 < m_.stages.size(); ++q) {
        const StageOfChain &from = m_.stages[q], &to = m_.stages[q + 1];
        const BoundaryTimes &boundary = m_.pipeline.boundaries[q];
        if (!from.crosses || !boundary.isWan)
            continue;
        m_sends[q][0] = findChannel(from.device, to.device, boundary, 0);
        m_sends[q + 1][1] = findChannel(to.device, from.device, boundary, 1);
    }
    for (auto &places : m_place)
        places.assign(m_channels.empty() ? 0 : m_.stages.size() * static_cast<std::size_t>(m_.microBatches), kNoSpan);
}

int Transfers::findChannel(int from, int to, const BoundaryTimes &boundary, int direction)
{
    auto found = std::ranges::find_if(
        m_channels, [&](const Channel &channel) { return channel.from == from && channel.to == to; });
    if (found == m_channels.end())
        found = m_channels.insert(m_channels.end(), Channel { .from = from, .to = to, .wanLink = boundary.wanLink });
    found->scatters |= m_.pipeline.cellMembers > 1 && boundary.scatter[direction] > 0;
    found->gathers |= m_.pipeline.cellMembers > 1 && boundary.gather[direction] > 0;
    return static_cast<int>(found - m_channels.begin());
}

/// Calls visit(transfer) for each transfer of this class over the channel, in the order in which the sender makes them.
template <class Visit> void Transfers::each(std::size_t channel, Visit visit) const
{
    const int from = m_channels[channel].from;
    std::uint32_t place = 0;
    for (const Op &op : m_.program.order[static_cast<std::size_t>(from)]) {
        if (!isForward(op.kind) && !makesGradient(op.kind))
            continue;
        const int direction = isForward(op.kind) ? 0 : 1, q = m_.stageOf[m_.slot(from, op.chunk)];
        if (m_sends[static_cast<std::size_t>(q)][static_cast<std::size_t>(direction)] == static_cast<int>(channel))
            visit(Transfer {
                static_cast<std::uint32_t>(2 * (direction == 0 ? q : q - 1) + direction), place++, q, direction, &op });
    }
}

void Transfers::tasks(GraphBuilder &builder)
{
    findChannels();
    const bool givesTurns = m_.pipeline.cellMembers > 1;
    for (std::size_t i = 0; i < m_channels.size(); ++i) {
        Channel &channel = m_channels[i];
        channel.resource = m_owner != this ? m_owner->m_channels[i].resource
                                           : builder.resource({ .stream = Stream::Wan,
                                                                  .pipelineClass = m_.index,
                                                                  .stage = channel.from,
                                                                  .toStage = channel.to,
                                                                  .wanLink = channel.wanLink },
                                               givesTurns ? Discipline::Turns : Discipline::FixedOrder);
        channel.first = builder.taskCount();
        each(i, [&](const Transfer &transfer) {
            const TaskId task = builder.task(channel.resource, m_serialization + transfer.boundary,
                { transfer.op->microBatch, transfer.op->chunk, false });
            m_place[transfer.direction][m_.cell(transfer.producer, transfer.op->microBatch)] = transfer.place;
            const std::int64_t place = transfer.place, member = m_.pipeline.cellMember;
            if (givesTurns)
                builder.setPriority(task,
                    m_.costs.turns == TurnOrder::RoundRobin ? place * m_.pipeline.cellMembers + member
                                                            : (member << 32) + place);
        });
    }
    for (Channel &channel : m_channels) {
        if (channel.scatters)
            addPieces(builder, channel, false);
        if (channel.gathers)
            addPieces(builder, channel, true);
    }
}

/// What a member does inside its datacenter before and after its turn on the cell's channel.
void Transfers::addPieces(GraphBuilder &builder, Channel &channel, bool gathers)
{
    const auto resource = builder.resource({ .stream = Stream::Copy,
        .pipelineClass = m_.index,
        .stage = gathers ? channel.to : channel.from,
        .toStage = channel.to });
    (gathers ? channel.firstGather : channel.firstScatter) = builder.taskCount();
    each(static_cast<std::size_t>(&channel - m_channels.data()), [&](const Transfer &transfer) {
        builder.task(resource, m_pieces + 2 * transfer.boundary + (gathers ? 1 : 0),
            { transfer.op->microBatch, transfer.op->chunk, false });
    });
}

Expected<void> Transfers::order(GraphBuilder &builder)
{
    for (std::size_t i = 0; i < m_channels.size(); ++i) {
        const Channel &channel = m_channels[i];
        each(i, [&](const Transfer &transfer) {
            const TaskId result = m_.result[transfer.direction][m_.cell(transfer.producer, transfer.op->microBatch)];
            builder.carry(channel.first + transfer.place, result);
            if (channel.scatters) {
                builder.after(channel.firstScatter + transfer.place, result);
                builder.after(channel.first + transfer.place, channel.firstScatter + transfer.place);
            }
            if (channel.gathers)
                builder.after(channel.firstGather + transfer.place, channel.first + transfer.place,
                    m_latency + transfer.boundary);
        });
    }
    return {};
}

void Transfers::waitForArrival(GraphBuilder &builder, TaskId task, int producer, int direction, int microBatch) const
{
    const Channel &channel = m_channels[static_cast<std::size_t>(
        m_sends[static_cast<std::size_t>(producer)][static_cast<std::size_t>(direction)])];
    const std::uint32_t place = m_place[direction][m_.cell(producer, microBatch)];
    const auto boundary = static_cast<std::uint32_t>(2 * (direction == 0 ? producer : producer - 1) + direction);
    if (channel.gathers)
        builder.after(task, channel.firstGather + place);
    else
        builder.after(task, channel.first + place, m_latency + boundary);
}

} // namespace trainyard
