// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/score/order_walk.h"

#include "core/schedule/kept_whole.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace trainyard {

namespace {

/// What is in flight as operations come.
class Flight {
public:
    explicit Flight(int chunks)
        : m_now(std::size_t(chunks))
        , m_moments(chunks)
    {
    }

    /// What is in flight while that effect's operation runs.
    void during(std::uint32_t effect) { m_moments.add(m_now, effect); }
    void forward(const Op &op, bool isWhole) { ++of(op, isWhole); }
    void gradient(const Op &op, bool isWhole)
    {
        --of(op, isWhole);
        at(op).waiting += op.kind == OpKind::InputGrad ? 1 : 0;
    }
    void weightGradient(const Op &op) { --at(op).waiting; }
    [[nodiscard]] HeldMoments &moments() { return m_moments; }

private:
    HeldMoments::Count &at(const Op &op) { return m_now[std::size_t(op.chunk)]; }
    std::int32_t &of(const Op &op, bool isWhole) { return isWhole ? at(op).whole : at(op).kept; }

    std::vector<HeldMoments::Count> m_now;
    HeldMoments m_moments;
};

static_assert(std::is_trivially_copyable_v<ChunkMemory> && sizeof(ChunkMemory) % sizeof(double) == 0); // numbers alone

double net(const MemoryChange &change)
{
    return change.atStart.gpu + change.atEnd.gpu;
}

bool isCovered(std::span<const HeldMoments::Count> one, std::span<const HeldMoments::Count> by)
{
    for (std::size_t c = 0; c < one.size(); ++c)
        if (one[c].whole > by[c].whole || one[c].kept > by[c].kept || one[c].waiting > by[c].waiting)
            return false;
    return true;
}

} // namespace

void HeldMoments::add(std::span<const Count> of, std::uint32_t runs)
{
    // Most likely covered by one that came lately.
    for (std::size_t known = size(); known-- > 0;)
        if (m_running[known] == runs && isCovered(of, counts(known)))
            return;
    for (std::size_t known = size(); known-- > 0;)
        if (m_running[known] == runs && isCovered(counts(known), of))
            remove(known);
    m_counts.insert(m_counts.end(), of.begin(), of.end());
    m_running.push_back(runs);
}

void HeldMoments::add(const HeldMoments &others)
{
    for (std::size_t moment = 0; moment < others.size(); ++moment)
        add(others.counts(moment), others.running(moment));
}

/// The last one takes its place.
void HeldMoments::remove(std::size_t moment)
{
    std::ranges::copy(counts(size() - 1), m_counts.begin() + std::ptrdiff_t(moment * m_chunks));
    m_counts.resize(m_counts.size() - m_chunks);
    m_running[moment] = m_running.back();
    m_running.pop_back();
}

HeldMoments fullMoments(const Program &program, int device, bool isRecomputing)
{
    KeptWhole kept(program, device, isRecomputing);
    const int chunks = program.shape.chunks;
    Flight flight(chunks);
    const Op *paired = nullptr;
    for (const Op &op : program.order[std::size_t(device)]) {
        if (op.kind == OpKind::PairedForward) {
            paired = &op;
            continue;
        }
        const bool isWhole = kept.isWhole(op);
        flight.during(paired ? OpMemory::plainPair(chunks, paired->chunk, kept.isWhole(*paired), op.chunk, isWhole)
                             : OpMemory::plainOp(op.chunk, kept.workOf(op)));
        if (paired)
            flight.forward(*paired, kept.isWhole(*paired));
        if (isForward(op.kind))
            flight.forward(op, isWhole);
        else if (makesGradient(op.kind))
            flight.gradient(op, isWhole);
        else
            flight.weightGradient(op);
        if (paired || (op.kind != OpKind::Backward && op.kind != OpKind::WeightGrad)) // which leave less than there was
            flight.during(HeldMoments::kNothing);
        paired = nullptr;
    }
    return std::move(flight.moments());
}

HeldWeights::HeldWeights(const std::vector<ChunkMemory> &chunks, bool pairs)
{
    m_chunks.reserve(chunks.size());
    m_running.reserve(chunks.size() * kOpWorks);
    for (std::size_t c = 0; c < chunks.size(); ++c)
        if (c > 0 && std::memcmp(&chunks[c], &chunks[c - 1], sizeof(ChunkMemory)) == 0) { // most are
            m_chunks.push_back(Chunk(m_chunks.back()));
            const std::size_t before = m_running.size() - kOpWorks;
            for (std::size_t work = 0; work < kOpWorks; ++work)
                m_running.push_back(double(m_running[before + work]));
        } else {
            const std::array<MemoryChange, kOpWorks> changes = OpMemory::changesOf(chunks[c]);
            const auto of = [&](OpWork work) { return net(changes[std::size_t(work)]); };
            m_chunks.push_back(
                { of(OpWork::ForwardWhole), of(OpWork::Forward), of(OpWork::Forward) + of(OpWork::InputGrad) });
            for (const MemoryChange &change : changes)
                m_running.push_back(change.atStart.gpu + change.running);
        }
    if (!pairs)
        return;
    const OpMemory memory(chunks, nullptr, { false, true });
    for (std::uint32_t pair = std::uint32_t(m_running.size()); pair < memory.effects(); ++pair)
        m_running.push_back(memory.change(pair).atStart.gpu + memory.change(pair).running);
}

double HeldWeights::most(const HeldMoments &moments) const
{
    double most = 0;
    for (std::size_t moment = 0; moment < moments.size(); ++moment) {
        const std::uint32_t running = moments.running(moment);
        double held = running == HeldMoments::kNothing ? 0 : m_running[running];
        const HeldMoments::Count *count = moments.counts(moment).data();
        for (const Chunk &chunk : m_chunks) {
            held += count->whole * chunk.whole + count->kept * chunk.kept + count->waiting * chunk.waiting;
            ++count;
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
