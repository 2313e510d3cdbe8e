// SPDX-License-Identifier: GPL-3.0-or-later
// The second pass: tasks with their predecessors, in the order of their numbers.
#include "core/timeline/pipeline_class.h"

#include <algorithm>

namespace trainyard {

namespace {

WorkKind workOf(OpKind kind)
{
    return static_cast<WorkKind>(kind);   // the first work kinds are the op kinds, in the same order
}
static_assert(static_cast<int>(WorkKind::Recompute) == static_cast<int>(OpKind::Recompute));

} // namespace

struct PipelineClassTasks::Writer {
    TaskGraph &graph;
    std::uint32_t resource = 0;
    std::uint32_t next = 0;        // number of the next task

    void task(WorkKind kind, std::uint32_t durationClass, std::int32_t microBatch = -1, int chunk = 0, std::uint32_t flow = kNoSpan)
    {
        graph.kind[next] = kind;
        graph.resource[next] = resource;
        graph.durationClass[next] = durationClass;
        graph.microBatch[next] = microBatch;
        graph.chunk[next] = static_cast<std::uint16_t>(chunk);
        graph.predBegin[next] = static_cast<std::uint32_t>(graph.pred.size());
        if (!graph.flow.empty())
            graph.flow[next] = flow;
        ++next;
    }

