// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/order_walk.h"

#include "core/engine/schedule/recompute_state.h"
#include "core/engine/schedule/traits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace trainyard {

namespace {

static_assert(std::is_trivially_copyable_v<ChunkMemory> && sizeof(ChunkMemory) % sizeof(double) == 0); // numbers alone

double net(const MemoryChange &change)
{
    return change.atStart.gpu + change.atEnd.gpu;
}

bool isCovered(const MemoryMoments::Count *one, const MemoryMoments::Count *by, int chunks)
{
    for (int c = 0; c < chunks; ++c)
        if (one[c].whole > by[c].whole || one[c].kept > by[c].kept || one[c].waiting > by[c].waiting)
            return false;
    return true;
}

} // namespace

void MemoryMoments::add(std::span<const Count> counts, std::uint32_t running)
{
    m_counts.insert(m_counts.end(), counts.begin(), counts.end());
    m_running.push_back(running);
    for (const Count &count : counts)
        m_hasOnlyKept &= count.whole == 0 && count.waiting == 0;
}

FullMoments::FullMoments(int chunks)
    : m_chunks(chunks)
    , m_now(std::size_t(chunks))
    , m_last(OpMemory::plainPair(chunks, chunks, false, 0, false) + 1, kNone)
{
}

void FullMoments::count(int chunk, std::int32_t Count::*number, std::int32_t by)
{
    constexpr std::uint64_t kWords[] = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu };
    m_now[std::size_t(chunk)].*number += by;
    m_of.sum += by;
    const std::uint64_t word = kWords[number == &Count::whole ? 0 : number == &Count::kept ? 1 : 2];
    m_of.word += (word ^ std::uint64_t(chunk) * 0xd6e8feb86659fd93u) * std::uint64_t(std::int64_t(by));
}

/// Of as many in all only equal ones do.
bool FullMoments::isOutdoneBy(const Moment &moment) const
{
    return m_of.sum <= moment.sum && (m_of.sum < moment.sum || m_of.word == moment.word)
        && isCovered(m_now.data(), m_counts.data() + moment.counts, m_chunks);
}

bool FullMoments::outdoes(const Moment &moment) const
{
    return m_of.sum > moment.sum && isCovered(m_counts.data() + moment.counts, m_now.data(), m_chunks);
}

/// What is in flight while that effect's operation runs.
void FullMoments::meet(std::uint32_t running)
{
    std::uint32_t &last = m_last[std::min<std::size_t>(running, m_last.size() - 1)];
    if (last != kNone) {
        std::uint32_t at = last;
        do { // as orders go round, so do these
            at = m_moments[at].next;
            if (isOutdoneBy(m_moments[at])) {
                last = at;
                return;
            }
        } while (at != last);
        leaveOut(last);
    }
    const auto made = std::uint32_t(m_moments.size());
    m_moments.push_back(
        { std::uint32_t(m_counts.size()), m_of.sum, m_of.word, last == kNone ? made : m_moments[last].next });
    if (last != kNone)
        m_moments[last].next = made;
    last = made;
    m_counts.insert(m_counts.end(), m_now.begin(), m_now.end());
}

/// Those of the ring that the present outdoes.
void FullMoments::leaveOut(std::uint32_t &last)
{
    const std::uint32_t end = last;
    std::uint32_t before = kNone, at = m_moments[end].next, first = kNone; // before: the last one that stays
    for (bool isDone = false; !isDone;) {
        const std::uint32_t next = m_moments[at].next;
        isDone = at == end;
        if (!outdoes(m_moments[at])) {
            (before == kNone ? first : m_moments[before].next) = at;
            before = at;
        }
        at = next;
    }
    if (before != kNone)
        m_moments[before].next = first;
    last = before;
}

