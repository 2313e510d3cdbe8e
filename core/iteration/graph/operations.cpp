// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/graph/contributors.h"
#include "core/iteration/graph/forward_policies.h"

#include <algorithm>

namespace trainyard {

namespace {

WorkKind kindOf(OpKind kind)
{
    return static_cast<WorkKind>(kind); // the first work kinds are the op kinds, in the same order
}
static_assert(static_cast<int>(WorkKind::Recompute) == static_cast<int>(OpKind::Recompute));

constexpr OpKind kOpOf[kOpWorks] = { OpKind::Forward, OpKind::Forward, OpKind::Backward, OpKind::Backward,
    OpKind::InputGrad, OpKind::InputGrad, OpKind::WeightGrad, OpKind::Recompute, OpKind::Recompute, OpKind::Recompute };

Nanoseconds durationOf(const OpTimes &times, OpKind kind)
{
    switch (kind) {
    case OpKind::Backward:
        return times.backward - times.recompute;
    case OpKind::InputGrad:
        return times.inputGrad - times.recompute;
    case OpKind::WeightGrad:
        return times.weightGrad;
    case OpKind::Recompute:
        return times.recompute;
    default:
        return times.forward;
    }
}

} // namespace

void Operations::shape(Fingerprint &print) const
{
    const Program &program = m_.program;
    print.add(static_cast<std::uint64_t>(program.shape.chunks) << 32 | static_cast<std::uint64_t>(program.rule) << 8
        | static_cast<std::uint64_t>(program.placement));
    if (program.rule != OrderRule::Strict) // limits are the resources', not the order's
        for (const int limit : program.shape.inFlightLimit)
            print.add(static_cast<std::uint64_t>(limit));
    print.add(program.order.size() << 2 | (m_.pipeline.memory.empty() ? 1u : 0u) | (m_.costs.isRecomputing ? 2u : 0u));
    static_assert(sizeof(Op) == sizeof(std::uint64_t) && std::has_unique_object_representations_v<Op>);
    for (const std::vector<Op> &order : program.order)
        print.add(reinterpret_cast<const std::uint64_t *>(order.data()), order.size());
    print.add(m_.pipeline.pairs.size());
    for (const OpTimes &times : m_.pipeline.ops)
        print.add(times.recompute > 0);
    for (const std::vector<OffloadSegment> &segments : m_.pipeline.offload.ops) {
        print.add(segments.size());
        for (const OffloadSegment &segment : segments)
            print.add(segment.recompute > 0);
    }
}

void Operations::times(ClassTable &table)
{
    m_first = static_cast<std::uint32_t>(table.durations.size());
    for (std::size_t slot = 0; slot < m_.pipeline.ops.size(); ++slot)
        for (std::uint32_t work = 0; work < kOpWorks; ++work) {
            const std::uint32_t made = table.add(kindOf(kOpOf[work]), durationOf(m_.pipeline.ops[slot], kOpOf[work]));
            table.about[made].exposed = exposedIn(slot, kOpOf[work]);
            if (!m_.pipeline.memory.empty()) {
                const OpMemory &memory = *m_.pipeline.memory[slot / static_cast<std::size_t>(m_.chunks)];
                memory.tell(
                    table.about[made], memory.op(static_cast<int>(slot) % m_.chunks, static_cast<OpWork>(work)));
            }
        }
    addPairTimes(table);
    m_firstSegment.clear();
    for (std::size_t slot = 0; slot < m_.pipeline.offload.ops.size(); ++slot)
        addSegmentTimes(table, slot);
    m_lag.clear();
    for (const BoundaryTimes &boundary : m_.pipeline.boundaries)
        for (const Nanoseconds time : boundary.serialization)
            m_lag.push_back(table.addLag(boundary.isWan ? 0 : time));
}

ExposedSeconds Operations::exposedIn(std::size_t slot, OpKind kind) const
{
    if (m_.pipeline.exposed.empty())
        return {};
    const OpExposed &of = m_.pipeline.exposed[slot];
    ExposedSeconds sum = kind == OpKind::WeightGrad ? of.weightGrad
        : kind == OpKind::Recompute                 ? of.recompute
        : isForward(kind)                           ? of.forward
                                                    : of.inputGrad;
    if (kind == OpKind::Backward)
        sum += of.weightGrad;
    return sum;
}

void Operations::addPairTimes(ClassTable &table)
{
    m_firstPair = static_cast<std::uint32_t>(table.durations.size());
    const auto chunks = static_cast<std::size_t>(m_.chunks);
    for (std::size_t i = 0; i < m_.pipeline.pairs.size(); ++i)
        for (std::uint32_t wholes = 0; wholes < 4; ++wholes) {
            const std::uint32_t made = table.add(WorkKind::ForwardBackward, m_.pipeline.pairs[i]);
            if (!m_.pipeline.exposed.empty()) {
                ExposedSeconds &exposed = table.about[made].exposed = exposedIn(i / chunks, OpKind::Forward);
                exposed += exposedIn(i / chunks / chunks * chunks + i % chunks, OpKind::Backward);
                exposed.expert = m_.pipeline.pairedExpert[i];
            }
            if (m_.pipeline.memory.empty())
                continue;
            const OpMemory &memory = *m_.pipeline.memory[i / chunks / chunks];
            memory.tell(table.about[made],
                memory.pair(static_cast<int>(i / chunks % chunks), (wholes & 2) != 0, static_cast<int>(i % chunks),
                    (wholes & 1) != 0));
        }
}

void Operations::addSegmentTimes(ClassTable &table, std::size_t slot)
{
    m_firstSegment.push_back(static_cast<std::uint32_t>(table.durations.size()));
    const std::vector<OffloadSegment> &segments = m_.pipeline.offload.ops[slot];
    for (std::size_t k = 0; k < segments.size(); ++k)
        for (std::uint32_t i = 0; i < kSegmentWorks; ++i) {
            const auto work = static_cast<SegmentWork>(i);
            const bool isForward = work <= SegmentWork::ForwardWhole;
            const WorkKind kind = isForward ? WorkKind::Forward
                : isRecomputation(work)     ? WorkKind::Recompute
                : m_.splitsBackward         ? WorkKind::InputGrad
                                            : WorkKind::Backward;
            const Nanoseconds time = timeOf(segments[k], work);
            const std::uint32_t made = table.add(kind, time);
            const auto op = static_cast<OpKind>(kind);
            if (const Nanoseconds all = durationOf(m_.pipeline.ops[slot], op); all > 0) // as its share of the operation
                table.about[made].exposed =
                    exposedIn(slot, op) * (static_cast<double>(time) / static_cast<double>(all));
            if (m_.pipeline.memory.empty())
                continue;
            const OpMemory &memory = *m_.pipeline.memory[slot / static_cast<std::size_t>(m_.chunks)];
            memory.tell(table.about[made], memory.segment(static_cast<int>(slot) % m_.chunks, k, work));
        }
}

void Operations::tasks(GraphBuilder &builder)
{
    const ScheduleShape &shape = m_.program.shape;
    for (int d = 0; d < m_.devices; ++d) {
        const int limit = shape.inFlightLimit.empty() ? 0 : shape.inFlightLimit[static_cast<std::size_t>(d)];
        const RunTimePolicy *policy = forwardPolicy(m_.program.rule);
        m_.compute.push_back(builder.resource({ .stream = Stream::Compute, .pipelineClass = m_.index, .stage = d },
            policy ? Discipline::ByPolicy : Discipline::FixedOrder, policy, limit));
    }
    for (auto &results : m_.result)
        results.assign(m_.stages.size() * static_cast<std::size_t>(m_.microBatches), kNoSpan);
    if (m_.offloads() || !m_.pipeline.states.isEmpty())
        m_.placed.resize(static_cast<std::size_t>(m_.devices));
    const bool isPlain = m_.placed.empty() && m_.pipeline.pairs.empty();
    for (int d = 0; d < m_.devices; ++d) {
        const TaskId first = builder.taskCount();
        std::vector<TaskId> &begins = m_.begins.emplace_back();
        begins.reserve(m_.program.order[static_cast<std::size_t>(d)].size() + 1);
        RecomputeState kept(m_.program, d, m_.costs.isRecomputing && !m_.pipeline.memory.empty());
        if (isPlain)
            addPlainOps(builder, kept, d);
        else
            addOps(builder, kept, d);
        begins.push_back(builder.taskCount());
        m_.lastOp.push_back(builder.taskCount() > first ? builder.taskCount() - 1 : kNoSpan);
    }
}

void Operations::addOps(GraphBuilder &builder, RecomputeState &kept, int device)
{
    const Op *paired = nullptr; // a forward that shares its task with the backward that follows
    for (const Op &op : m_.program.order[static_cast<std::size_t>(device)]) {
        m_.begins.back().push_back(builder.taskCount());
        if (op.kind != OpKind::PairedForward)
            addOp(builder, op, paired, kept, device);
        paired = op.kind == OpKind::PairedForward ? &op : nullptr;
    }
}

/// The same where none is cut or paired and nobody asks where it lies: long pipelines have many.
void Operations::addPlainOps(GraphBuilder &builder, RecomputeState &kept, int device)
{
    const GraphBuilder::Id resource = m_.compute[static_cast<std::size_t>(device)];
    const std::size_t first = m_.slot(device, 0);
    for (const Op &op : m_.program.order[static_cast<std::size_t>(device)]) {
        const std::size_t slot = first + static_cast<std::size_t>(op.chunk);
        m_.begins.back().push_back(builder.taskCount());
        const bool takesRecomputation = m_.pipeline.ops[slot].recompute > 0;
        const OpWork work = kept.workOf(op);
        if (op.kind == OpKind::Recompute && !takesRecomputation)
            continue;
        if (op.recomputes && takesRecomputation)
            builder.task(resource,
                classOf(slot, op.kind == OpKind::InputGrad ? OpWork::RecomputeInput : OpWork::RecomputeWithin),
                { op.microBatch, op.chunk, false });
        const TaskId task = builder.task(resource, classOf(slot, work), { op.microBatch, op.chunk, false });
        if (op.kind == OpKind::Forward || makesGradient(op.kind))
            m_.result[op.kind == OpKind::Forward ? 0 : 1][m_.cell(m_.stageOf[slot], op.microBatch)] = task;
    }
}

void Operations::addOp(GraphBuilder &builder, const Op &op, const Op *paired, RecomputeState &kept, int device)
{
    const std::size_t slot = m_.slot(device, op.chunk);
    const GraphBuilder::Id resource = m_.compute[static_cast<std::size_t>(device)];
    const TaskId first = builder.taskCount();
    const OpWork work = kept.workOf(op);
    const std::vector<OffloadSegment> *segments = paired ? nullptr : m_.segmentsOf(op, slot);
    if (segments) {
        addSegments(builder, op, *segments,
            work == OpWork::ForwardWhole || work == OpWork::BackwardWhole || work == OpWork::InputGradWhole
                || work == OpWork::RecomputeWithin,
            device);
    } else {
        if (op.kind == OpKind::Recompute && m_.pipeline.ops[slot].recompute <= 0)
            return;
        if (m_.isRecomputed(op, slot))
            builder.task(resource,
                classOf(slot, op.kind == OpKind::InputGrad ? OpWork::RecomputeInput : OpWork::RecomputeWithin),
                { op.microBatch, op.chunk, false });
        if (paired) {
            const std::uint32_t firstPair = m_firstPair + pairOf(m_.chunks, device * m_.chunks, false, 0, false);
            const std::uint32_t pair =
                pairOf(m_.chunks, paired->chunk, kept.isWhole(*paired), op.chunk, work == OpWork::BackwardWhole);
            builder.pair(builder.task(resource, firstPair + pair, { paired->microBatch, paired->chunk, false }),
                op.microBatch, op.chunk);
        } else {
            builder.task(resource, classOf(slot, work), { op.microBatch, op.chunk, false });
        }
    }
    const TaskId end = builder.taskCount();
    if (end == first)
        return;
    const auto makes = [&](const Op &of, int direction) {
        m_.result[direction][m_.cell(m_.stageOf[m_.slot(device, of.chunk)], of.microBatch)] = end - 1;
    };
    if (paired)
        makes(*paired, 0);
    if (isForward(op.kind) || makesGradient(op.kind))
        makes(op, isForward(op.kind) ? 0 : 1);
    if (m_.placed.empty())
        return;
    auto &placed = m_.placed[static_cast<std::size_t>(device)];
    if (paired) // its task is the backward's, after the recomputation
        placed.push_back({ paired, m_.slot(device, paired->chunk), end - 1, end - 1, false });
    placed.push_back({ &op, slot, first, end - 1, segments != nullptr });
}

void Operations::addSegments(
    GraphBuilder &builder, const Op &op, const std::vector<OffloadSegment> &segments, bool isWhole, int device)
{
    const std::size_t slot = m_.slot(device, op.chunk);
    const TaskId first = builder.taskCount();
    eachSegment(op, segments, m_.isRecomputed(op, slot), isWhole, [&](std::size_t k, SegmentWork work) {
        builder.task(m_.compute[static_cast<std::size_t>(device)],
            m_firstSegment[slot] + kSegmentWorks * static_cast<std::uint32_t>(k) + static_cast<std::uint32_t>(work),
            { op.microBatch, op.chunk, !m_.isStrict() && builder.taskCount() > first });
    });
}

void Operations::findNeighbours()
{
    for (std::size_t slot = 0; slot < m_.stageOf.size(); ++slot)
        for (int direction = 0; direction < 2; ++direction) {
            const int q = m_.stageOf[slot], producer = direction == 0 ? q - 1 : q + 1, boundary = std::min(q, producer);
            Neighbour &neighbour = m_neighbours[direction].emplace_back();
            if (direction == 0 ? m_.stage(q).begins : m_.stage(q).ends)
                continue;
            neighbour.producer = producer;
            neighbour.lag = m_lag[static_cast<std::size_t>(2 * boundary + direction)];
            neighbour.way = !m_.stage(boundary).crosses                            ? Neighbour::Way::Here
                : m_.pipeline.boundaries[static_cast<std::size_t>(boundary)].isWan ? Neighbour::Way::Channel
                                                                                   : Neighbour::Way::Lag;
        }
}

Expected<void> Operations::order(GraphBuilder &builder)
{
    findNeighbours();
    for (int d = 0; d < m_.devices; ++d) {
        const std::vector<TaskId> &begins = m_.begins[static_cast<std::size_t>(d)];
        const std::vector<Op> &ops = m_.program.order[static_cast<std::size_t>(d)];
        const Op *paired = nullptr;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const Op &op = ops[i];
            if (op.kind == OpKind::PairedForward) {
                paired = &op;
                continue;
            }
            const TaskId task = begins[i], next = begins[i + 1];
            // A fused recomputation waits for the gradient like the backward that it belongs to.
            if (next > task
                && (!hasInputs(op, task, d) || (paired && !waitForNeighbour(builder, *paired, task, d))
                    || !waitForNeighbour(builder, op, task, d)))
                return std::unexpected(missingBefore(op, task, d));
            const int q = m_.stageOf[m_.slot(d, op.chunk)];
            // What a fixed order implies: a recomputation, or the last stage's backward, follows its own forward.
            if (next > task && m_.program.rule == OrderRule::WorkConserving
                && (op.kind == OpKind::Recompute || (makesGradient(op.kind) && m_.stage(q).ends)))
                builder.after(task, m_.result[0][m_.cell(q, op.microBatch)]);
            paired = nullptr;
        }
    }
    return {};
}

