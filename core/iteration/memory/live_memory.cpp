// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/live_memory.h"

#include <algorithm>

namespace trainyard {

namespace {

/// The parts of what is held, up to the change that was the fullest.
class HeldParts {
public:
    HeldParts(const OpMemory &memory, std::size_t fullest)
        : m_memory(memory)
        , m_left(fullest + 1)
    {
    }

    [[nodiscard]] bool isDone() const { return m_left == 0; }
    void start(const TaskClass &of)
    {
        m_beside += of.memoryParts == kNoSpan ? of.memory.running : 0;
        if (of.memoryParts == kNoSpan)
            return add({}, of.memory.atStart.gpu);
        const OpMemory::Effect &effect = m_memory.effect(of.memoryParts);
        m_running = effect.running;
        add(effect.atStart, -effect.returned.offloaded - effect.returned.discarded);
    }
    void end(const TaskClass &of)
    {
        m_beside -= of.memoryParts == kNoSpan ? of.memory.running : 0;
        if (of.memoryParts == kNoSpan)
            return add({}, of.memory.atEnd.gpu);
        const OpMemory::Effect &effect = m_memory.effect(of.memoryParts);
        m_running = {};
        add(effect.atEnd, -effect.left.offloaded - effect.left.discarded);
    }
    [[nodiscard]] const LiveBytes &live() const { return m_live; }

private:
    /// `onGpu`: what comes to the GPU or leaves it and no part tells of.
    void add(const LiveBytes &change, double onGpu)
    {
        m_live.add(change);
        m_live.activations += onGpu;
        if (--m_left > 0)
            return;
        m_live.add(m_running);
        m_live.activations += m_beside;
        m_live.workspace = m_running.workspace;
    }

    const OpMemory &m_memory;
    std::size_t m_left;
    LiveBytes m_live, m_running;
    double m_beside = 0; // of what runs beside the operation
};

std::vector<Op> fullestOrder(const Program &program, int device)
{
    std::vector<Op> order = program.order[std::size_t(device)];
    if (program.rule == OrderRule::OpportunisticForward && device + 1 < program.shape.devices)
        std::ranges::stable_partition(order, isForward, &Op::kind);
    return order;
}

/// Calls visit(effect) for each operation, a pair as one.
template <class Visit>
void eachOp(const Program &program, int device, const OpMemory &memory, bool isRecomputing, Visit visit)
{
    RecomputeState kept(program, device, isRecomputing);
    const bool isAsWritten = program.rule != OrderRule::OpportunisticForward;
    const std::vector<Op> reordered = isAsWritten ? std::vector<Op> {} : fullestOrder(program, device);
    const Op *paired = nullptr;
    for (const Op &op : isAsWritten ? program.order[std::size_t(device)] : reordered) {
        if (op.kind == OpKind::PairedForward) {
            paired = &op;
            continue;
        }
        const std::uint32_t effect = paired
            ? memory.pair(paired->chunk, kept.isWhole(*paired), op.chunk, kept.isWhole(op))
            : memory.op(op.chunk, kept.workOf(op));
        paired = nullptr;
        if (!visit(effect))
            return;
    }
}

} // namespace

LiveOverTime liveInOrder(const Program &program, int device, const OpMemory &memory, bool isRecomputing)
{
    LiveOverTime result;
    MemorySum sum;
    eachOp(program, device, memory, isRecomputing, [&](std::uint32_t effect) {
        sum.start(memory.change(effect));
        sum.end(memory.change(effect));
        return true;
    });
    sum.tell(result);
    return result;
}

LiveBytes fullestMoment(
    const LiveOverTime &live, const Timeline &timeline, int pipelineClass, int stage, const OpMemory &memory)
{
    HeldParts parts(memory, live.fullest);
    MemoryRows rows(timeline, pipelineClass, stage);
    rows.each([&](std::uint32_t span, bool ends) {
        ends ? parts.end(rows.effectOf(span)) : parts.start(rows.effectOf(span));
        return !parts.isDone();
    });
    return parts.live();
}

LiveBytes fullestMoment(
    const LiveOverTime &live, const Program &program, int device, const OpMemory &memory, bool isRecomputing)
{
    HeldParts parts(memory, live.fullest);
    eachOp(program, device, memory, isRecomputing, [&](std::uint32_t effect) {
        TaskClass of;
        memory.tell(of, effect);
        parts.start(of);
        if (!parts.isDone())
            parts.end(of);
        return !parts.isDone();
    });
    return parts.live();
}

} // namespace trainyard