void FullMoments::add(const Program &program, int device, bool isRecomputing)
{
    RecomputeState kept(program, device, isRecomputing);
    std::ranges::fill(m_now, Count {});
    m_of = {};
    const auto count = [&](const Op &op, bool isWhole, int by) {
        this->count(op.chunk, isWhole ? &Count::whole : &Count::kept, by);
    };
    const Op *paired = nullptr;
    for (const Op &op : program.order[std::size_t(device)]) {
        if (op.kind == OpKind::PairedForward) {
            paired = &op;
            continue;
        }
        const bool isWhole = kept.isWhole(op);
        meet(paired ? OpMemory::plainPair(m_chunks, paired->chunk, kept.isWhole(*paired), op.chunk, isWhole)
                    : OpMemory::plainOp(op.chunk, kept.workOf(op)));
        if (paired)
            count(*paired, kept.isWhole(*paired), 1);
        if (isForward(op.kind))
            count(op, isWhole, 1);
        else if (makesGradient(op.kind))
            count(op, isWhole, -1);
        else
            this->count(op.chunk, &Count::waiting, -1);
        if (op.kind == OpKind::InputGrad)
            this->count(op.chunk, &Count::waiting, 1);
        if (paired || (op.kind != OpKind::Backward && op.kind != OpKind::WeightGrad)) // which leave less than there was
            meet(MemoryMoments::kNothing);
        paired = nullptr;
    }
}

MemoryMoments FullMoments::moments() const
{
    MemoryMoments all(m_chunks);
    for (std::uint32_t running = 0; running < m_last.size(); ++running)
        for (std::uint32_t at = m_last[running]; at != kNone;) {
            all.add({ m_counts.data() + m_moments[at].counts, std::size_t(m_chunks) },
                running + 1 < m_last.size() ? running : MemoryMoments::kNothing);
            at = m_moments[at].next != m_last[running] ? m_moments[at].next : kNone;
        }
    return all;
}

HeldWeights::HeldWeights(const std::vector<ChunkMemory> &chunks, bool pairs)
{
    m_chunks.reserve(chunks.size());
    m_running.reserve(3 * kOpWorks); // of the first chunk, the last one, and all others
    for (std::size_t c = 0; c < chunks.size(); ++c)
        if (c > 0 && std::memcmp(&chunks[c], &chunks[c - 1], sizeof(ChunkMemory)) == 0) { // most are
            m_chunks.push_back(Chunk(m_chunks.back()));
        } else {
            const std::array<MemoryChange, kOpWorks> changes = OpMemory::changesOf(chunks[c]);
            const auto of = [&](OpWork work) { return net(changes[std::size_t(work)]); };
            m_chunks.push_back({ of(OpWork::ForwardWhole), of(OpWork::Forward),
                of(OpWork::Forward) + of(OpWork::InputGrad), std::uint32_t(m_running.size()) });
            for (const MemoryChange &change : changes)
                m_running.push_back(change.atStart.gpu + change.running);
        }
    m_firstPair = std::uint32_t(m_running.size());
    if (!pairs)
        return;
    const OpMemory memory(chunks, nullptr, { false, true });
    for (std::uint32_t pair = memory.pair(0, false, 0, false); pair < memory.effects(); ++pair)
        m_running.push_back(memory.change(pair).atStart.gpu + memory.change(pair).running);
}

double HeldWeights::running(std::uint32_t effect) const
{
    if (effect == MemoryMoments::kNothing)
        return 0;
    const std::size_t chunk = effect / kOpWorks;
    return chunk < m_chunks.size() ? m_running[m_chunks[chunk].running + effect % kOpWorks]
                                   : m_running[m_firstPair + effect - m_chunks.size() * kOpWorks];
}

double HeldWeights::most(const MemoryMoments &moments) const
{
    const bool hasOnlyKept = moments.hasOnlyKept();
    double most = 0;
    for (std::size_t moment = 0; moment < moments.size(); ++moment) {
        double held = running(moments.running(moment));
        const MemoryMoments::Count *count = moments.counts(moment).data();
        if (hasOnlyKept)
            for (const Chunk &chunk : m_chunks)
                held += count++->kept * chunk.kept;
        else
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
