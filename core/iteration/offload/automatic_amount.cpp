// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/automatic_amount.h"

#include "core/engine/timeline/graph_cache.h"
#include "core/engine/timeline/simulator.h"
#include "core/iteration/memory/live_memory.h"
#include "core/iteration/offload/segments.h"
#include "core/iteration/placement/recompute.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

/// Of one stage.
class AutomaticAmount::Search {
public:
    Search(AutomaticAmount &owner, const AmountStage &stage)
        : m_owner(owner)
        , m_stage(stage)
        , m_pipeline(owner.m_costs.iteration.classes[std::size_t(stage.pipelineClass)])
        , m_whole(owner.m_scripts[std::size_t(stage.pipelineClass)][std::size_t(stage.stage)])
        , m_chunks(chunkMemory(*stage.view, stage.stage))
    {
        for (const auto &chunk : *stage.modules)
            for (const OffloadModule &module : chunk) {
                ++m_modules;
                if (module.offloadable > 0)
                    m_amounts.push_back(m_modules);
            }
        // What a stage does repeats: the warm-up and a few rounds tell its peak, and nearly always whether it is late.
        const int chunks = int(stage.modules->size()), few = chunks * (int(std::ceil(stage.inFlight)) + 3);
        if (few < chunks * m_whole.microBatches)
            m_beginning = beginningOf(m_whole, few);
        m_rule.ahead = owner.m_ahead;
    }

    std::optional<AmountChosen> run()
    {
        std::optional<AmountChosen> best;
        double lowest = 0;
        std::size_t last = 0; // index into m_amounts, past what a shorter look-ahead brings back in time
        for (int ahead = m_owner.m_ahead; last < m_amounts.size(); ahead *= 2) {
            m_rule.ahead = ahead;
            const std::size_t found = mostInTime(last);
            if (isSpent())
                return {};
            if (found > last) {
                last = found;
                const auto [amount, peak] = leanest(found);
                if (!best || peak < lowest * (1 - 1e-6)) {
                    best = AmountChosen { amount, ahead };
                    lowest = peak;
                }
            }
            if (2 * ahead > kFurthest)
                break;
        }
        if (isSpent())
            return {};
        const bool isWorthIt = best && lowest < m_kept * (1 - 1e-6); // else drives would be written in vain
        const AmountChosen chosen = isWorthIt ? whole(*best) : AmountChosen { 0, m_owner.m_ahead };
        return isSpent() ? std::nullopt : std::optional(chosen);
    }

private:
    static constexpr std::size_t kLook = 4; // smaller amounts whose peaks are looked at

    [[nodiscard]] bool isSpent() const { return m_owner.m_tasks > kMostTasks || m_owner.m_stop.stop_requested(); }
    [[nodiscard]] const StageScript &beginning() const { return m_beginning.ops.empty() ? m_whole : m_beginning; }
    bool isInTime(std::size_t index) { return isInTime(beginning(), m_amounts[index - 1]); }

    /// Also where stores find the drives free of others: what they then finish has to be loaded, which is else
    /// forwarded.
    bool isInTime(const StageScript &script, std::size_t leaving)
    {
        return rehearsed(script, cutFor(leaving, m_stage.store))
            && (m_stage.storeAlone.value <= m_stage.store.value
                || rehearsed(script, cutFor(leaving, m_stage.storeAlone)));
    }

    /// The largest amount in time, as an index past it; `from` where none above it is. More that leaves takes longer to
    /// bring back, but for what has no time to leave: all are tried first.
    std::size_t mostInTime(std::size_t from)
    {
        std::size_t late = m_amounts.size() + 1;
        if (isInTime(late - 1))
            return late - 1;
        for (--late; late - from > 1 && !isSpent();) {
            const std::size_t middle = (from + late) / 2;
            (isInTime(middle) ? from : late) = middle;
        }
        return from;
    }

    /// Of the amounts up to the one found, the smallest with the lowest peak: more may leave in vain where drives are
    /// slow.
    std::pair<std::size_t, double> leanest(std::size_t found)
    {
        std::pair<std::size_t, double> best { m_amounts[found - 1], peakOf(m_amounts[found - 1]) };
        const std::size_t step = std::max<std::size_t>(1, found / kLook);
        for (std::size_t i = found; i > step && !isSpent();) {
            i -= step;
            const double peak = peakOf(m_amounts[i - 1]); // 0: late
            if (peak > 0 && peak <= best.second * (1 + 1e-9))
                best = { m_amounts[i - 1], std::min(peak, best.second) };
            else if (peak > best.second * 1.1)
                break;
        }
        return best;
    }