/// False where its forward, or the input gradient of a weight gradient, is missing or comes later on the same device.
bool Operations::hasInputs(const Op &op, TaskId task, int device) const
{
    if (isForward(op.kind))
        return true;
    const std::size_t cell = m_.cell(m_.stageOf[m_.slot(device, op.chunk)], op.microBatch);
    return m_.result[0][cell] < task && (op.kind != OpKind::WeightGrad || m_.result[1][cell] < task);
}

/// Lets the task wait for the neighbour in the chain that the operation needs. False where that is missing.
bool Operations::waitForNeighbour(GraphBuilder &builder, const Op &op, TaskId task, int device) const
{
    const bool forward = isForward(op.kind);
    if (!forward && !makesGradient(op.kind))
        return true;
    const int direction = forward ? 0 : 1;
    const Neighbour &neighbour = m_neighbours[direction][m_.slot(device, op.chunk)];
    if (neighbour.way == Neighbour::Way::None)
        return true;
    const TaskId result = m_.result[direction][m_.cell(neighbour.producer, op.microBatch)];
    if (result == kNoSpan || (neighbour.way == Neighbour::Way::Here && result >= task))
        return false;
    if (neighbour.way == Neighbour::Way::Lag)
        builder.after(task, result, neighbour.lag);
    else if (neighbour.way == Neighbour::Way::Channel)
        m_transfers.waitForArrival(builder, task, neighbour.producer, direction, op.microBatch);
    return true;
}

Error Operations::missingBefore(const Op &op, TaskId task, int device) const
{
    const int q = m_.stageOf[m_.slot(device, op.chunk)];
    const bool forward = isForward(op.kind);
    const int from = forward ? q - 1 : q + 1; // the stage of its input or gradient
    std::string needed;
    if (op.kind == OpKind::WeightGrad)
        needed = "input gradient";
    else if (!forward && m_.result[0][m_.cell(q, op.microBatch)] >= task)
        needed = "forward";
    else if (from < 0 || from >= static_cast<int>(m_.stages.size()))
        needed = "partner's input";
    else
        needed = std::string(forward ? "input" : "gradient") + " from stage " + std::to_string(m_.stage(from).device);
    return scheduleError("stage " + std::to_string(device) + ": " + toString(kindOf(op.kind)) + " of micro-batch "
        + std::to_string(op.microBatch) + ", chunk " + std::to_string(op.chunk) + " waits for its " + needed
        + ", which the program lacks or has later");
}

} // namespace trainyard
