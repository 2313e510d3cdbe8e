// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/live_changes.h"

#include <algorithm>

namespace trainyard {

namespace {

class OffloadReplay {
public:
    OffloadReplay(const Timeline &timeline, const StageOffload &offload, const std::vector<ChunkMemory> &chunks, const Program &program, int stage, bool isRecomputing)
        : m_timeline(timeline), m_chunks(chunks), m_spared(program, stage, chunks, isRecomputing), m_microBatches(std::size_t(program.shape.microBatches)),
          m_segments(offload.chunks)
    {
        for (auto &segments : m_segments)
            if (segments.empty())
                segments.emplace_back();   // a chunk without layers
        for (std::size_t c = 0; c < m_segments.size(); ++c)
            for (const bool isSpared : {false, true}) {
                auto &row = m_workspace.emplace_back();
                for (const SegmentBytes &segment : m_segments[c])
                    row.push_back(workspaceOf(chunks[c], segment, isSpared));
            }
        const std::size_t cells = m_segments.size() * m_microBatches;
        for (auto *counts : {&m_forwards, &m_backwards, &m_stores, &m_loads, &m_loadCount})
            counts->assign(cells, 0);
        m_forwarded.resize(cells);
        m_isMadeAnew.resize(cells);
        const auto splits = [](const std::vector<Op> &order) { return std::ranges::find(order, OpKind::InputGrad, &Op::kind) != order.end(); };
        m_splitsBackward = std::ranges::any_of(program.order, splits);
        m_segmentIsAnew.resize(cells);
    }

    LiveOverTime run(int pipelineClass, int stage)
    {
        std::vector<const Track *> compute, stores, loads;
        for (const Track &track : m_timeline.tracks) {
            if (track.pipelineClass != pipelineClass || track.stage != stage || track.first == track.last)
                continue;
            if (track.stream == Stream::Compute)
                compute.push_back(&track);
            else if (track.stream == Stream::Store)
                stores.push_back(&track);
            else if (track.stream == Stream::Load)
                loads.push_back(&track);
        }
        const auto each = [&](const std::vector<const Track *> &tracks, auto visit) {
            for (const Track *track : tracks)
                for (std::uint32_t span = track->first; span < track->last; ++span)
                    visit(span);
        };
        each(loads, [&](std::uint32_t span) { ++m_loadCount[cell(span)]; });
        each(loads, [&](std::uint32_t span) { addLoad(span); });
        each(stores, [&](std::uint32_t span) { addStore(span); });
        each(compute, [&](std::uint32_t span) { addWork(span); });
        addUp(m_changes, m_result);
        return std::move(m_result);
    }

private:
    [[nodiscard]] std::size_t cell(std::uint32_t span) const
    {
        return std::size_t(m_timeline.chunk[span]) * m_microBatches + std::size_t(m_timeline.microBatch[span]);
    }
    [[nodiscard]] const std::vector<SegmentBytes> &segmentsOf(std::uint32_t span) const { return m_segments[m_timeline.chunk[span]]; }
    [[nodiscard]] bool isMoot(std::uint32_t span) const { return m_timeline.start[span] == m_timeline.end[span]; }

    /// The n-th segment of a chunk that leaves.
    [[nodiscard]] std::size_t leaving(std::uint32_t span, std::size_t n) const
    {
        const auto &segments = segmentsOf(span);
        std::size_t k = 0;
        for (;; ++k)
            if (segments[k].offloaded > 0 && n-- == 0)
                return k;
    }

    /// Loads of a micro-batch come last segment first, the last one being the last that was stored.
    void addLoad(std::uint32_t span)
    {
        const std::size_t at = cell(span);
        const std::size_t n = m_loadCount[at] - 1 - m_loads[at]++;
        const double bytes = segmentsOf(span)[leaving(span, n)].offloaded;
        auto &forwarded = m_forwarded[at];
        forwarded.resize(m_loadCount[at]);
        forwarded[n] = isMoot(span);
        if (isMoot(span))
            return;
        m_result.use.read += bytes;
        m_changes.push_back({.time = m_timeline.start[span], .order = ChangeOrder::Begins, .offloaded = -bytes});
    }