    /// In time over all micro-batches, where need be with less that leaves.
    AmountChosen whole(AmountChosen chosen)
    {
        if (m_beginning.ops.empty())
            return chosen;
        m_rule.ahead = chosen.ahead;
        while (chosen.leaving > 0 && !isSpent() && !isInTime(m_whole, chosen.leaving))
            chosen.leaving -= std::max<std::size_t>(1, chosen.leaving / 8);
        return chosen;
    }

    struct Cut {
        std::vector<std::vector<OffloadSegment>> segments;
        StageOffload bytes;
    };

    Cut cutFor(std::size_t leaving, BytesPerSecond store) const
    {
        const bool isSplit = m_whole.splitsBackward;
        const OffloadPath path { store.value, m_stage.load.value, 1, {}, {} };
        Cut cut;
        for (std::size_t c = 0; c < m_stage.modules->size(); ++c) {
            std::vector<OffloadModule> modules = (*m_stage.modules)[c];
            for (OffloadModule &module : modules)
                module.leaves = leaving > 0 && leaving-- > 0 && module.offloadable > 0;
            const std::vector<OffloadPiece> pieces = piecesOf(modules, isSplit, m_owner.m_group);
            auto &bytes = cut.bytes.chunks.emplace_back();
            for (const OffloadPiece &piece : pieces)
                bytes.push_back(piece.bytes);
            cut.segments.push_back(segmentsOf(pieces, m_whole.times[c], path, { isSplit, false }));
        }
        return cut;
    }

    bool rehearsed(const StageScript &script, const Cut &cut)
    {
        const Rehearsal rehearsal = rehearse(script, cut.segments, m_rule);
        m_owner.m_tasks += rehearsal.tasks;
        return !rehearsal.isLate;
    }

    double peakOf(std::size_t leaving)
    {
        const Cut cut = cutFor(leaving, m_stage.store);
        const OpMemory memory(m_chunks, &cut.bytes, { m_whole.splitsBackward, !m_pipeline.pairs.empty() });
        RehearsalRule rule = m_rule;
        rule.memory = &memory;
        rule.kept = RecomputeState(m_pipeline.program, m_stage.stage, recomputesAnything(*m_stage.view->plan));
        const Rehearsal rehearsal = rehearse(beginning(), cut.segments, rule);
        m_owner.m_tasks += rehearsal.tasks;
        if (rehearsal.isLate)
            return 0;
        m_owner.m_tasks += 2 * rehearsal.timeline.spanCount(); // the walk
        const LiveOverTime live = liveOverTime(rehearsal.timeline, 0, 0, true, false);
        m_kept = std::max(m_kept, live.peakWhole);
        return live.peak;
    }

    AutomaticAmount &m_owner;
    const AmountStage &m_stage;
    const PipelineCosts &m_pipeline;
    const StageScript &m_whole;
    StageScript m_beginning; // empty where the whole is short
    std::vector<ChunkMemory> m_chunks;
    std::size_t m_modules = 0;
    std::vector<std::size_t> m_amounts; // in modules, those that differ in what leaves
    RehearsalRule m_rule;
    double m_kept = 0; // peak with everything on the GPU
};

AutomaticAmount::AutomaticAmount(const Costs &costs, int group, int ahead, std::stop_token stop, GraphCache *graphs)
    : m_costs(costs)
    , m_group(group)
    , m_ahead(ahead)
    , m_stop(std::move(stop))
{
    GraphCache none;
    auto graph = pipelineGraph(costs.iteration, graphs ? *graphs : none);
    if (!graph)
        return;
    SimulationWorkspace workspace;
    if (const auto keeping = simulate(*graph, workspace, m_stop))
        m_scripts = stageScripts(costs.iteration, *keeping);
    if (graphs)
        graphs->giveBack(std::move(*graph));
}

std::optional<AmountChosen> AutomaticAmount::choose(const AmountStage &stage)
{
    if (m_scripts.empty() || m_tasks > kMostTasks)
        return {};
    if (!(stage.store.value > 0) || !(stage.load.value > 0))
        return AmountChosen { 0, m_ahead };
    return Search(*this, stage).run();
}

} // namespace trainyard
