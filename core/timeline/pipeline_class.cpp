// SPDX-License-Identifier: GPL-3.0-or-later
// The first pass: which resources a class has, and the number of every task on them.
#include "core/timeline/pipeline_class.h"

#include <algorithm>

namespace trainyard {

namespace {

Discipline disciplineOf(OrderRule rule)
{
    switch (rule) {
    case OrderRule::Strict: return Discipline::FixedOrder;
    case OrderRule::OpportunisticForward: return Discipline::OpportunisticForward;
    case OrderRule::WorkConserving: return Discipline::WorkConserving;
    }
    return Discipline::FixedOrder;
}

} // namespace

PipelineClassTasks::PipelineClassTasks(const IterationCosts &costs, int index, const ClassCosts &at)
    : m_costs(costs), m_pipeline(costs.classes[static_cast<std::size_t>(index)]), m_program(m_pipeline.program), m_index(index),
      m_at(at), m_devices(m_program.shape.devices), m_chunks(m_program.shape.chunks), m_microBatches(m_program.shape.microBatches)
{
}

void PipelineClassTasks::number(std::uint32_t &task, std::uint32_t &resource, const PipelineClassTasks *before)
{
    m_firstResource = resource;
    for (int d = 0; d < m_devices; ++d) {
        Resource device{.discipline = disciplineOf(m_program.rule), .track = {.stream = Stream::Compute, .pipelineClass = m_index, .stage = d}};
        if (const auto &limits = m_program.shape.inFlightLimit; !limits.empty())
            device.inFlightLimit = static_cast<std::uint32_t>(limits[static_cast<std::size_t>(d)]);
        m_resources.push_back(device);
    }
    findStages();
    findSegments();
    numberOps(task);
    numberMoves(task);
    numberStates(task);
    numberChannels(task, before);
    numberSyncAndStep(task);
    resource += static_cast<std::uint32_t>(m_resources.size());
}

void PipelineClassTasks::findSegments()
{
    if (m_pipeline.offload.isEmpty())
        return;
    const auto splits = [](const std::vector<Op> &order) { return std::ranges::find(order, OpKind::InputGrad, &Op::kind) != order.end(); };
    m_splitsBackward = std::ranges::any_of(m_program.order, splits);
    std::uint32_t segments = 0;
    for (const std::vector<OffloadSegment> &op : m_pipeline.offload.ops) {
        m_firstSegment.push_back(segments);
        segments += static_cast<std::uint32_t>(op.size());
    }
}

void PipelineClassTasks::addTrack(std::uint32_t &task, std::uint32_t count, Discipline discipline, Track track)
{
    track.pipelineClass = m_index;
    track.first = task;
    track.last = task += count;
    m_resources.push_back({.discipline = discipline, .track = track});
}

/// A cell's channel carries the transfers of all members, one member after the other in number; it is numbered with the first.
void PipelineClassTasks::numberChannels(std::uint32_t &task, const PipelineClassTasks *before)
{
    std::uint64_t microBatches = 0;   // of all members: they send alike for each
    for (int k = 0; k < m_pipeline.cellMembers - m_pipeline.cellMember; ++k)
        microBatches += static_cast<std::uint64_t>(m_costs.classes[static_cast<std::size_t>(m_index + k)].program.shape.microBatches);
    for (std::size_t i = 0; i < m_channels.size(); ++i) {
        Channel &channel = m_channels[i];
        if (before) {
            channel.first = before->m_channels[i].first + before->m_channels[i].count;
            continue;
        }
        channel.first = task;
        addTrack(task, static_cast<std::uint32_t>(channel.count * microBatches / static_cast<std::uint64_t>(m_microBatches)),
                 m_pipeline.cellMembers > 1 ? Discipline::Turns : Discipline::FixedOrder,
                 {.stream = Stream::Wan, .stage = channel.from, .toStage = channel.to, .wanLink = channel.wanLink});
    }
    for (Channel &channel : m_channels) {
        if (channel.scatters) {
            channel.firstScatter = task;
            addTrack(task, channel.count, Discipline::FixedOrder, {.stream = Stream::Copy, .stage = channel.from, .toStage = channel.to});
        }
        if (channel.gathers) {
            channel.firstGather = task;
            addTrack(task, channel.count, Discipline::FixedOrder, {.stream = Stream::Copy, .stage = channel.to, .toStage = channel.to});
        }
    }
}

bool PipelineClassTasks::isRecomputed(const Op &op, std::size_t slot) const
{
    return op.recomputes && m_pipeline.ops[slot].recompute > 0;
}

void PipelineClassTasks::findStages()
{
    const int stages = m_program.virtualStages();
    m_stages.resize(static_cast<std::size_t>(stages));
    m_stageOf.resize(m_stages.size());
    for (int d = 0; d < m_devices; ++d)
        for (int c = 0; c < m_chunks; ++c) {
            const int q = m_program.virtualStage(d, c);
            m_stages[static_cast<std::size_t>(q)] = {.device = d, .chunk = c, .begins = m_program.beginsChain(q), .ends = m_program.endsChain(q)};
            m_stageOf[static_cast<std::size_t>(d * m_chunks + c)] = q;
        }
    for (std::size_t q = 0; q + 1 < m_stages.size(); ++q) {
        Stage &from = m_stages[q], &to = m_stages[q + 1];
        const BoundaryTimes &boundary = m_pipeline.boundaries[q];
        from.crosses = !from.ends && from.device != to.device;
        if (!from.crosses || !boundary.isWan)
            continue;
        from.sends[0] = findChannel(from.device, to.device, boundary, 0);
        to.sends[1] = findChannel(to.device, from.device, boundary, 1);
    }
    const std::size_t cells = m_stages.size() * static_cast<std::size_t>(m_microBatches);
    for (int direction = 0; direction < 2; ++direction) {
        m_result[direction].assign(cells, kNoSpan);
        if (!m_channels.empty())
            m_transfer[direction].assign(cells, kNoSpan);
    }
}

int PipelineClassTasks::findChannel(int from, int to, const BoundaryTimes &boundary, int direction)
{
    auto found = std::ranges::find_if(m_channels, [&](const Channel &channel) { return channel.from == from && channel.to == to; });
    if (found == m_channels.end())
        found = m_channels.insert(m_channels.end(), Channel{.from = from, .to = to, .wanLink = boundary.wanLink});
    found->scatters |= m_pipeline.cellMembers > 1 && boundary.scatter[direction] > 0;
    found->gathers |= m_pipeline.cellMembers > 1 && boundary.gather[direction] > 0;
    return static_cast<int>(found - m_channels.begin());
}

void PipelineClassTasks::numberOps(std::uint32_t &task)
{
    for (int d = 0; d < m_devices; ++d) {
        Track &track = m_resources[static_cast<std::size_t>(d)].track;
        const SyncAndStepTimes &times = m_pipeline.syncAndStep[static_cast<std::size_t>(d)];
        track.first = task;
        const Op *paired = nullptr;   // a forward that shares its task with the backward that follows
        for (const Op &op : m_program.order[static_cast<std::size_t>(d)]) {
            if (op.kind == OpKind::PairedForward) {
                paired = &op;
                m_hasPairs = true;
                continue;
            }
            const bool isPaired = paired != nullptr;
            if (paired) {
                const bool recomputes = isRecomputed(op, static_cast<std::size_t>(d * m_chunks + op.chunk));
                numberResult(*paired, static_cast<std::size_t>(d * m_chunks + paired->chunk), task + (recomputes ? 1 : 0));
                paired = nullptr;
            }
            numberOp(op, d, isPaired, task);
        }
        SyncAndStep syncAndStep{kNoSpan, kNoSpan, kNoSpan, kNoSpan, kNoSpan};
        if (task > track.first)
            syncAndStep.lastOp = task - 1;
        if (times.optimizer > 0)
            syncAndStep.optimizer = task++;
        if (m_costs.overhead > 0)
            syncAndStep.overhead = task++;
        track.last = task;
        m_syncAndStep.push_back(syncAndStep);
    }
}

void PipelineClassTasks::numberOp(const Op &op, int device, bool isPaired, std::uint32_t &task)
{
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const std::uint32_t count = tasksOf(op, slot, isPaired);
    if (count == 0)
        return;
    task += count;
    if (isForward(op.kind) || makesGradient(op.kind))
        numberResult(op, slot, task - 1);
}

/// Tasks of an operation, that of its pair included.
std::uint32_t PipelineClassTasks::tasksOf(const Op &op, std::size_t slot, bool isPaired) const
{
    if (op.kind == OpKind::Recompute && m_pipeline.ops[slot].recompute <= 0)
        return 0;
    const bool recomputes = isRecomputed(op, slot);
    const std::vector<OffloadSegment> *segments = isPaired ? nullptr : segmentsOf(op, slot);
    if (!segments)
        return recomputes ? 2 : 1;
    const auto recompute = static_cast<std::uint32_t>(std::ranges::count_if(*segments, [](const OffloadSegment &s) { return s.recompute > 0; }));
    if (op.kind == OpKind::Recompute)
        return recompute;
    return static_cast<std::uint32_t>(segments->size()) + (recomputes ? recompute : 0);
}

void PipelineClassTasks::numberResult(const Op &op, std::size_t slot, std::uint32_t task)
{
    const int direction = isForward(op.kind) ? 0 : 1;
    const int q = m_stageOf[slot];
    m_result[direction][cell(q, op.microBatch)] = task;
    if (const int channel = m_stages[static_cast<std::size_t>(q)].sends[direction]; channel >= 0)
        m_transfer[direction][cell(q, op.microBatch)] = m_channels[static_cast<std::size_t>(channel)].count++;
}

void PipelineClassTasks::numberSyncAndStep(std::uint32_t &task)
{
    for (int d = 0; d < m_devices; ++d) {
        const SyncAndStepTimes &times = m_pipeline.syncAndStep[static_cast<std::size_t>(d)];
        SyncAndStep &syncAndStep = m_syncAndStep[static_cast<std::size_t>(d)];
        const bool hasBarrier = m_costs.optimizerBarrier && m_index == 0 && d == 0;
        if (times.reduce <= 0 && times.gather <= 0 && !hasBarrier)
            continue;
        Track track{.stream = Stream::Collective, .pipelineClass = m_index, .stage = d, .first = task};
        if (times.reduce > 0)
            syncAndStep.reduce = task++;
        if (hasBarrier)
            m_barrier = task++;
        if (times.gather > 0)
            syncAndStep.gather = task++;
        track.last = task;
        m_resources.push_back({.track = track});
    }
}

} // namespace trainyard