    void addStore(std::uint32_t span)
    {
        const std::size_t at = cell(span), n = m_stores[at]++;
        const double bytes = segmentsOf(span)[leaving(span, n)].offloaded;
        if (isMoot(span)) {
            m_result.use.dropped += bytes;
            return;
        }
        const double moved = m_timeline.moved.empty() ? 1 : m_timeline.moved[span];   // the rest had no time
        m_result.use.written += bytes * moved;
        m_result.use.dropped += bytes * (1 - moved);
        if (n < m_forwarded[at].size() && m_forwarded[at][n]) {
            m_result.use.forwarded += bytes * moved;
            return;
        }
        m_changes.push_back({.time = m_timeline.end[span], .order = ChangeOrder::Ends, .offloaded = bytes});
    }

    /// A chunk and a micro-batch: of the span, or of the backward of a pair.
    struct Cell { std::size_t chunk, microBatch; };
    [[nodiscard]] std::size_t cell(Cell of) const { return of.chunk * m_microBatches + of.microBatch; }

    void addWork(std::uint32_t span)
    {
        const Cell of{m_timeline.chunk[span], std::size_t(std::max(0, m_timeline.microBatch[span]))};
        switch (m_timeline.kind[span]) {
        case WorkKind::Forward: return addForward(span, of);
        case WorkKind::Recompute: return addRecomputation(span, of);
        case WorkKind::Backward:
        case WorkKind::InputGrad: return isCut(m_timeline.kind[span]) ? addBackward(span, of) : addWholeBackward(span, of);
        case WorkKind::ForwardBackward: return addPair(span, of);
        case WorkKind::WeightGrad:
            m_changes.push_back({.time = m_timeline.end[span], .order = ChangeOrder::Ends, .forWeightGrads = -m_chunks[of.chunk].forWeightGrads});
            return;
        default: return;
        }
    }

    [[nodiscard]] bool isCut(WorkKind backward) const
    {
        return backward == WorkKind::InputGrad || (backward == WorkKind::Backward && !m_splitsBackward);
    }

    /// Nothing is computed again, or all of it has been.
    [[nodiscard]] bool isSpared(Cell of) const { return m_spared.isWhole(int(of.chunk), int(of.microBatch)) || m_isMadeAnew[cell(of)]; }

    /// What the segment threw away is there again from the start of the span on.
    void makeAnew(std::uint32_t span, Cell of, std::size_t segment)
    {
        const double bytes = m_segments[of.chunk][segment].discarded;
        if (bytes > 0 && !m_segmentIsAnew[cell(of)])
            m_changes.push_back({.time = m_timeline.start[span], .order = ChangeOrder::Begins, .discarded = -bytes});
        m_segmentIsAnew[cell(of)] = true;
    }

    /// What the whole operation holds beside its segments, counted with the first.
    [[nodiscard]] LiveChange firstOf(Cell of, double sign) const
    {
        const ChunkMemory &c = m_chunks[of.chunk];
        return {.activations = sign * (isSpared(of) ? c.whole - c.kept : 0), .ends = sign * c.ends, .inFlight = sign / double(m_chunks.size())};
    }

    void addForward(std::uint32_t span, Cell of)
    {
        const std::size_t k = m_forwards[cell(of)]++;
        const SegmentBytes &segment = m_segments[of.chunk][k];
        const ChunkMemory &c = m_chunks[of.chunk];
        LiveChange change = k == 0 ? firstOf(of, 1) : LiveChange{};
        change.time = segment.hasHead ? m_timeline.start[span] : m_timeline.end[span];
        change.activations += segment.whole();
        change.discarded = segment.discarded;
        change.loss = segment.hasHead ? c.loss : 0;
        m_changes.push_back(change);
        if (segment.hasHead)
            addWorkspace(span, c.forward);
    }

    void addBackward(std::uint32_t span, Cell of)
    {
        const auto &segments = m_segments[of.chunk];
        const std::size_t k = segments.size() - 1 - m_backwards[cell(of)]++;
        const SegmentBytes &segment = segments[k];
        const ChunkMemory &c = m_chunks[of.chunk];
        makeAnew(span, of, k);
        m_segmentIsAnew[cell(of)] = false;
        addWorkspace(span, of, k);
        const double share = c.kept > 0 ? segment.whole() / c.kept : k == 0 ? 1 : 0;   // of what a micro-batch keeps
        LiveChange change = k == 0 ? firstOf(of, -1) : LiveChange{};
        change.time = m_timeline.end[span];
        change.order = ChangeOrder::Ends;
        change.activations = -segment.whole() - (isSpared(of) ? (c.whole - c.kept) * share : 0);
        change.loss = segment.hasHead ? -c.loss : 0;
        if (m_timeline.kind[span] == WorkKind::InputGrad)
            change.forWeightGrads = c.forWeightGrads * share;
        m_changes.push_back(change);
    }