    /// Of the task written last.
    void after(std::uint32_t task, std::uint32_t lagClass = kNoLag)
    {
        if (task == kNoSpan)
            return;
        graph.pred.push_back(task);
        graph.lagClass.push_back(lagClass);
    }
};

Expected<void> PipelineClassTasks::write(TaskGraph &graph, const std::vector<PipelineClassTasks> &classes) const
{
    Writer writer{graph, m_firstResource, m_resources.front().track.first};
    for (int d = 0; d < m_devices; ++d, ++writer.resource) {
        for (const Op &op : m_program.order[static_cast<std::size_t>(d)])
            if (!writeOp(writer, op, d))
                return std::unexpected(missingBefore(op, d));
        const Tail &tail = m_tail[static_cast<std::size_t>(d)];
        if (tail.optimizer != kNoSpan) {
            writer.task(WorkKind::Optimizer, m_at.tail + 3 * static_cast<std::uint32_t>(d) + 1);
            writer.after(m_costs.optimizerBarrier ? classes.front().m_barrier : tail.reduce);
        }
        if (tail.overhead != kNoSpan) {
            writer.task(WorkKind::Overhead, kOverheadDuration);
            writer.after(tail.gather != kNoSpan ? tail.gather : tail.reduce);
        }
    }
    for (const Channel &channel : m_channels) {
        writer.resource = m_firstResource + static_cast<std::uint32_t>(channel.resource);
        writeChannel(writer, channel, m_resources[channel.resource].track);
    }
    for (std::size_t r = static_cast<std::size_t>(m_devices) + m_channels.size(); r < m_resources.size(); ++r) {
        writer.resource = m_firstResource + static_cast<std::uint32_t>(r);
        writeCollectives(writer, m_resources[r].track.stage, classes);
    }
    return {};
}

/// False where something that the operation needs is missing or comes later on the same device.
bool PipelineClassTasks::writeOp(Writer &writer, const Op &op, int device) const
{
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const int q = m_stageOf[slot];
    const std::uint32_t costs = m_at.ops + 5 * static_cast<std::uint32_t>(slot);
    const bool isGradient = op.kind == OpKind::Backward || op.kind == OpKind::InputGrad;
    const bool isRecomputedNow = isRecomputed(op, slot);
    if (isGradient && m_result[0][cell(q, op.microBatch)] >= writer.next)
        return false;
    if (op.kind == OpKind::WeightGrad && m_result[1][cell(q, op.microBatch)] >= writer.next)
        return false;
    const OpKind first = isRecomputedNow ? OpKind::Recompute : op.kind;
    writer.task(workOf(first), costs + static_cast<std::uint32_t>(first), op.microBatch, op.chunk);
    if (op.kind == OpKind::Forward && !dependOn(writer, q - 1, q, op.microBatch, 0))
        return false;
    if (isGradient && !dependOn(writer, q + 1, q, op.microBatch, 1))
        return false;
    // Fused: the recomputation waits for the gradient like the backward that it belongs to.
    if (isRecomputedNow)
        writer.task(workOf(op.kind), costs + static_cast<std::uint32_t>(op.kind), op.microBatch, op.chunk);
    return true;
}

bool PipelineClassTasks::dependOn(Writer &writer, int producer, int consumer, int microBatch, int direction) const
{
    if (producer < 0 || producer >= static_cast<int>(m_stages.size()))
        return true;
    const std::uint32_t result = m_result[direction][cell(producer, microBatch)];
    const int boundary = std::min(producer, consumer);
    if (result == kNoSpan)
        return false;
    if (!m_stages[static_cast<std::size_t>(boundary)].crosses)
        return result < writer.next;
    const std::uint32_t lag = m_at.boundary + 2 * static_cast<std::uint32_t>(boundary) + static_cast<std::uint32_t>(direction);
    const int channel = m_stages[static_cast<std::size_t>(producer)].sends[direction];
    if (channel < 0)
        writer.after(result, lag);
    else
        writer.after(m_channels[static_cast<std::size_t>(channel)].first + m_transfer[direction][cell(producer, microBatch)], lag);
    return true;
}

Error PipelineClassTasks::missingBefore(const Op &op, int device) const
{
    const int q = stageOf(device, op.chunk);
    const bool isForward = op.kind == OpKind::Forward;
    const int from = isForward ? q - 1 : q + 1;   // the stage of its input or gradient
    std::string needed;
    if (op.kind == OpKind::WeightGrad)
        needed = "input gradient";
    else if (!isForward && m_result[0][cell(q, op.microBatch)] >= m_result[1][cell(q, op.microBatch)])
        needed = "forward";
    else
        needed = std::string(isForward ? "input" : "gradient") + " from stage "
            + std::to_string(m_stages[static_cast<std::size_t>(from)].device);
    return {ErrorCode::Internal, "schedule",
            "stage " + std::to_string(device) + ": " + toString(workOf(op.kind)) + " of micro-batch " + std::to_string(op.microBatch)
                + ", chunk " + std::to_string(op.chunk) + " waits for its " + needed + ", which the program lacks or has later",
            ""};
}

void PipelineClassTasks::writeChannel(Writer &writer, const Channel &channel, const Track &track) const
{
    const auto index = static_cast<int>(&channel - m_channels.data());
    for (const Op &op : m_program.order[static_cast<std::size_t>(track.stage)]) {
        const bool isForward = op.kind == OpKind::Forward;
        if (!isForward && op.kind != OpKind::Backward && op.kind != OpKind::InputGrad)
            continue;
        const int direction = isForward ? 0 : 1;
        const int q = stageOf(track.stage, op.chunk);
        if (m_stages[static_cast<std::size_t>(q)].sends[direction] != index)
            continue;
        const auto i = static_cast<std::uint32_t>(2 * (isForward ? q : q - 1) + direction);
        writer.task(WorkKind::WanTransfer, m_at.holds + i, op.microBatch, op.chunk, m_at.flows + i);
        writer.after(m_result[direction][cell(q, op.microBatch)]);
    }
}

void PipelineClassTasks::writeCollectives(Writer &writer, int device, const std::vector<PipelineClassTasks> &classes) const
{
    const auto d = static_cast<std::size_t>(device);
    const Tail &tail = m_tail[d];
    const std::uint32_t costs = m_at.tail + 3 * static_cast<std::uint32_t>(device);
    if (tail.reduce != kNoSpan) {
        writer.task(WorkKind::GradientReduce, costs);
        for (std::size_t e = 0; e < classes.size(); ++e)
            if ((m_costs.reduceJoinsClasses || static_cast<int>(e) == m_index) && d < classes[e].m_tail.size())
                writer.after(classes[e].m_tail[d].lastOp, m_at.reduce + static_cast<std::uint32_t>(d * classes.size() + e));
    }
    if (m_barrier != kNoSpan && device == 0) {
        writer.task(WorkKind::Collective, kNoDuration);
        for (const PipelineClassTasks &other : classes)
            for (const Tail &otherTail : other.m_tail)
                writer.after(otherTail.reduce != kNoSpan ? otherTail.reduce : otherTail.lastOp);
    }
    if (tail.gather != kNoSpan) {
        writer.task(WorkKind::ParameterGather, costs + 2);
        writer.after(tail.optimizer != kNoSpan ? tail.optimizer : tail.lastOp);
    }
}

} // namespace trainyard
