// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/op_memory.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace trainyard {

namespace {

/// Of an input gradient: at its last layer what waits for weight gradients has taken the place of what the layers kept.
LiveBytes atLastLayer(const ChunkMemory &c, bool isWhole)
{
    LiveBytes last;
    last.workspace = c.atLayers;
    last.forWeightGrads = std::max(0.0, c.forWeightGrads - (isWhole ? c.whole : c.kept));
    if (isWhole)
        last.workspace.recomputed = 0;
    return last;
}

/// What exists beside the kept tensors while the backward of a segment runs. What the operations before it have freed
/// of the chunk is no longer counted, so only the segment's own part is taken off.
Workspace workspaceOf(const ChunkMemory &chunk, const SegmentBytes &segment, bool isWhole)
{
    std::optional<Workspace> worst;
    const auto consider = [&](const Workspace &t) {
        if (!worst || t.total() > worst->total())
            worst = t;
    };
    if (segment.hasHead)
        consider(chunk.atHead);
    if (segment.hasLayers) {
        Workspace t = chunk.atLayers;
        t.recomputed = isWhole ? 0 : t.recomputed;
        t.logits = segment.hasHead ? t.logits : 0;
        consider(t);
    }
    if (segment.hasEmbedding) {
        Workspace t = chunk.atEmbedding;
        t.kept = -std::min(-t.kept, segment.whole());
        t.logits = segment.hasHead ? t.logits : 0;
        consider(t);
    }
    return worst.value_or(Workspace {});
}

LiveBytes working(const Workspace &workspace)
{
    LiveBytes live;
    live.workspace = workspace;
    return live;
}

double sumOf(const std::vector<SegmentBytes> &segments)
{
    double sum = 0;
    for (const SegmentBytes &segment : segments)
        sum += segment.whole();
    return sum;
}

} // namespace

void LiveBytes::add(const LiveBytes &other)
{
    activations += other.activations;
    ends += other.ends;
    forWeightGrads += other.forWeightGrads;
    loss += other.loss;
    inFlight += other.inFlight;
}

MemoryChange OpMemory::Effect::change() const
{
    MemoryChange change { returned, left, running.total() };
    change.atStart.gpu = atStart.total() - returned.offloaded - returned.discarded;
    change.atEnd.gpu = atEnd.total() - left.offloaded - left.discarded;
    return change;
}

MemoryChange OpMemory::moved(double bytes, bool isStore)
{
    return isStore ? MemoryChange { {}, { -bytes, bytes, 0 }, 0 } : MemoryChange { { bytes, -bytes, 0 }, {}, 0 };
}

OpMemory::OpMemory(std::vector<ChunkMemory> chunks, const StageOffload *offload, Program program)
    : m_chunks(std::move(chunks))
{
    static_assert(std::is_trivially_copyable_v<ChunkMemory> && sizeof(ChunkMemory) % sizeof(double) == 0); // numbers
    m_first.reserve(m_chunks.size());
    if (!offload) {
        m_effects.reserve(m_chunks.size() * (kOpWorks + (program.pairs ? 4 * m_chunks.size() : 0)));
        m_changes.reserve(m_effects.capacity());
    }
    for (std::size_t c = 0; c < m_chunks.size(); ++c) {
        m_first.push_back(std::uint32_t(m_effects.size()));
        if (!offload && c > 0 && std::memcmp(&m_chunks[c], &m_chunks[c - 1], sizeof(ChunkMemory)) == 0) { // most are
            for (std::uint32_t work = 0; work < kOpWorks; ++work) {
                m_effects.push_back(Effect(m_effects[m_effects.size() - kOpWorks]));
                m_changes.push_back(MemoryChange(m_changes[m_changes.size() - kOpWorks]));
            }
            continue;
        }
        if (!offload) {
            const std::array<Effect, kOpWorks> ops = opsOf(m_chunks[c], double(m_chunks.size()));
            m_effects.insert(m_effects.end(), ops.begin(), ops.end());
            for (const Effect &effect : ops)
                m_changes.push_back(effect.change());
            continue;
        }
        std::vector<SegmentBytes> segments = offload->chunks[c];
        if (segments.empty())
            segments.emplace_back(); // a chunk without layers
        addOffloadedOps(c, segments, program.splitsBackward);
        addSegments(c, segments, program.splitsBackward);
    }
    m_firstPair = std::uint32_t(m_effects.size());
    if (program.pairs)
        addPairs(offload);
    for (std::size_t known = m_changes.size(); known < m_effects.size(); ++known)
        m_changes.push_back(m_effects[known].change());
}