    /// By an operation of its own: from its start on the micro-batch is whole. Else part of the backward that follows.
    void addRecomputation(std::uint32_t span, Cell of)
    {
        if (!m_spared.hasRecomputeOps()) {
            if (!isCut(m_timeline.kind[span + 1]))
                return addWorkspace(span, m_chunks[of.chunk].backward);
            const std::size_t k = m_segments[of.chunk].size() - 1 - m_backwards[cell(of)];
            makeAnew(span, of, k);
            return addWorkspace(span, of, k);
        }
        if (isSpared(of))
            return;
        m_isMadeAnew[cell(of)] = true;
        m_changes.push_back({.time = m_timeline.start[span], .order = ChangeOrder::Begins, .activations = m_chunks[of.chunk].whole - m_chunks[of.chunk].kept});
    }

    // An operation that is not cut holds all of its micro-batch while it runs.
    void addWholeBackward(std::uint32_t span, Cell of)
    {
        const ChunkMemory &c = m_chunks[of.chunk];
        addWorkspace(span, isSpared(of) ? c.sparedBackward : c.backward);
        addEndOfBackward(span, of);
    }
    void addEndOfBackward(std::uint32_t span, Cell of)
    {
        LiveChange change = firstOf(of, -1);
        change.time = m_timeline.end[span];
        change.order = ChangeOrder::Ends;
        change.activations -= bytesOf(of.chunk);
        change.loss = -m_chunks[of.chunk].loss;
        m_changes.push_back(change);
    }
    void addPair(std::uint32_t span, Cell forward)
    {
        const Cell backward{m_timeline.pairedChunk[span], std::size_t(m_timeline.pairedMicroBatch[span])};
        const ChunkMemory &from = m_chunks[forward.chunk], &back = m_chunks[backward.chunk];
        LiveChange change = firstOf(forward, 1);
        change.time = m_timeline.start[span];
        change.activations += bytesOf(forward.chunk);
        change.loss = from.loss;
        m_changes.push_back(change);
        const Workspace &workspace = isSpared(backward) ? back.sparedBackward : back.backward;
        addWorkspace(span, from.forward.total() > workspace.total() ? from.forward : workspace);
        addEndOfBackward(span, backward);
    }
    [[nodiscard]] double bytesOf(std::size_t chunk) const
    {
        double sum = 0;
        for (const SegmentBytes &segment : m_segments[chunk])
            sum += segment.whole();
        return sum;
    }

    void addWorkspace(std::uint32_t span, Cell of, std::size_t segment)
    {
        addWorkspace(span, m_workspace[2 * of.chunk + (isSpared(of) ? 1 : 0)][segment]);
    }
    void addWorkspace(std::uint32_t span, const Workspace &workspace)
    {
        m_changes.push_back({.time = m_timeline.start[span], .order = ChangeOrder::Runs, .workspace = &workspace});
        m_changes.push_back({.time = m_timeline.end[span], .order = ChangeOrder::Ends, .workspace = &workspace});
    }

    const Timeline &m_timeline;
    const std::vector<ChunkMemory> &m_chunks;
    Replay m_spared;
    std::size_t m_microBatches;
    std::vector<std::vector<SegmentBytes>> m_segments;       // [chunk]
    std::vector<std::vector<Workspace>> m_workspace;            // [2 * chunk + spared][segment]
    // per chunk and micro-batch: spans seen so far
    std::vector<std::size_t> m_forwards, m_backwards, m_stores, m_loads, m_loadCount;
    std::vector<std::vector<bool>> m_forwarded;              // the loads that took no time
    std::vector<bool> m_isMadeAnew;                          // a recomputation of its own has begun
    bool m_splitsBackward = false;                           // input gradients are cut, whole backwards are not
    std::vector<bool> m_segmentIsAnew;                              // per chunk and micro-batch: the segment at work was computed again
    std::vector<LiveChange> m_changes;
    LiveOverTime m_result;
};

} // namespace

LiveOverTime liveOverTime(const Timeline &timeline, int pipelineClass, int stage, const StageOffload &offload,
                          const std::vector<ChunkMemory> &chunks, const Program &program, bool isRecomputing)
{
    return OffloadReplay(timeline, offload, chunks, program, stage, isRecomputing).run(pipelineClass, stage);
}

} // namespace trainyard
