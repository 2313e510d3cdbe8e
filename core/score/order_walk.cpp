// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/score/order_walk.h"

#include "core/schedule/kept_whole.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace trainyard {

namespace {

/// What is in flight as operations come.
class Flight {
public:
    explicit Flight(std::size_t chunks) { m_now.counts.resize(chunks); }

    /// What is in flight while that effect's operation runs.
    [[nodiscard]] const HeldMoment &during(std::uint32_t effect)
    {
        m_now.running = effect;
        return m_now;
    }
    void forward(const Op &op, bool isWhole) { ++of(op, isWhole); }
    void gradient(const Op &op, bool isWhole)
    {
        --of(op, isWhole);
        at(op).waiting += op.kind == OpKind::InputGrad ? 1 : 0;
    }
    void weightGradient(const Op &op) { --at(op).waiting; }

private:
    HeldMoment::Count &at(const Op &op) { return m_now.counts[std::size_t(op.chunk)]; }
    std::int32_t &of(const Op &op, bool isWhole) { return isWhole ? at(op).whole : at(op).kept; }

    HeldMoment m_now;
};

static_assert(std::is_trivially_copyable_v<ChunkMemory> && sizeof(ChunkMemory) % sizeof(double) == 0); // numbers alone

double net(const MemoryChange &change)
{
    return change.atStart.gpu + change.atEnd.gpu;
}

} // namespace

bool HeldMoment::isCovered(const HeldMoment &by) const
{
    if (running != by.running)
        return false;
    for (std::size_t c = 0; c < counts.size(); ++c)
        if (counts[c].whole > by.counts[c].whole || counts[c].kept > by.counts[c].kept
            || counts[c].waiting > by.counts[c].waiting)
            return false;
    return true;
}

void addMoment(std::vector<HeldMoment> &all, const HeldMoment &moment)
{
    // Most likely by one that came lately.
    if (std::any_of(all.rbegin(), all.rend(), [&](const HeldMoment &known) { return moment.isCovered(known); }))
        return;
    std::erase_if(all, [&](const HeldMoment &known) { return known.isCovered(moment); });
    all.push_back(moment);
}

std::vector<HeldMoment> fullMoments(const Program &program, int device, const OpMemory &like, bool isRecomputing)
{
    std::vector<HeldMoment> moments;
    KeptWhole kept(program, device, isRecomputing);
    Flight flight(std::size_t(program.shape.chunks));
    const Op *paired = nullptr;
    for (const Op &op : program.order[std::size_t(device)]) {
        if (op.kind == OpKind::PairedForward) {
            paired = &op;
            continue;
        }
        const bool isWhole = kept.isWhole(op);
        addMoment(moments,
            flight.during(paired ? like.pair(paired->chunk, kept.isWhole(*paired), op.chunk, isWhole)
                                 : like.op(op.chunk, kept.workOf(op))));
        if (paired)
            flight.forward(*paired, kept.isWhole(*paired));
        paired = nullptr;
        if (isForward(op.kind))
            flight.forward(op, isWhole);
        else if (makesGradient(op.kind))
            flight.gradient(op, isWhole);
        else
            flight.weightGradient(op);
        addMoment(moments, flight.during(HeldMoment::kNothing));
    }
    return moments;
}

HeldWeights::HeldWeights(std::vector<ChunkMemory> chunks, bool pairs)
{
    m_chunks.reserve(chunks.size());
    m_running.reserve(chunks.size() * kOpWorks);
    if (pairs)
        add(OpMemory(std::move(chunks), nullptr, { false, true }));
    for (std::size_t c = 0; !pairs && c < chunks.size(); ++c)
        if (c > 0 && std::memcmp(&chunks[c], &chunks[c - 1], sizeof(ChunkMemory)) == 0) { // most are
            m_chunks.push_back(Chunk(m_chunks.back()));
            const std::size_t before = m_running.size() - kOpWorks;
            for (std::size_t work = 0; work < kOpWorks; ++work)
                m_running.push_back(double(m_running[before + work]));
        } else {
            add(OpMemory({ chunks[c] }, nullptr, { false, false }));
        }
}

/// Effects are numbered chunk by chunk.
void HeldWeights::add(const OpMemory &memory)
{
    for (int c = 0; c < int(memory.chunks().size()); ++c) {
        const auto of = [&](OpWork work) { return net(memory.change(memory.op(c, work))); };
        m_chunks.push_back(
            { of(OpWork::ForwardWhole), of(OpWork::Forward), of(OpWork::Forward) + of(OpWork::InputGrad) });
    }
    for (std::uint32_t effect = 0; effect < memory.effects(); ++effect)
        m_running.push_back(memory.change(effect).atStart.gpu + memory.change(effect).running);
}

double HeldWeights::most(const std::vector<HeldMoment> &moments) const
{
    double most = 0;
    for (const HeldMoment &moment : moments) {
        double held = moment.running == HeldMoment::kNothing ? 0 : m_running[moment.running];
        for (std::size_t c = 0; c < m_chunks.size(); ++c) {
            const HeldMoment::Count &count = moment.counts[c];
            held +=
                count.whole * m_chunks[c].whole + count.kept * m_chunks[c].kept + count.waiting * m_chunks[c].waiting;
        }
        most = std::max(most, held);
    }
    return most;
}

std::vector<int> forwardsBeforeGradients(const Program &program, int device)
{
    std::vector<int> forwards(std::size_t(program.shape.chunks));
    for (const Op &op : program.order[std::size_t(device)]) {
        if (op.kind == OpKind::PairedForward || makesGradient(op.kind))
            break;
        if (op.kind == OpKind::Forward)
            ++forwards[std::size_t(op.chunk)];
    }
    return forwards;
}

Program orderOfOne(const ScheduleTraits &schedule, int devices, int chunks)
{
    Program program { { devices, 1, chunks, {} }, schedule.placement, {}, OrderRule::Strict };
    std::vector<Op> order;
    const auto add = [&](OpKind kind, int chunk) {
        order.push_back({ kind, makesGradient(kind), std::int16_t(chunk), 0 });
    };
    const int copies = schedule.copies(), own = chunks / copies;
    for (int copy = 0; copy < copies; ++copy) {
        for (int c = 0; c < own; ++c)
            add(OpKind::Forward, copy * own + c);
        for (int c = own; c-- > 0;)
            if (schedule.splitsBackward) {
                add(OpKind::InputGrad, copy * own + c);
                add(OpKind::WeightGrad, copy * own + c);
            } else {
                add(OpKind::Backward, copy * own + c);
            }
    }
    program.order.assign(std::size_t(devices), order);
    return program;
}

} // namespace trainyard