/// What a micro-batch holds between forward and backward, taken or given back.
LiveBytes OpMemory::whole(const ChunkMemory &c, double chunks, bool isWhole, double bytes, double sign)
{
    LiveBytes live;
    live.activations = sign * (bytes + (isWhole ? c.whole - c.kept : 0));
    live.ends = sign * c.ends;
    live.loss = sign * c.loss;
    live.inFlight = sign / chunks;
    return live;
}

/// `chunks`: of the stage.
std::array<OpMemory::Effect, kOpWorks> OpMemory::opsOf(const ChunkMemory &c, double chunks)
{
    std::array<Effect, kOpWorks> ops; // those within a backward do nothing: it counts the layer
    const auto of = [&](OpWork work) -> Effect & { return ops[std::size_t(work)]; };
    const auto kept = [&](bool isWhole, double sign) {
        return whole(c, chunks, false, isWhole ? c.whole : c.kept, sign);
    };
    for (const bool isWhole : { false, true }) {
        Effect &forward = of(isWhole ? OpWork::ForwardWhole : OpWork::Forward),
               &backward = of(isWhole ? OpWork::BackwardWhole : OpWork::Backward),
               &inputGrad = of(isWhole ? OpWork::InputGradWhole : OpWork::InputGrad);
        forward.atStart = kept(isWhole, 1);
        forward.running = working(c.forward);
        backward.running = working(isWhole ? c.sparedBackward : c.backward);
        backward.atEnd = kept(isWhole, -1);
        inputGrad = backward;
        if (const LiveBytes last = atLastLayer(c, isWhole); last.total() > inputGrad.running.total())
            inputGrad.running = last;
        inputGrad.atEnd.forWeightGrads = c.forWeightGrads;
    }
    of(OpWork::WeightGrad).atEnd.forWeightGrads = -c.forWeightGrads;
    of(OpWork::Recompute).atStart.activations = c.whole - c.kept;
    return ops;
}

std::array<MemoryChange, kOpWorks> OpMemory::changesOf(const ChunkMemory &chunk)
{
    const std::array<Effect, kOpWorks> ops = opsOf(chunk, 1);
    std::array<MemoryChange, kOpWorks> changes;
    for (std::size_t work = 0; work < kOpWorks; ++work)
        changes[work] = ops[work].change();
    return changes;
}

/// Operations that are not cut; of one segment they are that segment.
void OpMemory::addOffloadedOps(std::size_t chunk, const std::vector<SegmentBytes> &segments, bool splitsBackward)
{
    const ChunkMemory &c = m_chunks[chunk];
    const std::size_t first = m_effects.size();
    addSegments(chunk, { segments.front() }, splitsBackward);
    const std::vector<Effect> of(m_effects.begin() + std::ptrdiff_t(first), m_effects.end());
    m_effects.resize(first);
    const auto segment = [&](SegmentWork work) { return of[std::size_t(work)]; };
    m_effects.push_back(segment(SegmentWork::Forward));
    m_effects.push_back(segment(SegmentWork::ForwardWhole));
    for (const bool isWhole : { false, true }) // beside input gradients a whole backward is never cut
        m_effects.push_back(!splitsBackward ? segment(isWhole ? SegmentWork::BackwardWhole : SegmentWork::BackwardAnew)
                                            : Effect { {}, working(isWhole ? c.sparedBackward : c.backward),
                                                whole(chunk, isWhole, sumOf(segments), -1), {}, {} });
    m_effects.push_back(segment(SegmentWork::BackwardAnew));
    m_effects.push_back(segment(SegmentWork::BackwardWhole));
    m_effects.emplace_back().atEnd.forWeightGrads = -c.forWeightGrads;
    m_effects.emplace_back().atStart.activations = c.whole - c.kept;
    m_effects.push_back(
        splitsBackward ? Effect { {}, working(c.backward), {}, {}, {} } : segment(SegmentWork::RecomputeWithin));
    m_effects.push_back(segment(SegmentWork::RecomputeWithin));
}

/// A segment counts from the end of its forward (the one with the loss from its start) to the end of its backward; what
/// is discarded does not count until its recomputation starts. What the operation holds beside its segments is
/// counted with the first.
void OpMemory::addSegments(std::size_t chunk, const std::vector<SegmentBytes> &segments, bool splitsBackward)
{
    const ChunkMemory &c = m_chunks[chunk];
    for (const SegmentBytes &segment : segments) {
        const bool isFirst = &segment == &segments.front();
        const double share = c.kept > 0 ? segment.whole() / c.kept : isFirst ? 1 : 0; // of what a micro-batch keeps
        const PoolBytes discarded { 0, 0, segment.discarded }, anew { 0, 0, -segment.discarded };
        for (const bool isWhole : { false, true }) {
            Effect effect;
            LiveBytes &made = segment.hasHead ? effect.atStart : effect.atEnd;
            if (isFirst)
                made = whole(chunk, isWhole, 0, 1);
            made.activations += segment.whole();
            made.loss = segment.hasHead ? c.loss : 0;
            (segment.hasHead ? effect.returned : effect.left) = discarded;
            if (segment.hasHead)
                effect.running = working(c.forward);
            m_effects.push_back(effect);
        }
        for (const SegmentWork work :
            { SegmentWork::Backward, SegmentWork::BackwardAnew, SegmentWork::BackwardWhole }) {
            const bool isWhole = work == SegmentWork::BackwardWhole;
            Effect effect;
            effect.running = working(workspaceOf(c, segment, isWhole));
            if (isFirst)
                effect.atEnd = whole(chunk, false, 0, -1);
            effect.atEnd.activations = -segment.whole() - (isWhole ? (c.whole - c.kept) * share : 0);
            effect.atEnd.loss = segment.hasHead ? -c.loss : 0;
            if (splitsBackward)
                effect.atEnd.forWeightGrads = c.forWeightGrads * share;
            if (work != SegmentWork::BackwardAnew)
                effect.returned = anew;
            m_effects.push_back(effect);
        }
        m_effects.push_back({ {}, working(workspaceOf(c, segment, false)), {}, {}, anew });
        m_effects.emplace_back().atStart.activations = c.whole - c.kept;
        m_effects.emplace_back();
    }
}

void OpMemory::addPairs(const StageOffload *offload)
{
    const auto kept = [&](std::size_t chunk) { return offload ? sumOf(offload->chunks[chunk]) : m_chunks[chunk].kept; };
    for (std::size_t f = 0; f < m_chunks.size(); ++f)
        for (std::size_t b = 0; b < m_chunks.size(); ++b)
            for (int wholes = 0; wholes < 4; ++wholes) {
                const Workspace &forward = m_chunks[f].forward,
                                &backward = (wholes & 1) != 0 ? m_chunks[b].sparedBackward : m_chunks[b].backward;
                m_effects.push_back({ whole(f, (wholes & 2) != 0, kept(f), 1),
                    working(forward.total() > backward.total() ? forward : backward),
                    whole(b, (wholes & 1) != 0, kept(b), -1), {}, {} });
            }
}

} // namespace trainyard
